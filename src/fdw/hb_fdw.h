/*
 * hb_fdw.h
 *		The foreign data wrapper: what its files share.
 *
 * hb_options.c	options and their validator
 * hb_relation.c	a foreign table and the dataset's table behind it
 * hb_import.c	IMPORT FOREIGN SCHEMA
 * hb_spell.c		stored values under other types
 * hb_operand.c	expressions of a column, and comparisons with them
 * hb_clause.c	SQL conditions as predicates of the scan
 * hb_cost.c		row counts and costs
 * hb_stats.c		column statistics before ANALYZE
 * hb_path.c		paths: orders, parameters
 * hb_plan.c		from a path to a plan
 * hb_exec.c		scanning
 * hb_parallel.c	scanning in core's parallel workers
 * hb_explain.c	EXPLAIN
 * hb_modify.c	INSERT, COPY, TRUNCATE
 * hb_analyze.c	ANALYZE
 */
#ifndef HB_FDW_H
#define HB_FDW_H

#include "postgres.h"

#include "access/parallel.h"
#include "compat.h"
#include "foreign/fdwapi.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "utils/numeric.h"
#include "utils/rel.h"

#include "chain/hb_chain.h"
#include "scan/hb_scan.h"
#include "store/hb_store.h"

#define HB_KIND_FREE	"free"
#define HB_FEED_TABLE	"block_feed"

/*
 * Options, as strings of the catalogs' entries; NULL or NIL where not given.
 */
typedef struct HbTableOptions
{
	const char *dataset;		/* of the server */
	const char *table;			/* default: the foreign table's name */
	const char *block_column;	/* kind free: stored names */
	const char *sort_key_text;
	List	   *sort_key;		/* String nodes */
} HbTableOptions;

extern void hb_options_get(Oid relid, HbTableOptions *options);
extern const char *hb_options_dataset(Oid serverid);
extern const char *hb_options_column(Oid relid, AttrNumber attnum);	/* NULL */

/* How an attribute shows the stored column behind it (hb_spell.c). */
typedef enum HbSpelling
{
	HB_SPELL_STORED,			/* under its own type */
	HB_SPELL_CAST,				/* under another one of the same physical form:
								 * for the scan, the column has that type */
	HB_SPELL_HEX,				/* bytea as hexadecimal text */
	HB_SPELL_QUANTITY,			/* a number as hexadecimal text */
	HB_SPELL_NUMERIC,			/* an integer as numeric */
	HB_SPELL_BIGINT				/* a smaller integer as bigint */
} HbSpelling;

/*
 * A foreign table resolved: which table of which dataset it shows, and which
 * stored column each of its attributes is.
 *
 * table is a private copy of the dataset's descriptor where a spelling gives a
 * column another type for the scan.  It is NULL for the feed and for a table
 * of kind free that nothing has written yet.
 */
typedef struct HbForeign
{
	Oid			relid;
	Oid			owner;			/* whose rights on the dataset count */
	HbDataset  *dataset;
	const char *table_name;		/* in the dataset */
	HbTable    *table;
	bool		feed;
	int			natts;
	int		   *columns;		/* by attnum - 1: index into table->columns, or
								 * -1: dropped, or not stored (NULL) */
	HbSpelling *spellings;		/* by attnum - 1 */
	bool		spelled;		/* some values are to be converted */
	int		   *attnums;		/* by index into table->columns: the attribute
								 * that shows it, 0 none */
	Bitmapset  *check_not_null; /* attnums declared NOT NULL that may be stored
								 * as NULL: to be checked as they are read */
} HbForeign;

/*
 * Resolves in the current memory context; ERROR unless the table's owner may
 * do mode (ACL_SELECT, ...) to the dataset, before anything of the dataset
 * could be told; then ERROR with a hint if the foreign table does not fit.
 * The result is valid as long as the dataset's descriptor, to the end of the
 * transaction.
 */
extern HbForeign *hb_foreign_open(Relation rel, uint64 mode);

/* Kind free: make sure that the dataset stores all columns of the table. */
extern void hb_foreign_register(HbForeign *foreign, Relation rel);

/* Do foreign tables give the dataset its columns? */
extern bool hb_foreign_is_free(const HbDataset *ds);

