/*
 * hb_stats.c
 *		Column statistics of tables that nobody has analyzed.
 *
 * Autovacuum never analyzes foreign tables, and with the planner's defaults (a
 * column has 200 distinct values) joins of block data come out wrong by orders
 * of magnitude.  The directory of a chunk knows better: how many values are
 * NULL, how large the dictionary is, which range integers are in, and that a
 * hash-indexed column hardly repeats.  For a column without a row in
 * pg_statistic, the planner gets one made of that: the share of nulls and the
 * number of distinct values, and no values.
 *
 * One chunk is looked at for each relation of a query, the largest (the newest
 * of those); its directory is in the backend's cache if the dataset is in use.  What is made
 * lives as long as the relation's planner state: the planner may be in a
 * short-lived context (GEQO's) when it asks first.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_statistic.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "compat.h"
#include "fdw/hb_fdw.h"

/* Statistics as pg_statistic has them. */
struct HbColumnStats
{
	float4		nullfrac;
	float4		distinct;		/* negative: a share of the rows; 0: unknown */
};

static get_relation_stats_hook_type next_hook = NULL;

/* A number of distinct values of one chunk, for the whole table. */
static float4
extrapolate(double distinct, double chunk_rows, double rows)
{
	/* Between all the same again (1) and all new ones (rows / chunk_rows). */
	distinct *= sqrt(Max(rows / Max(chunk_rows, 1), 1));
	return (float4) Min(distinct, rows);
}

/* By how a column is stored in the chunk. */
static float4
distinct_stored(const HbColumn *column, HbReader *reader,
				const HbColumnInfo *info, double rows)
{
	double		chunk_rows = hb_reader_rows(reader);
	double		range;

	switch (info->stored)
	{
		case HB_STORED_DICT:
			return extrapolate(hb_reader_dict_size(reader, info->dict),
							   chunk_rows, rows);
		case HB_STORED_INT:
			if (!info->has_minmax)
				return 0;
			range = (double) info->int_max - (double) info->int_min + 1;
			/* A wide range says little; most quantities do repeat. */
			return range <= 0.1 * rows ? (float4) range : -0.1;
		case HB_STORED_FIXED:
			return info->has_hash_index ? -1 : -0.8;
		case HB_STORED_VAR:
			return -0.8;
		case HB_STORED_NULL:
		case HB_STORED_DERIVED:
			break;
	}
	return 0;
}

/* By what it is derived from; those computed from the row stay unknown. */
static float4
distinct_derived(const HbColumn *column, int64 blocks)
{
	switch (column->derive)
	{
		case HB_DERIVE_LOOKUP_ITEM:
			return -0.3;		/* items have a few rows of others each */
		case HB_DERIVE_LOOKUP_BLOCK:
		case HB_DERIVE_BLOOM_BLOCK:
			return (float4) blocks;
		default:
			return 0;
	}
}

static void
fill_stats(HbPlanRel *plan_rel, HbColumnStats *stats)
{
	HbTable    *table = plan_rel->foreign->table;
	HbChunkSet *set;
	HbOpenChunk *chunk;
	double		chunk_rows;
	int			largest = 0;

	set = hb_chunk_set(table, hb_planning_snapshot(), PG_INT64_MIN,
					   PG_INT64_MAX);
	if (set->nchunks == 0)
	{
		hb_chunk_set_release(set);
		return;
	}
	for (int i = 1; i < set->nchunks; i++)
	{
		if (set->chunks[i].nrows >= set->chunks[largest].nrows)
			largest = i;
	}
	chunk = hb_chunk_open(set, largest);
	chunk_rows = hb_reader_rows(chunk->reader);
	for (int i = 0; i < table->ncolumns; i++)
	{
		HbColumn   *column = &table->columns[i];
		int			col = hb_reader_column(chunk->reader, column->number);
		const HbColumnInfo *info;

		if (col < 0)
			continue;
		info = hb_reader_info(chunk->reader, col);
		stats[i].nullfrac = chunk_rows > 0 ? info->null_count / chunk_rows : 0;
		if (i == table->block_col)
			stats[i].distinct = (float4) Min(plan_rel->blocks,
											 set->total_rows);
		else if (info->stored == HB_STORED_DERIVED)
			stats[i].distinct = distinct_derived(column, plan_rel->blocks);
		else
			stats[i].distinct = distinct_stored(column, chunk->reader, info,
												set->total_rows);
		if (stats[i].distinct < 0)
			stats[i].distinct *= 1.0 - stats[i].nullfrac;
	}
	hb_chunk_close(chunk);
	hb_chunk_set_release(set);
}

