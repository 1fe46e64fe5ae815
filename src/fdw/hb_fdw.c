/*
 * hb_fdw.c
 *		The handler: which function answers which call of the planner and the
 *		executor.
 *
 * What is not set is not offered: UPDATE and DELETE (refused with a hint by
 * PlanForeignModify) and batches of INSERT (the writer gathers rows itself, so
 * that a batch would only copy each row once more).
 */
#include "postgres.h"

#include "fmgr.h"

#include "fdw/hb_fdw.h"

PG_FUNCTION_INFO_V1(hotblocks_fdw_handler);

Datum
hotblocks_fdw_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	routine->GetForeignRelSize = hotblocksGetForeignRelSize;
	routine->GetForeignPaths = hotblocksGetForeignPaths;
	routine->GetForeignPlan = hotblocksGetForeignPlan;
	routine->IsForeignScanParallelSafe = hotblocksIsForeignScanParallelSafe;
	routine->BeginForeignScan = hotblocksBeginForeignScan;
	routine->IterateForeignScan = hotblocksIterateForeignScan;
	routine->ReScanForeignScan = hotblocksReScanForeignScan;
	routine->EndForeignScan = hotblocksEndForeignScan;

	routine->EstimateDSMForeignScan = hotblocksEstimateDSMForeignScan;
	routine->InitializeDSMForeignScan = hotblocksInitializeDSMForeignScan;
	routine->ReInitializeDSMForeignScan = hotblocksReInitializeDSMForeignScan;
	routine->InitializeWorkerForeignScan = hotblocksInitializeWorkerForeignScan;

	routine->PlanForeignModify = hotblocksPlanForeignModify;
	routine->BeginForeignModify = hotblocksBeginForeignModify;
	routine->ExecForeignInsert = hotblocksExecForeignInsert;
	routine->EndForeignModify = hotblocksEndForeignModify;
	routine->BeginForeignInsert = hotblocksBeginForeignInsert;
	routine->EndForeignInsert = hotblocksEndForeignInsert;
	routine->IsForeignRelUpdatable = hotblocksIsForeignRelUpdatable;
	routine->ExecForeignTruncate = hotblocksExecForeignTruncate;

	routine->GetForeignRowMarkType = hotblocksGetForeignRowMarkType;

	routine->ExplainForeignScan = hotblocksExplainForeignScan;

	routine->AnalyzeForeignTable = hotblocksAnalyzeForeignTable;
	routine->ImportForeignSchema = hotblocksImportForeignSchema;

	PG_RETURN_POINTER(routine);
}
