/*
 * compat.h
 *		Differences between PostgreSQL 15 and 18, in one place.
 *
 * Code elsewhere is written against the newest spelling that can be given to
 * all of them; a guard stands here, at the narrowest place.
 */
#ifndef HB_COMPAT_H
#define HB_COMPAT_H

#include "postgres.h"

#include "access/stratnum.h"
#include "access/tableam.h"
#include "access/toast_internals.h"
#include "commands/explain.h"
#include "commands/sequence.h"
#include "commands/vacuum.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "executor/executor.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "miscadmin.h"
#include "nodes/pathnodes.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* Ownership checks became generic in 16. */
#if PG_VERSION_NUM >= 160000
#define hb_class_ownercheck(relid, role) \
	object_ownercheck(RelationRelationId, (relid), (role))
#else
#define hb_class_ownercheck(relid, role) pg_class_ownercheck((relid), (role))
#endif

/* ExecInsertIndexTuples learned about summarizing indexes in 16. */
#if PG_VERSION_NUM >= 160000
#define hb_insert_index_tuples(rri, slot, estate) \
	ExecInsertIndexTuples((rri), (slot), (estate), false, false, NULL, NIL, false)
#else
#define hb_insert_index_tuples(rri, slot, estate) \
	ExecInsertIndexTuples((rri), (slot), (estate), false, false, NULL, NIL)
#endif

/* What an update says of indexes: a flag before 16. */
#if PG_VERSION_NUM >= 160000
typedef TU_UpdateIndexes HbUpdateIndexes;
#define HB_UPDATE_NO_INDEXES TU_None
#define hb_update_index_tuples(rri, slot, estate, which) \
	ExecInsertIndexTuples((rri), (slot), (estate), true, false, NULL, NIL, \
						  (which) == TU_Summarizing)
#else
typedef bool HbUpdateIndexes;
#define HB_UPDATE_NO_INDEXES false
#define hb_update_index_tuples(rri, slot, estate, which) \
	ExecInsertIndexTuples((rri), (slot), (estate), true, false, NULL, NIL)
#endif

/* palloc by type came with 16, and with later minor versions of 15. */
#ifndef palloc_object
#define palloc_object(type) ((type *) palloc(sizeof(type)))
#define palloc0_object(type) ((type *) palloc0(sizeof(type)))
#define palloc_array(type, count) ((type *) palloc(sizeof(type) * (count)))
#define palloc0_array(type, count) ((type *) palloc0(sizeof(type) * (count)))
#endif

/* The number of the file that holds a relation: RelFileLocator since 16. */
#if PG_VERSION_NUM >= 160000
#define HB_RELFILENUMBER(rel) ((Oid) (rel)->rd_locator.relNumber)
#else
#define HB_RELFILENUMBER(rel) ((rel)->rd_node.relNode)
#endif

/* The sequence of an identity column is asked of the relation since 17. */
#if PG_VERSION_NUM >= 170000
#define hb_identity_sequence(rel, attnum) getIdentitySequence((rel), (attnum), false)
#else
#define hb_identity_sequence(rel, attnum) \
	getIdentitySequence(RelationGetRelid(rel), (attnum), false)
#endif

/* The snapshot for reading TOAST rows; space is used before 18 only. */
static inline Snapshot
hb_toast_snapshot(SnapshotData *space)
{
#if PG_VERSION_NUM >= 180000
	return get_toast_snapshot();
#else
	init_toast_snapshot(space);
	return space;
#endif
}

/* 18 counts disabled nodes in paths; 17 gave foreign paths fdw_restrictinfo. */
static inline ForeignPath *
hb_create_foreignscan_path(PlannerInfo *root, RelOptInfo *rel, double rows,
						   Cost startup, Cost total, List *pathkeys,
						   Relids required_outer, List *private)
{
#if PG_VERSION_NUM >= 180000
	return create_foreignscan_path(root, rel, NULL, rows, 0, startup, total,
								   pathkeys, required_outer, NULL, NIL,
								   private);
#elif PG_VERSION_NUM >= 170000
	return create_foreignscan_path(root, rel, NULL, rows, startup, total,
								   pathkeys, required_outer, NULL, NIL,
								   private);
#else
	return create_foreignscan_path(root, rel, NULL, rows, startup, total,
								   pathkeys, required_outer, NULL, private);
#endif
}

