/*
 * hb_account.h
 *		An allocator that counts what is held through it.
 */
#ifndef HB_ACCOUNT_H
#define HB_ACCOUNT_H

#include "codec/hb_mem.h"

typedef struct HbAccount
{
	HbMem		mem;			/* allocate from here */
	HbMem		parent;
	size_t		used;			/* bytes held now, heads included */
} HbAccount;

/* The account must not move afterwards. */
extern void hb_account_init(HbAccount *account, const HbMem *parent);

#endif							/* HB_ACCOUNT_H */
