/*
 * hb_lists.h
 *		For the codes of a dictionary slice, the pages they occur in.
 *
 * A list slice: a presence bitmap of nslots bits (one for each code of the
 * dictionary slice, lowest bit first), then for each present code, in order,
 * its pages.  Pages are numbered 0..195:
 *	 0..195		this one page only
 *	 196..253	b - 194 (2..59) pages follow, a byte each, ascending
 *	 254		a bitmap of npages bits follows
 *	 255		more than half of the pages: take them all
 */
#ifndef HB_LISTS_H
#define HB_LISTS_H

#include "codec/hb_buf.h"

#define HB_LISTS_MAX_PAGES	196
#define HB_LISTS_WORDS		((HB_LISTS_MAX_PAGES + 63) / 64)

/* Appends the list of one present code: n >= 1 ascending pages. */
extern void hb_lists_put(HbBuf *buf, const uint8_t *pages, uint32_t n, uint32_t npages);

/*
 * Sets the bits of the pages of slot's code; none when it is not present.
 * False when the bytes are damaged.
 */
extern bool hb_lists_get(const uint8_t *src, size_t len, uint32_t nslots,
						 uint32_t slot, uint32_t npages, uint64_t *pages);

#endif							/* HB_LISTS_H */