/* A row of pg_statistic without values. */
static HeapTuple
make_tuple(Oid relid, AttrNumber attnum, bool inh, const HbColumnStats *stats)
{
	Relation	rel = table_open(StatisticRelationId, AccessShareLock);
	Datum		values[Natts_pg_statistic] = {0};
	bool		nulls[Natts_pg_statistic] = {false};
	HeapTuple	tuple;

	values[Anum_pg_statistic_starelid - 1] = ObjectIdGetDatum(relid);
	values[Anum_pg_statistic_staattnum - 1] = Int16GetDatum(attnum);
	values[Anum_pg_statistic_stainherit - 1] = BoolGetDatum(inh);
	values[Anum_pg_statistic_stanullfrac - 1] = Float4GetDatum(stats->nullfrac);
	values[Anum_pg_statistic_stadistinct - 1] = Float4GetDatum(stats->distinct);
	for (int i = 0; i < STATISTIC_NUM_SLOTS; i++)
	{
		nulls[Anum_pg_statistic_stanumbers1 - 1 + i] = true;
		nulls[Anum_pg_statistic_stavalues1 - 1 + i] = true;
	}
	tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);
	table_close(rel, AccessShareLock);
	return tuple;
}

static void
free_nothing(HeapTuple tuple)
{
	/* It goes with the planner's memory, and may be asked for again. */
}

static bool
relation_stats(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum,
			   VariableStatData *vardata)
{
	RelOptInfo *rel = vardata->rel;
	HbPlanRel  *plan_rel;
	MemoryContext old;
	int			col;

	if (next_hook != NULL && next_hook(root, rte, attnum, vardata))
		return true;
	if (rel == NULL || rel->fdwroutine == NULL || rel->fdw_private == NULL ||
		rel->fdwroutine->GetForeignRelSize != hotblocksGetForeignRelSize ||
		rte->rtekind != RTE_RELATION || attnum <= 0)
		return false;
	plan_rel = rel->fdw_private;
	if (plan_rel->foreign->relid != rte->relid ||
		plan_rel->foreign->table == NULL ||
		attnum > plan_rel->foreign->natts ||
		plan_rel->foreign->columns[attnum - 1] < 0 ||
		SearchSysCacheExists3(STATRELATTINH, ObjectIdGetDatum(rte->relid),
							  Int16GetDatum(attnum), BoolGetDatum(rte->inh)))
		return false;

	col = plan_rel->foreign->columns[attnum - 1];
	old = MemoryContextSwitchTo(GetMemoryChunkContext(plan_rel));
	if (plan_rel->stats == NULL)
	{
		int			n = plan_rel->foreign->table->ncolumns;

		plan_rel->stats = palloc0(sizeof(HbColumnStats) * n);
		plan_rel->stats_tuples = palloc0(sizeof(HeapTuple) * n);
		fill_stats(plan_rel, plan_rel->stats);
	}
	if (plan_rel->stats_tuples[col] == NULL)
		plan_rel->stats_tuples[col] = make_tuple(rte->relid, attnum, rte->inh,
												 &plan_rel->stats[col]);
	MemoryContextSwitchTo(old);
	vardata->statsTuple = plan_rel->stats_tuples[col];
	vardata->freefunc = free_nothing;
	vardata->acl_ok = true;
	return true;
}

void
hb_fdw_init(void)
{
	next_hook = get_relation_stats_hook;
	get_relation_stats_hook = relation_stats;
}