/* Does the dataset take whole block documents, through HB_FEED_TABLE? */
extern bool hb_foreign_has_feed(HbDataset *ds);

/*
 * Spellings (hb_spell.c).  Values are converted by hb_spell_batch after the
 * scan has read them, and by hb_spell_in before they are written.
 */
extern bool hb_spell_find(const HbColumn *column, Oid type, int32 typmod,
						  HbSpelling *spelling);
extern const char *hb_spell_types(const HbColumn *column);
extern void hb_spell_adapt(HbForeign *foreign);
extern bool hb_spell_keeps_order(HbSpelling spelling, Oid collation);
extern void hb_spell_batch(const HbForeign *foreign, int ncolumns,
						   const int *attnums, HbBatch *batch,
						   MemoryContext cxt);
extern Datum hb_spell_in(const HbForeign *foreign, AttrNumber attnum,
						 Datum value);
extern bool hb_spell_slot(const HbForeign *foreign, TupleTableSlot *slot);

/* For conditions on such columns: values in terms of what is stored. */
extern int	hb_spell_floor(Numeric number, int64 *value, bool *exact);
extern Numeric hb_spell_quantity(text *value);
extern bool hb_spell_hex_bound(const char *s, int len, bytea **bytes,
							   bool *exact);

/*
 * Operands (hb_operand.c): what of a column a condition is about, and a
 * comparison with it as a predicate of the stored column.
 */
typedef enum HbShape
{
	HB_SHAPE_COLUMN,			/* the column, or lower() of hexadecimal text */
	HB_SHAPE_UPPER,				/* upper() of hexadecimal text */
	HB_SHAPE_LENGTH,			/* octet_length(), length(bytea) */
	HB_SHAPE_PREFIX,			/* the first bytes or characters */
	HB_SHAPE_STARTS,			/* whether it starts with the value: only = */
	HB_SHAPE_ADDRESS,			/* hotblocks.topic_to_address() */
	HB_SHAPE_FIRST_ADDRESS,		/* hotblocks.address(, 0) */
	HB_SHAPE_FIRST_WORD			/* hotblocks.uint256(, 0) */
} HbShape;

typedef struct HbOperand
{
	int			column;			/* index into foreign->table->columns */
	HbSpelling	spelling;
	HbShape		shape;
	int			length;			/* PREFIX */
	Oid			type;			/* as operators see it */
	Oid			stored_type;	/* of the column, for the scan */
} HbOperand;

extern bool hb_operand_find(const HbForeign *foreign, Index relid, Node *node,
							HbOperand *operand);

/* Is it NULL exactly where the column is? */
extern bool hb_operand_is_strict(const HbOperand *operand);

/* Can `operand op value` be a predicate? */
extern bool hb_operand_supported(const HbForeign *foreign,
								 const HbOperand *operand, HbCmpOp op,
								 Oid value_type, Oid collation);

/*
 * The predicates `operand op value` and `operand = any of values` (negated:
 * not null and none of them), of values that are not null, in the current
 * memory context.
 */
extern HbPred *hb_operand_compare(const HbOperand *operand, HbCmpOp op,
								  Oid value_type, Datum value);
extern HbPred *hb_operand_in(const HbOperand *operand, Oid value_type,
							 int nvalues, Datum *values, bool negated);

/*
 * A warning if the operand can never be equal to this value; true if so.  Only
 * where may_warn says that it can be told.
 */
extern bool hb_operand_may_warn(const HbTable *table, const HbOperand *operand);
extern bool hb_operand_warn(const HbTable *table, const HbOperand *operand,
							Datum value);

/*
 * Conditions (hb_clause.c).
 *
 * One walk over an expression decides at planning whether the scan can
 * evaluate it exactly, and prepares the predicate when the scan begins.
 * relid is the range table index that Vars of the foreign table have.
 */
typedef struct HbClause HbClause;

/* NULL if the scan cannot evaluate the expression. */
extern HbClause *hb_clause_parse(const HbForeign *foreign, Index relid,
								 Expr *expr);

/*
 * The predicate, with the constants that are there already; a condition on
 * anything else counts as true.  With root, also what the planner can
 * estimate counts as constant.
 */
