/*
 * hb_toast.c
 *		Reading byte ranges of a chunk's pieces.
 *
 * The server's own way to a slice of a TOASTed value opens the TOAST table and
 * its indexes, begins an index scan, and throws all that away: several
 * microseconds for what is often a few dozen bytes.  Here the piece's row is
 * looked up once, its TOAST pointer kept, and with it the position of every
 * TOAST row that has been met (six bytes each), so that a second touch is one
 * heap fetch.  Rows not met yet are found through the TOAST index, a range at
 * a time.
 *
 * A remembered position holds as long as the table's file does (the cache
 * compares file numbers), the chunk is visible, and so its pieces are not
 * vacuumed away; each row fetched is nevertheless compared with what it should
 * be (value, sequence, size), and looked up again if it is not.  What is then
 * still wrong is damage.
 *
 * Locks: AccessShareLock on the piece table, its TOAST table and that one's
 * index, kept to the end of the transaction.  No buffer or relation stays open
 * between calls, so an error leaves nothing behind.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_store_int.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

static void hb_piece_damaged(HbPieceReader *r, int32 seq, const char *fmt,...)
			pg_attribute_printf(3, 4) HB_NORETURN;

static void
hb_piece_damaged(HbPieceReader *r, int32 seq, const char *fmt,...)
{
	StringInfoData why;

	initStringInfo(&why);
	for (;;)
	{
		va_list		args;
		int			needed;

		va_start(args, fmt);
		needed = appendStringInfoVA(&why, fmt, args);
		va_end(args);
		if (needed == 0)
			break;
		enlargeStringInfo(&why, needed);
	}
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("chunk " INT64_FORMAT " of table \"%s\" of dataset \"%s\" is damaged",
					r->chunk_id, r->table, NameStr(r->ds->name)),
			 seq == HB_PIECE_DIRECTORY ?
			 errdetail("Piece with the directory: %s.", why.data) :
			 errdetail("Piece %d: %s.", seq, why.data)));
}

void
hb_piece_reader_init(HbPieceReader *r, uint64 body_len)
{
	r->npieces = (int) ((body_len + HB_PIECE_PAYLOAD - 1) / HB_PIECE_PAYLOAD);
	r->refs = MemoryContextAllocZero(r->cxt, (r->npieces + 1) * sizeof(HbPieceRef));
}

/* Forgets positions: the table's file is another one. */
void
hb_piece_reader_reset(HbPieceReader *r)
{
	for (int i = 0; i <= r->npieces; i++)
	{
		if (r->refs[i].tids != NULL)
			pfree(r->refs[i].tids);
		if (r->refs[i].data != NULL)
			pfree(r->refs[i].data);
		memset(&r->refs[i], 0, sizeof(HbPieceRef));
	}
}

static inline uint32
hb_toast_rows(const HbPieceRef *ref)
{
	return (ref->size + TOAST_MAX_CHUNK_SIZE - 1) / TOAST_MAX_CHUNK_SIZE;
}

/*
 * A row of a TOAST table: is it number seq of the value, of the size that it
 * must have?  Then copies what falls into off .. off + len to dst.
 */
static const char *
hb_toast_copy_row(TupleDesc desc, HeapTuple tuple, const HbPieceRef *ref, uint32 seq,
				  uint32 off, uint32 len, uint8_t *dst)
{
	bool		isnull;
	Oid			valueid = DatumGetObjectId(fastgetattr(tuple, 1, desc, &isnull));
	int32		row_seq = DatumGetInt32(fastgetattr(tuple, 2, desc, &isnull));
	struct varlena *data = (struct varlena *)
		DatumGetPointer(fastgetattr(tuple, 3, desc, &isnull));
	uint32		start = seq * TOAST_MAX_CHUNK_SIZE;
	uint32		size = Min(ref->size - start, TOAST_MAX_CHUNK_SIZE);
	uint32		from;
	uint32		to;

	if (isnull || VARATT_IS_EXTERNAL(data) || VARATT_IS_COMPRESSED(data))
		return "a TOAST row has an unexpected form";
	if (valueid != ref->valueid || row_seq != (int32) seq)
		return "a TOAST row is not the one expected";
	if (VARSIZE_ANY_EXHDR(data) != size)
		return "a TOAST row has an unexpected size";
	from = Max(off, start);
	to = Min(off + len, start + size);
	memcpy(dst + (from - off), VARDATA_ANY(data) + (from - start), to - from);
	return NULL;
}

