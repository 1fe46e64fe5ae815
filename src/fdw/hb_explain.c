/*
 * hb_explain.c
 *		What EXPLAIN says of a scan.
 *
 * Without ANALYZE: what is read, in which order, which conditions the scan
 * evaluates itself, the block range that they imply by constants alone, and
 * how many of the table's chunks that range leaves.  With ANALYZE: what was
 * read, and what was skipped, and why, over all loops.
 *
 * A counter that is zero is left out of the text format, as core does it, and
 * is in all others.  Bytes read depend on what the session has cached, so they
 * are left out where COSTS, BUFFERS and SUMMARY are all off, that is, where
 * somebody wants the same text each time.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "fdw/hb_fdw.h"

static void
explain_counter(const char *label, uint64 value, ExplainState *es)
{
	if (value > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyInteger(label, NULL, (int64) value, es);
}

/*
 * Conditions with the column first, as they are shown for indexes: a join's
 * come in either order, by its direction and by the version.
 */
static List *
column_first(List *exprs)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
	{
		Expr	   *expr = lfirst(lc);

		if (is_opclause(expr))
		{
			OpExpr	   *op = (OpExpr *) expr;

			if (list_length(op->args) == 2 &&
				!contain_var_clause(linitial(op->args)) &&
				contain_var_clause(lsecond(op->args)) &&
				OidIsValid(get_commutator(op->opno)))
			{
				expr = copyObject(expr);
				CommuteOpExpr((OpExpr *) expr);
			}
		}
		result = lappend(result, expr);
	}
	return result;
}

static void
explain_filter(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List	   *context;
	char	   *text;

	if (plan->fdw_exprs == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, NIL);
	text = deparse_expression((Node *) make_ands_explicit(column_first(plan->fdw_exprs)),
							  context, es->verbose, false);
	ExplainPropertyText("Pushed Filter", text, es);
}

/* The block range that constants give, as "from..to". */
static void
explain_range(HbScanState *state, Snapshot snapshot, ExplainState *es)
{
	HbTable    *table = state->foreign->table;
	int64		lo = PG_INT64_MIN;
	int64		hi = PG_INT64_MAX;
	bool		any = true;
	HbScanEstimate estimate;

	if (state->filter != NULL)
		any = hb_pred_block_range(table,
								  hb_filter_constant_pred(state->filter),
								  &lo, &hi);
	if (!any)
	{
		lo = 1;
		hi = 0;
		ExplainPropertyText("Block Range", "none", es);
	}
	else if (lo != PG_INT64_MIN || hi != PG_INT64_MAX)
	{
		StringInfoData range;

		initStringInfo(&range);
		if (lo != PG_INT64_MIN)
			appendStringInfo(&range, INT64_FORMAT, lo);
		appendStringInfoString(&range, "..");
		if (hi != PG_INT64_MAX)
			appendStringInfo(&range, INT64_FORMAT, hi);
		ExplainPropertyText("Block Range", range.data, es);
	}

	hb_scan_estimate(table, snapshot, lo, hi, &estimate);
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Chunks",
							psprintf(INT64_FORMAT " of " INT64_FORMAT,
									 estimate.chunks, estimate.chunks_total),
							es);
	else
	{
		ExplainPropertyInteger("Chunks", NULL, estimate.chunks, es);
		ExplainPropertyInteger("Chunks Total", NULL, estimate.chunks_total, es);
	}
}

static void
explain_bytes(const HbScanStats *stats, ExplainState *es)
{
	static const char *const parts[HB_NPARTS] = {
		[HB_PART_PAGE_TABLE] = "Page Tables",
		[HB_PART_PAGE] = "Pages",
		[HB_PART_NULLS] = "Nulls",
		[HB_PART_DICT] = "Dictionaries",
		[HB_PART_FILTER] = "Filters",
		[HB_PART_LISTS] = "Page Lists",
		[HB_PART_HASH] = "Hash Indexes",
		[HB_PART_VALUES] = "Values",
		[HB_PART_BLOCKS] = "Block Offsets"
	};
	uint64		read = 0;

	for (int i = 0; i < HB_NPARTS; i++)
		read += stats->read.bytes[i];

	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		StringInfoData text;
		const char *separator = " (";

		initStringInfo(&text);
		appendStringInfo(&text, UINT64_FORMAT, read);
		for (int i = 0; i < HB_NPARTS; i++)
		{
			if (stats->read.bytes[i] == 0)
				continue;
			appendStringInfo(&text, "%s%s: " UINT64_FORMAT, separator,
							 parts[i], stats->read.bytes[i]);
			separator = ", ";
		}
		if (read > 0)
			appendStringInfoChar(&text, ')');
		ExplainPropertyText("Bytes Read", text.data, es);
	}
	else
	{
		ExplainPropertyInteger("Bytes Read", NULL, (int64) read, es);
		ExplainOpenGroup("Bytes Read by Part", "Bytes Read by Part", true, es);
		for (int i = 0; i < HB_NPARTS; i++)
			ExplainPropertyInteger(parts[i], NULL,
								   (int64) stats->read.bytes[i], es);
		ExplainCloseGroup("Bytes Read by Part", "Bytes Read by Part", true, es);
	}
	ExplainPropertyInteger("Bytes Skipped", NULL,
						   stats->bytes_total > read ?
						   (int64) (stats->bytes_total - read) : 0, es);
}

static void
explain_stats(const HbScanStats *stats, ExplainState *es)
{
	ExplainPropertyInteger("Chunks Read", NULL,
						   (int64) stats->chunks_read, es);
	explain_counter("Chunks Skipped by Block Range",
					stats->chunks_skipped_range, es);
	explain_counter("Chunks Skipped by Min/Max",
					stats->chunks_skipped_minmax, es);
	explain_counter("Chunks Skipped by Dictionary",
					stats->chunks_skipped_dictionary, es);
	explain_counter("Chunks Skipped by Hash Index",
					stats->chunks_skipped_hash, es);
	ExplainPropertyInteger("Pages Read", NULL,
						   (int64) stats->pages_read, es);
	explain_counter("Pages Skipped by Block Range",
					stats->pages_skipped_range, es);
	explain_counter("Pages Skipped by Min/Max",
					stats->pages_skipped_minmax, es);
	explain_counter("Pages Skipped by Page List",
					stats->pages_skipped_list, es);
	explain_counter("Pages Skipped by Filter",
					stats->pages_skipped_filter, es);
	ExplainPropertyInteger("Rows Tested", NULL,
						   (int64) stats->rows_tested, es);
	ExplainPropertyInteger("Rows Returned", NULL,
						   (int64) stats->rows_returned, es);
	ExplainPropertyInteger("Values Decoded", NULL,
						   (int64) stats->values_decoded, es);
	if (es->costs || es->buffers || es->summary)
		explain_bytes(stats, es);
}

void
hotblocksExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	HbScanState *state = node->fdw_state;
	HbScanStats stats;

	ExplainPropertyText("Dataset", NameStr(state->foreign->dataset->name), es);
	ExplainPropertyText("Table", state->foreign->table_name, es);
	if (state->order != HB_ORDER_NONE)
		ExplainPropertyText("Order", state->order == HB_ORDER_ASC ?
							"ascending" : "descending", es);
	explain_filter(node, es);
	if (state->foreign->table != NULL)
		explain_range(state, node->ss.ps.state->es_snapshot, es);
	if (!es->analyze)
		return;
	memset(&stats, 0, sizeof(stats));
	if (state->scan != NULL)
		hb_scan_stats(state->scan, &stats);
	hb_scan_stats_add(&stats, &state->worker_stats);
	explain_stats(&stats, es);
}