extern HbPred *hb_clause_constant_pred(PlannerInfo *root,
									   const HbClause *clause);

/* `column = value` or `column = ANY (array)`: the condition's parts. */
extern bool hb_clause_is_equality(const HbClause *clause, int *column,
								  Expr **value, bool *is_array);

/* A conjunction of clauses, to be built for each (re)scan. */
typedef struct HbFilter HbFilter;

extern HbFilter *hb_filter_init(const HbForeign *foreign, Index relid,
								List *exprs, PlanState *parent);
extern HbPred *hb_filter_build(HbFilter *filter, ExprContext *econtext);
extern HbPred *hb_filter_constant_pred(const HbFilter *filter);

/*
 * Planner state of a base relation, in RelOptInfo.fdw_private; filled by
 * GetForeignRelSize.
 */
typedef struct HbColumnStats HbColumnStats;

typedef struct HbPlanRel
{
	HbForeign  *foreign;
	List	   *pushed;			/* RestrictInfos that the scan evaluates */
	List	   *local;			/* those it does not */
	Bitmapset  *attrs_used;		/* offset by FirstLowInvalidHeapAttributeNumber */
	bool		never;			/* constants say that no row passes */
	int64		blocks;			/* distinct blocks of the table, about */
	HbScanEstimate estimate;	/* of the range that constants give */
	HbColumnStats *stats;		/* hb_stats.c: by column, once asked for */
	HeapTuple  *stats_tuples;
} HbPlanRel;

/* May the scan evaluate this condition, also as seen from security? */
extern HbClause *hb_plan_push(RelOptInfo *baserel, RestrictInfo *rinfo);

/* The query's snapshot, as near as planning comes to it. */
extern Snapshot hb_planning_snapshot(void);

/* hb_cost.c */
typedef struct HbCost
{
	double		rows;			/* after all conditions */
	Cost		startup;
	Cost		total;
} HbCost;

extern void hb_cost_rel_size(PlannerInfo *root, RelOptInfo *baserel);
extern void hb_cost_scan(PlannerInfo *root, RelOptInfo *baserel,
						 ParamPathInfo *param_info, bool ordered,
						 HbCost *cost);

/* hb_path.c: what ForeignPath.fdw_private holds */
enum HbPathPrivateIndex
{
	HbPathPrivateOrder,			/* Integer: HbScanOrder */
	HbPathPrivateLength
};

/* hb_plan.c: what ForeignScan.fdw_private holds; fdw_exprs: pushed clauses */
enum HbScanPrivateIndex
{
	HbScanPrivateOrder,			/* Integer: HbScanOrder */
	HbScanPrivateAttrs,			/* IntList: attributes to read */
	HbScanPrivateLength
};

/*
 * Executor state of a scan, in ForeignScanState.fdw_state (hb_exec.c); also
 * read by hb_explain.c.
 */
typedef struct HbScanState
{
	HbForeign  *foreign;
	HbScanOrder order;
	HbFilter   *filter;			/* NULL: no pushed condition */
	int			nattrs;			/* attributes read, and their columns */
	int		   *attnums;
	int		   *columns;
	HbScan	   *scan;			/* NULL until the first row is asked for */
	HbCoverageCheck coverage;
	HbBatch		batch;
	int			row;			/* next of the batch */
	bool		started;		/* since the last rescan */
	bool		done;
	MemoryContext scan_cxt;		/* owns scan */
	MemoryContext pred_cxt;		/* owns the predicate in use */
	MemoryContext spare_cxt;	/* for the next one */
	MemoryContext batch_cxt;	/* values of the batch that were converted */
	struct HbParallelScan *parallel;	/* shared with others; NULL: alone */
	HbScanStats worker_stats;	/* of workers that are done */
} HbScanState;

/*
 * Switches (GUCs): each turns one thing off that the planner is offered, for
 * comparison; results are the same.
 */
extern bool hb_enable_filter_pushdown;	/* hotblocks.enable_filter_pushdown */
extern bool hb_enable_ordered_scan; /* hotblocks.enable_ordered_scan */
extern bool hb_enable_parameterized_scan;	/* hotblocks.enable_parameterized_scan */
extern bool hb_enable_parallel_scan;	/* hotblocks.enable_parallel_scan */