/* Rows first..last through the index; remembers where they are. */
static void
hb_toast_scan(HbPieceReader *r, int32 piece, HbPieceRef *ref, Relation toast,
			  Snapshot snapshot, uint32 first, uint32 last,
			  uint32 off, uint32 len, uint8_t *dst)
{
	Relation   *indexes;
	int			nindexes;
	int			valid = toast_open_indexes(toast, AccessShareLock, &indexes, &nindexes);
	ScanKeyData keys[3];
	SysScanDesc scan;
	HeapTuple	tuple;
	uint32		seq = first;

	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(ref->valueid));
	ScanKeyInit(&keys[1], 2, BTGreaterEqualStrategyNumber, F_INT4GE,
				Int32GetDatum((int32) first));
	ScanKeyInit(&keys[2], 2, BTLessEqualStrategyNumber, F_INT4LE,
				Int32GetDatum((int32) last));
	scan = systable_beginscan_ordered(toast, indexes[valid], snapshot, 3, keys);
	while ((tuple = systable_getnext_ordered(scan, ForwardScanDirection)) != NULL)
	{
		const char *wrong;

		CHECK_FOR_INTERRUPTS();
		if (seq > last)
			hb_piece_damaged(r, piece, "it has more TOAST rows than expected");
		wrong = hb_toast_copy_row(RelationGetDescr(toast), tuple, ref, seq, off, len, dst);
		if (wrong != NULL)
			hb_piece_damaged(r, piece, "%s (row %u of value %u)", wrong, seq, ref->valueid);
		ref->tids[seq] = tuple->t_self;
		seq++;
	}
	systable_endscan_ordered(scan);
	toast_close_indexes(indexes, nindexes, NoLock);
	if (seq <= last)
		hb_piece_damaged(r, piece, "TOAST row %u of value %u is missing", seq, ref->valueid);
}

/*
 * Rows first..last, as far as it is known where they are and they are still
 * there; returns the first that was not read.  Neighbours share a page, which
 * is pinned and locked once for all of them.
 */
static uint32
hb_toast_fetch(Relation toast, const HbPieceRef *ref, Snapshot snapshot,
			   uint32 first, uint32 last, uint32 off, uint32 len, uint8_t *dst)
{
	TupleDesc	desc = RelationGetDescr(toast);
	uint32		seq = first;

	while (seq <= last && ItemPointerIsValid(&ref->tids[seq]))
	{
		BlockNumber block = ItemPointerGetBlockNumber(&ref->tids[seq]);
		bool		gone = false;
		Buffer		buffer;
		Page		page;

		CHECK_FOR_INTERRUPTS();
		buffer = ReadBuffer(toast, block);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buffer);
		for (; !gone && seq <= last && ItemPointerIsValid(&ref->tids[seq]) &&
			 ItemPointerGetBlockNumber(&ref->tids[seq]) == block;)
		{
			OffsetNumber offset = ItemPointerGetOffsetNumber(&ref->tids[seq]);
			HeapTupleData tuple;
			ItemId		lp;

			gone = true;
			if (offset > PageGetMaxOffsetNumber(page))
				break;
			lp = PageGetItemId(page, offset);
			if (!ItemIdIsNormal(lp))
				break;
			tuple.t_data = (HeapTupleHeader) PageGetItem(page, lp);
			tuple.t_len = ItemIdGetLength(lp);
			tuple.t_tableOid = RelationGetRelid(toast);
			tuple.t_self = ref->tids[seq];
			if (!HeapTupleSatisfiesVisibility(&tuple, snapshot, buffer) ||
				hb_toast_copy_row(desc, &tuple, ref, seq, off, len, dst) != NULL)
				break;
			gone = false;
			seq++;
		}
		UnlockReleaseBuffer(buffer);
		if (gone)
			break;
	}
	return seq;
}

/* Bytes off .. off + len of an external piece. */
static void
hb_toast_read(HbPieceReader *r, int32 piece, HbPieceRef *ref, uint32 off, uint32 len,
			  uint8_t *dst)
{
	Relation	toast = table_open(ref->toastrelid, AccessShareLock);
	SnapshotData space;
	Snapshot	snapshot = hb_toast_snapshot(&space);
	uint32		first = off / TOAST_MAX_CHUNK_SIZE;
	uint32		last = (off + len - 1) / TOAST_MAX_CHUNK_SIZE;
	uint32		seq;

	if (ref->tids == NULL)
	{
		uint32		n = hb_toast_rows(ref);

		ref->tids = MemoryContextAlloc(r->cxt, n * sizeof(ItemPointerData));
		for (uint32 i = 0; i < n; i++)
			ItemPointerSetInvalid(&ref->tids[i]);
	}

	seq = hb_toast_fetch(toast, ref, snapshot, first, last, off, len, dst);
	if (seq <= last)
		hb_toast_scan(r, piece, ref, toast, snapshot, seq, last, off, len, dst);
	table_close(toast, NoLock);
}

