/*
 * hb_load_file.h
 *		Feeding a file on the server into a dataset.
 */
#ifndef HB_LOAD_FILE_H
#define HB_LOAD_FILE_H

#include "chain/hb_chain.h"

/*
 * One transition of all blocks in the file, which may be compressed.  Checks
 * that the user may read server files; the caller has checked the rest.
 */
extern void hb_load_file(HbDataset *ds, const char *path, HbFeedResult *result);

#endif							/* HB_LOAD_FILE_H */
