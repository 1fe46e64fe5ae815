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

#include "access/tableam.h"
#include "access/toast_internals.h"
#include "commands/sequence.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

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

#endif							/* HB_COMPAT_H */