/* Looks the piece's row up. */
static void
hb_piece_locate(HbPieceReader *r, int32 seq, HbPieceRef *ref)
{
	Relation	rel = hb_storage_open(r->ds, HB_STORAGE_PIECE, AccessShareLock);
	Oid			pkey = hb_storage_pkey(rel);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		isnull = true;
	Datum		datum = (Datum) 0;
	struct varlena *data;

	ScanKeyInit(&keys[0], HB_PIECE_CHUNK_ID, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(r->chunk_id));
	ScanKeyInit(&keys[1], HB_PIECE_SEQ, BTEqualStrategyNumber, F_INT4EQ,
				Int32GetDatum(seq));
	scan = systable_beginscan(rel, pkey, OidIsValid(pkey), r->snapshot, 2, keys);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		datum = heap_getattr(tuple, HB_PIECE_DATA, RelationGetDescr(rel), &isnull);
	if (isnull)
		hb_piece_damaged(r, seq, "it is missing");

	data = (struct varlena *) DatumGetPointer(datum);
	ref->checked = false;
	if (VARATT_IS_EXTERNAL_ONDISK(data))
	{
		struct varatt_external pointer;

		VARATT_EXTERNAL_GET_POINTER(pointer, data);
		if (!VARATT_EXTERNAL_IS_COMPRESSED(pointer))
		{
			ref->valueid = pointer.va_valueid;
			ref->toastrelid = pointer.va_toastrelid;
			ref->size = VARATT_EXTERNAL_GET_EXTSIZE(pointer);
			data = NULL;
		}
	}
	if (data != NULL)
	{
		struct varlena *plain = PG_DETOAST_DATUM_PACKED(datum);

		ref->size = VARSIZE_ANY_EXHDR(plain);
		ref->data = MemoryContextAlloc(r->cxt, Max(ref->size, 1));
		memcpy(ref->data, VARDATA_ANY(plain), ref->size);
		if (plain != data)
			pfree(plain);
	}
	if (ref->size < HB_PIECE_HEADER || ref->size > HB_PIECE_MAX)
		hb_piece_damaged(r, seq, "its size of %u bytes is impossible", ref->size);
	ref->known = true;
	systable_endscan(scan);
	table_close(rel, NoLock);
}

static void
hb_piece_bytes(HbPieceReader *r, int32 seq, HbPieceRef *ref, uint32 off, uint32 len,
			   uint8_t *dst)
{
	if (ref->data != NULL)
		memcpy(dst, ref->data + off, len);
	else
		hb_toast_read(r, seq, ref, off, len, dst);
}

/* Makes sure that the piece is known and that its header is right. */
static HbPieceRef *
hb_piece_ref(HbPieceReader *r, int32 seq)
{
	HbPieceRef *ref = &r->refs[seq == HB_PIECE_DIRECTORY ? r->npieces : seq];
	uint8_t		header[HB_PIECE_HEADER];
	const char *wrong;

	if (!ref->known)
		hb_piece_locate(r, seq, ref);
	if (ref->checked)
		return ref;
	hb_piece_bytes(r, seq, ref, 0, HB_PIECE_HEADER, header);
	wrong = hb_piece_check(header, r->chunk_id, seq, &ref->payload);
	if (wrong != NULL)
		hb_piece_damaged(r, seq, "%s", wrong);
	if (ref->payload != ref->size - HB_PIECE_HEADER)
		hb_piece_damaged(r, seq, "it has %u bytes instead of %u",
						 ref->size - HB_PIECE_HEADER, ref->payload);
	ref->checked = true;
	return ref;
}

/* Bytes off .. off + len of the body; the caller has checked the bounds. */
void
hb_piece_read(HbPieceReader *r, uint64 off, uint32 len, uint8_t *dst)
{
	while (len > 0)
	{
		int32		seq = (int32) (off / HB_PIECE_PAYLOAD);
		uint32		at = (uint32) (off % HB_PIECE_PAYLOAD);
		uint32		part = Min(len, HB_PIECE_PAYLOAD - at);
		HbPieceRef *ref = hb_piece_ref(r, seq);

		if (at + part > ref->payload)
			hb_piece_damaged(r, seq, "it ends before its part of the body does");
		hb_piece_bytes(r, seq, ref, HB_PIECE_HEADER + at, part, dst);
		off += part;
		dst += part;
		len -= part;
	}
}

/* The directory that is a piece of its own; palloc'd in the current context. */
uint8_t *
hb_piece_read_directory(HbPieceReader *r, uint32 *len)
{
	HbPieceRef *ref = hb_piece_ref(r, HB_PIECE_DIRECTORY);
	uint8_t    *dir = palloc(Max(ref->payload, 1));

	if (ref->payload > 0)
		hb_piece_bytes(r, HB_PIECE_DIRECTORY, ref, HB_PIECE_HEADER, ref->payload, dir);
	*len = ref->payload;
	return dir;
}
