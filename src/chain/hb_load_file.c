/*
 * hb_load_file.c
 *		hotblocks.load_file: NDJSON on the server, plain, gzip or zstd, one
 *		block document a line, all or nothing.
 *
 * The file is read in pieces and unpacked into pieces, and one line is kept at
 * a time, so memory does not depend on the file's size.  What the file is, its
 * first bytes tell, not its name.  zlib takes its memory from palloc; zstd
 * cannot be told to with its stable interface, so its context is freed by a
 * reset callback of the memory context.  The file is AllocateFile's.
 */
#include "postgres.h"

#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "chain/hb_load_file.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#define READ_SIZE	(256 * 1024)
#define OUT_SIZE	(1024 * 1024)

typedef enum FileFormat
{
	FILE_PLAIN,
	FILE_GZIP,
	FILE_ZSTD
} FileFormat;

typedef struct LoadFile
{
	const char *path;
	FILE	   *file;
	FileFormat	format;
	MemoryContext cxt;
	uint8	   *in;
	size_t		in_len;
	size_t		in_pos;
	bool		eof;			/* nothing more to read into in */
	z_stream	gzip;
	ZSTD_DCtx  *zstd;
	bool		in_frame;		/* amid a gzip member or a zstd frame */
	int64		line;
	HbFeed	   *feed;
} LoadFile;

static void *
load_zalloc(void *arg, unsigned int items, unsigned int size)
{
	return MemoryContextAlloc((MemoryContext) arg, (Size) items * size);
}

static void
load_zfree(void *arg, void *ptr)
{
	pfree(ptr);
}

static void
load_free_zstd(void *arg)
{
	ZSTD_freeDCtx(arg);
}

static void
load_read(LoadFile *lf)
{
	lf->in_pos = 0;
	lf->in_len = fread(lf->in, 1, READ_SIZE, lf->file);
	if (lf->in_len == 0)
	{
		if (ferror(lf->file))
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read file \"%s\": %m", lf->path)));
		lf->eof = true;
	}
}

static void
load_open(LoadFile *lf)
{
	struct stat st;

	lf->file = AllocateFile(lf->path, PG_BINARY_R);
	if (lf->file == NULL)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\" for reading: %m", lf->path)));
	if (fstat(fileno(lf->file), &st) == 0 && S_ISDIR(st.st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a directory", lf->path)));
	lf->in = MemoryContextAlloc(lf->cxt, READ_SIZE);
	load_read(lf);

	if (lf->in_len >= 2 && lf->in[0] == 0x1f && lf->in[1] == 0x8b)
	{
		lf->format = FILE_GZIP;
		lf->gzip.zalloc = load_zalloc;
		lf->gzip.zfree = load_zfree;
		lf->gzip.opaque = lf->cxt;
		if (inflateInit2(&lf->gzip, 15 + 16) != Z_OK)
			elog(ERROR, "could not initialize zlib");
	}
	else if (lf->in_len >= 4 && lf->in[0] == 0x28 && lf->in[1] == 0xb5 &&
			 lf->in[2] == 0x2f && lf->in[3] == 0xfd)
	{
		MemoryContextCallback *callback = MemoryContextAlloc(lf->cxt, sizeof(*callback));

		lf->format = FILE_ZSTD;
		lf->zstd = ZSTD_createDCtx();
		if (lf->zstd == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory")));
		callback->func = load_free_zstd;
		callback->arg = lf->zstd;
		MemoryContextRegisterResetCallback(lf->cxt, callback);
	}
	else
		lf->format = FILE_PLAIN;
}

static void
load_damaged(LoadFile *lf, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("could not decompress file \"%s\"", lf->path),
			 errdetail("%s.", detail)));
}

/* At the end of the file nothing may be half unpacked. */
static void
load_check_end(LoadFile *lf)
{
	if (lf->in_frame)
		load_damaged(lf, "The file ends too early");
}

static size_t
load_gzip(LoadFile *lf, uint8 *out, size_t size)
{
	lf->gzip.next_out = out;
	lf->gzip.avail_out = size;
	while (lf->gzip.avail_out > 0)
	{
		int			rc;

		if (lf->in_pos == lf->in_len)
		{
			load_read(lf);
			if (lf->eof)
			{
				load_check_end(lf);
				break;
			}
		}
		lf->in_frame = true;
		lf->gzip.next_in = lf->in + lf->in_pos;
		lf->gzip.avail_in = lf->in_len - lf->in_pos;
		rc = inflate(&lf->gzip, Z_NO_FLUSH);
		lf->in_pos = lf->in_len - lf->gzip.avail_in;
		if (rc == Z_STREAM_END)
		{
			/* members may follow one another */
			lf->in_frame = false;
			if (inflateReset(&lf->gzip) != Z_OK)
				elog(ERROR, "could not reset zlib");
		}
		else if (rc != Z_OK && rc != Z_BUF_ERROR)
			load_damaged(lf, lf->gzip.msg ? lf->gzip.msg : "The data is damaged");
	}
	return size - lf->gzip.avail_out;
}

