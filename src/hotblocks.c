/*
 * hotblocks.c
 *		Entry of the library: GUCs, hooks, and the check that the SQL objects
 *		of the extension are of the library's own version.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "fdw/hb_fdw.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

void
_PG_init(void)
{
	hb_fdw_init();
	MarkGUCPrefixReserved("hotblocks");
}