/* Hooks of this layer; called once by _PG_init. */
extern void hb_fdw_init(void);
extern void hb_modify_init(void);

/* Callbacks, as in core's fdwapi.h. */
extern void hotblocksGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel,
									   Oid foreigntableid);
extern void hotblocksGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel,
									 Oid foreigntableid);
/* hb_parallel.c */

/*
 * hotblocks.executor_mode: who does the work of a query.  inline: the backend,
 * with core's parallel workers where the planner wants them.
 */
typedef enum HbExecutorMode
{
	HB_EXECUTOR_INLINE
} HbExecutorMode;

extern int	hb_executor_mode;

/*
 * For a partial path: how many workers the relation is worth, 0 none, and by
 * how much they and the leader divide the work.
 */
extern int	hb_parallel_workers(RelOptInfo *baserel, double *divisor);

/*
 * A scan that may be one of several processes' begins, or begins anew: first
 * tells whether this one comes first, start lets it read its share only.
 */
extern bool hb_parallel_first(HbScanState *state);
extern void hb_parallel_start(HbScanState *state);

/* At the end: a worker leaves its counters to the leader. */
extern void hb_parallel_end(HbScanState *state);

extern bool hotblocksIsForeignScanParallelSafe(PlannerInfo *root,
											   RelOptInfo *rel,
											   RangeTblEntry *rte);
extern ForeignScan *hotblocksGetForeignPlan(PlannerInfo *root,
											RelOptInfo *baserel,
											Oid foreigntableid,
											ForeignPath *best_path,
											List *tlist, List *scan_clauses,
											Plan *outer_plan);
extern void hotblocksBeginForeignScan(ForeignScanState *node, int eflags);
extern TupleTableSlot *hotblocksIterateForeignScan(ForeignScanState *node);
extern void hotblocksReScanForeignScan(ForeignScanState *node);
extern void hotblocksEndForeignScan(ForeignScanState *node);
extern Size hotblocksEstimateDSMForeignScan(ForeignScanState *node,
											ParallelContext *pcxt);
extern void hotblocksInitializeDSMForeignScan(ForeignScanState *node,
											  ParallelContext *pcxt,
											  void *coordinate);
extern void hotblocksReInitializeDSMForeignScan(ForeignScanState *node,
												ParallelContext *pcxt,
												void *coordinate);
extern void hotblocksInitializeWorkerForeignScan(ForeignScanState *node,
												 shm_toc *toc,
												 void *coordinate);
extern void hotblocksExplainForeignScan(ForeignScanState *node,
										ExplainState *es);
extern List *hotblocksPlanForeignModify(PlannerInfo *root, ModifyTable *plan,
										Index resultRelation,
										int subplan_index);
extern void hotblocksBeginForeignModify(ModifyTableState *mtstate,
										ResultRelInfo *rinfo,
										List *fdw_private,
										int subplan_index, int eflags);
extern TupleTableSlot *hotblocksExecForeignInsert(EState *estate,
												  ResultRelInfo *rinfo,
												  TupleTableSlot *slot,
												  TupleTableSlot *planSlot);
extern void hotblocksEndForeignModify(EState *estate, ResultRelInfo *rinfo);
extern void hotblocksBeginForeignInsert(ModifyTableState *mtstate,
										ResultRelInfo *rinfo);
extern void hotblocksEndForeignInsert(EState *estate, ResultRelInfo *rinfo);
extern int	hotblocksIsForeignRelUpdatable(Relation rel);
extern RowMarkType hotblocksGetForeignRowMarkType(RangeTblEntry *rte,
												  LockClauseStrength strength);
extern void hotblocksExecForeignTruncate(List *rels, DropBehavior behavior,
										 bool restart_seqs);
extern bool hotblocksAnalyzeForeignTable(Relation relation,
										 AcquireSampleRowsFunc *func,
										 BlockNumber *totalpages);
extern List *hotblocksImportForeignSchema(ImportForeignSchemaStmt *stmt,
										  Oid serverOid);

#endif							/* HB_FDW_H */