static size_t
load_zstd(LoadFile *lf, uint8 *out, size_t size)
{
	ZSTD_outBuffer dst = {out, size, 0};

	while (dst.pos < dst.size)
	{
		ZSTD_inBuffer src;
		size_t		rc;

		/* what is left in the decoder comes out without input, too */
		if (lf->in_pos == lf->in_len && !lf->eof)
			load_read(lf);
		src.src = lf->in;
		src.size = lf->in_len;
		src.pos = lf->in_pos;
		if (lf->eof && !lf->in_frame)
			break;
		rc = ZSTD_decompressStream(lf->zstd, &dst, &src);
		if (ZSTD_isError(rc))
			load_damaged(lf, ZSTD_getErrorName(rc));
		if (lf->eof && rc != 0 && dst.pos < dst.size)
			load_damaged(lf, "The file ends too early");
		lf->in_pos = src.pos;
		lf->in_frame = rc != 0;
	}
	return dst.pos;
}

/* The next bytes of the unpacked file; 0 at its end. */
static size_t
load_next(LoadFile *lf, uint8 *out, size_t size)
{
	size_t		n;

	switch (lf->format)
	{
		case FILE_GZIP:
			return load_gzip(lf, out, size);
		case FILE_ZSTD:
			return load_zstd(lf, out, size);
		case FILE_PLAIN:
			break;
	}
	if (lf->in_pos == lf->in_len && !lf->eof)
		load_read(lf);
	n = Min(size, lf->in_len - lf->in_pos);
	memcpy(out, lf->in + lf->in_pos, n);
	lf->in_pos += n;
	return n;
}

static void
load_error_context(void *arg)
{
	LoadFile   *lf = arg;

	errcontext("file \"%s\", line " INT64_FORMAT, lf->path, lf->line);
}

/* Blank lines are no documents. */
static void
load_line(LoadFile *lf, const char *line, size_t len)
{
	lf->line++;
	if (lf->line == 1 && len >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0)
	{
		line += 3;
		len -= 3;
	}
	for (size_t i = 0; i < len; i++)
	{
		if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
		{
			hb_feed_text(lf->feed, line, len);
			return;
		}
	}
}

/* Keeps the beginning of a line that goes on in the next piece. */
static void
load_keep(StringInfo rest, const char *data, size_t len)
{
	if (len > MaxAllocSize - 1 - (Size) rest->len)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("line is too long"),
				 errdetail("A block document has at most %zu bytes.",
						   (size_t) MaxAllocSize - 1)));
	appendBinaryStringInfo(rest, data, (int) len);
}

static void
load_lines(LoadFile *lf)
{
	uint8	   *out = MemoryContextAlloc(lf->cxt, OUT_SIZE);
	StringInfoData rest;
	size_t		n;

	initStringInfo(&rest);
	while ((n = load_next(lf, out, OUT_SIZE)) > 0)
	{
		const char *p = (const char *) out;
		const char *end = p + n;

		CHECK_FOR_INTERRUPTS();
		while (p < end)
		{
			const char *newline = memchr(p, '\n', end - p);

			if (newline == NULL)
			{
				load_keep(&rest, p, end - p);
				break;
			}
			if (rest.len > 0)
			{
				load_keep(&rest, p, newline - p);
				load_line(lf, rest.data, rest.len);
				resetStringInfo(&rest);
				if (rest.maxlen > 64 * 1024 * 1024)
				{
					/* do not keep what one huge line needed */
					pfree(rest.data);
					initStringInfo(&rest);
				}
			}
			else
				load_line(lf, p, newline - p);
			p = newline + 1;
		}
	}
	if (rest.len > 0)
		load_line(lf, rest.data, rest.len);
}

/* Feeds the lines of a file into the dataset. */
void
hb_load_file(HbDataset *ds, const char *path, HbFeedResult *result)
{
	LoadFile	lf = {0};
	MemoryContext old_cxt;
	ErrorContextCallback callback;

	if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to load from a file on the server"),
				 errdetail("Only roles with privileges of the \"pg_read_server_files\" role may read files on the server."),
				 errhint("COPY into the dataset's table block_feed takes the same documents from the client.")));

	lf.path = path;
	lf.cxt = AllocSetContextCreate(CurrentMemoryContext, "hotblocks load_file",
								   ALLOCSET_DEFAULT_SIZES);
	old_cxt = MemoryContextSwitchTo(lf.cxt);
	load_open(&lf);
	lf.feed = hb_feed_begin(ds, HB_FEED_RAW, NIL, GetCurrentCommandId(true),
							GetActiveSnapshot());

	callback.callback = load_error_context;
	callback.arg = &lf;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	load_lines(&lf);
	error_context_stack = callback.previous;

	hb_feed_finish(lf.feed, result);
	FreeFile(lf.file);
	MemoryContextSwitchTo(old_cxt);
	MemoryContextDelete(lf.cxt);
}
