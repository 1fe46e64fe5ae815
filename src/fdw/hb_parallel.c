/*
 * hb_parallel.c
 *		Scans in core's parallel workers.
 *
 * Any scan may run in a worker, as the inner side of a join there say.  A
 * partial path, "Parallel Foreign Scan", is one whose rows are dealt out among
 * the leader and the workers: each takes chunks, or parts of them, from a
 * counter in the query's dynamic shared memory (scan/hb_share.c).  It has no
 * order and no parameters.  Paths are offered while hotblocks.executor_mode is
 * inline, and hotblocks.enable_parallel_scan on.
 *
 * Whoever begins first looks whether data is missing, so that it is said once.
 * Workers leave their counters in the shared memory when they end; the
 * leader takes them when it lets go of it, which is after the last worker and
 * before EXPLAIN, by a callback of its segment: the executor has no other
 * moment for it.  The scan's state lives longer than the segment, after errors
 * too, since a (sub)transaction's abort ends parallel work first.
 */
#include "postgres.h"

#include <math.h>

#include "access/parallel.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "storage/dsm.h"
#include "storage/spin.h"

#include "compat.h"
#include "fdw/hb_fdw.h"

int			hb_executor_mode = HB_EXECUTOR_INLINE;
bool		hb_enable_parallel_scan = true;

typedef struct HbParallelScan
{
	HbScanShare share;
	slock_t		mutex;			/* of the fields below */
	bool		begun;			/* by somebody, since the last rescan */
	HbScanStats stats;			/* of workers that ended */
} HbParallelScan;

bool
hotblocksIsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel,
								   RangeTblEntry *rte)
{
	return hb_enable_parallel_scan && hb_executor_mode == HB_EXECUTOR_INLINE;
}

/*
 * How many processes' work that many workers do: as core counts, the leader
 * helps less the more workers there are to read from.
 */
static double
parallel_divisor(int workers)
{
	double		leader = 1.0 - 0.3 * workers;

	return workers + (parallel_leader_participation && leader > 0 ? leader : 0);
}

int
hb_parallel_workers(RelOptInfo *baserel, double *divisor)
{
	HbPlanRel  *plan_rel = baserel->fdw_private;
	const HbScanEstimate *estimate = &plan_rel->estimate;
	int			workers;

	workers = compute_parallel_worker(baserel,
									  ceil(estimate->bytes / BLCKSZ), -1,
									  max_parallel_workers_per_gather);
	workers = Min(workers, hb_scan_share_parts(estimate->chunks,
											   estimate->rows) - 1);
	*divisor = parallel_divisor(workers);
	return Max(workers, 0);
}

bool
hb_parallel_first(HbScanState *state)
{
	HbParallelScan *parallel = state->parallel;
	bool		first;

	if (parallel == NULL)
		return true;
	SpinLockAcquire(&parallel->mutex);
	first = !parallel->begun;
	parallel->begun = true;
	SpinLockRelease(&parallel->mutex);
	return first;
}

void
hb_parallel_start(HbScanState *state)
{
	hb_scan_share(state->scan,
				  state->parallel == NULL ? NULL : &state->parallel->share);
}

void
hb_parallel_end(HbScanState *state)
{
	HbParallelScan *parallel = state->parallel;
	HbScanStats stats;

	if (parallel == NULL || !IsParallelWorker())
		return;
	hb_scan_stats(state->scan, &stats);
	SpinLockAcquire(&parallel->mutex);
	hb_scan_stats_add(&parallel->stats, &stats);
	SpinLockRelease(&parallel->mutex);
}

/* The leader's segment goes: nothing more is to be had from it. */
static void
detach(dsm_segment *segment, Datum arg)
{
	HbScanState *state = (HbScanState *) DatumGetPointer(arg);

	hb_scan_stats_add(&state->worker_stats, &state->parallel->stats);
	state->parallel = NULL;
	state->done = true;
}

Size
hotblocksEstimateDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt)
{
	return sizeof(HbParallelScan);
}

/*
 * Where there is no segment there are no workers either, and the scan is the
 * leader's alone.
 */
void
hotblocksInitializeDSMForeignScan(ForeignScanState *node,
								  ParallelContext *pcxt, void *coordinate)
{
	HbScanState *state = node->fdw_state;
	HbParallelScan *parallel = coordinate;

	if (pcxt->seg == NULL)
		return;
	memset(parallel, 0, sizeof(*parallel));
	hb_scan_share_init(&parallel->share);
	SpinLockInit(&parallel->mutex);
	on_dsm_detach(pcxt->seg, detach, PointerGetDatum(state));
	state->parallel = parallel;
}

/* No worker runs. */
void
hotblocksReInitializeDSMForeignScan(ForeignScanState *node,
									ParallelContext *pcxt, void *coordinate)
{
	HbParallelScan *parallel = coordinate;

	hb_scan_share_init(&parallel->share);
	parallel->begun = false;
}

void
hotblocksInitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc,
									 void *coordinate)
{
	HbScanState *state = node->fdw_state;

	state->parallel = coordinate;
}