/* 16 dropped nullable_relids. */
static inline List *
hb_build_expression_pathkey(PlannerInfo *root, Expr *expr, Oid opno,
							Relids rel)
{
#if PG_VERSION_NUM >= 160000
	return build_expression_pathkey(root, expr, opno, rel, false);
#else
	return build_expression_pathkey(root, expr, NULL, opno, rel, false);
#endif
}

/* 18 keeps a pathkey's direction as a CompareType. */
static inline bool
hb_pathkey_is_descending(const PathKey *pathkey)
{
#if PG_VERSION_NUM >= 180000
	return pathkey->pk_cmptype == COMPARE_GT;
#else
	return pathkey->pk_strategy == BTGreaterStrategyNumber;
#endif
}

/* 16 dropped ec_below_outer_join: such classes no longer have constants. */
static inline bool
hb_eclass_is_constant(const EquivalenceClass *ec)
{
#if PG_VERSION_NUM >= 160000
	return ec->ec_has_const;
#else
	return ec->ec_has_const && !ec->ec_below_outer_join;
#endif
}

/* 17 looks at the expression's statistics, and gives a double. */
static inline double
hb_estimate_array_length(PlannerInfo *root, Node *array)
{
#if PG_VERSION_NUM >= 170000
	return estimate_array_length(root, array);
#else
	return estimate_array_length(array);
#endif
}

/*
 * Workers are used only for a plan that is executed once and to its end.
 * ExecutorRun has a flag execute_once until 17 that says so, which later minor
 * versions ignore: they look at whether it has been executed already.
 */
#if PG_VERSION_NUM >= 180000
#define HB_EXECUTOR_RUN_ARGS \
	QueryDesc *queryDesc, ScanDirection direction, uint64 count
#define HB_EXECUTOR_RUN_PASS queryDesc, direction, count
#define HB_EXECUTOR_RUN_SERIAL (queryDesc->already_executed = true)
#else
#define HB_EXECUTOR_RUN_ARGS \
	QueryDesc *queryDesc, ScanDirection direction, uint64 count, \
	bool execute_once
#define HB_EXECUTOR_RUN_PASS queryDesc, direction, count, execute_once
#define HB_EXECUTOR_RUN_SERIAL \
	(queryDesc->already_executed = true, execute_once = false)
#endif

/* 18 asks whether it is ANALYZE that waits. */
static inline void
hb_vacuum_delay_point(void)
{
#if PG_VERSION_NUM >= 180000
	vacuum_delay_point(true);
#else
	vacuum_delay_point();
#endif
}

/*
 * Does a collation sort by bytes?  The header that would say so includes
 * ICU's, which need not be there to build an extension: so the function is
 * declared here, and from 18 on, which has none, the catalogs are asked.  The
 * builtin provider's collations all sort by code point.
 */
#if PG_VERSION_NUM < 180000
extern bool lc_collate_is_c(Oid collation);
#endif

static inline bool
hb_collation_is_c(Oid collation)
{
#if PG_VERSION_NUM >= 180000
	bool		is_default = (collation == DEFAULT_COLLATION_OID);
	HeapTuple	tuple;
	char		provider;
	bool		result;

	if (collation == C_COLLATION_OID)
		return true;
	tuple = is_default ?
		SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId)) :
		SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for collation %u", collation);
	provider = is_default ?
		((Form_pg_database) GETSTRUCT(tuple))->datlocprovider :
		((Form_pg_collation) GETSTRUCT(tuple))->collprovider;
	if (provider == COLLPROVIDER_LIBC)
	{
		Datum		datum = is_default ?
			SysCacheGetAttrNotNull(DATABASEOID, tuple, Anum_pg_database_datcollate) :
			SysCacheGetAttrNotNull(COLLOID, tuple, Anum_pg_collation_collcollate);
		char	   *name = TextDatumGetCString(datum);

		result = strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0;
	}
	else
		result = (provider == COLLPROVIDER_BUILTIN);
	ReleaseSysCache(tuple);
	return result;
#else
	return lc_collate_is_c(collation);
#endif
}

#endif							/* HB_COMPAT_H */
