/*
 * hotblocks.c
 *		Entry of the library: the settings.
 *
 * That the extension's SQL objects are of the library's own version is checked
 * when a dataset is opened (store/hb_dataset.c), not here: a library that is
 * preloaded starts before there is a database to look into.
 */
#include "postgres.h"

#include <limits.h>

#include "fmgr.h"
#include "utils/guc.h"
#include "utils/plancache.h"

#include "chain/hb_chain.h"
#include "fdw/hb_fdw.h"
#include "scan/hb_scan.h"
#include "store/hb_store.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

int			hb_chunk_rows = HB_CHUNK_MAX_ROWS;
int			hb_build_memory = 40960;
int			hb_directory_cache_size = 32768;
int			hb_compression = 2;
int			hb_compression_level = 3;

static const struct config_enum_entry hb_compression_options[] = {
	{"none", 0, false},
	{"lz4", 1, false},
	{"zstd", 2, false},
	{NULL, 0, false}
};

static const struct config_enum_entry hb_executor_modes[] = {
	{"inline", HB_EXECUTOR_INLINE, false},
	{NULL, 0, false}
};

/* Plans are made for a mode, so those of another one do not stay. */
static void
hb_assign_executor_mode(int value, void *extra)
{
	if (value != hb_executor_mode)
		ResetPlanCache();
}

static void
hb_define_switch(const char *name, const char *description, bool *variable)
{
	DefineCustomBoolVariable(name, description,
							 "Results are the same either way; it is there to see what it saves.",
							 variable, true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
}

void
_PG_init(void)
{
	DefineCustomIntVariable("hotblocks.chunk_rows",
							"Rows at which a chunk that is being written is complete.",
							NULL, &hb_chunk_rows, HB_CHUNK_MAX_ROWS, 1, HB_CHUNK_MAX_ROWS,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("hotblocks.build_memory",
							"Memory for rows at which chunks that are being written are complete.",
							"All tables that are being written share it; the largest is stored first.",
							&hb_build_memory, 40960, 64, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("hotblocks.directory_cache_size",
							"Memory that a backend keeps of chunks it has read.",
							NULL, &hb_directory_cache_size, 32768, 0, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomEnumVariable("hotblocks.compression",
							 "Strongest codec that chunks are written with.",
							 NULL, &hb_compression, 2, hb_compression_options,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("hotblocks.compression_level",
							"Level of zstd that chunks are written with.",
							NULL, &hb_compression_level, 3, 1, 19,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("hotblocks.executor_mode",
							 "Who does the work of a query.",
							 NULL, &hb_executor_mode, HB_EXECUTOR_INLINE,
							 hb_executor_modes, PGC_USERSET, GUC_EXPLAIN, NULL,
							 hb_assign_executor_mode, NULL);
	hb_define_switch("hotblocks.enable_page_skipping",
					 "Skips pages by the bounds of their values.",
					 &hb_enable_page_skipping);
	hb_define_switch("hotblocks.enable_dictionary_filter",
					 "Skips chunks whose dictionaries lack the values asked for.",
					 &hb_enable_dictionary_filter);
	hb_define_switch("hotblocks.enable_page_lists",
					 "Reads only the pages in which a dictionary entry occurs.",
					 &hb_enable_page_lists);
	hb_define_switch("hotblocks.enable_hash_index",
					 "Finds unique values through the chunks' hash indexes.",
					 &hb_enable_hash_index);
	hb_define_switch("hotblocks.enable_filter_pushdown",
					 "Plans scans that evaluate conditions themselves.",
					 &hb_enable_filter_pushdown);
	hb_define_switch("hotblocks.enable_ordered_scan",
					 "Plans scans in the order of the sort key.",
					 &hb_enable_ordered_scan);
	hb_define_switch("hotblocks.enable_parameterized_scan",
					 "Plans scans that take values from the outer side of a join.",
					 &hb_enable_parameterized_scan);
	hb_define_switch("hotblocks.enable_parallel_scan",
					 "Plans scans in parallel workers.",
					 &hb_enable_parallel_scan);
	hb_chain_init();
	hb_fdw_init();
	hb_modify_init();
	MarkGUCPrefixReserved("hotblocks");
}
