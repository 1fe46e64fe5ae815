/*
 * hb_helpers.c
 *		Functions for those who query EVM data: hashes of signatures, 0x text,
 *		words of ABI-encoded data.
 *
 * All are immutable, strict and parallel safe.  What cannot be decoded is
 * NULL, not an error: a filter on decoded data meets every log there is.
 * topic_to_address is NULL for a topic that no address makes, so that
 * topic_to_address(t) = a and t = address_to_topic(a) are the same.
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_type.h"
#include "codec/hb_hex.h"
#include "compat.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "store/hb_keccak.h"
#include "store/hb_value.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#define WORD_LEN	32
#define ADDRESS_LEN	20
#define PAD_LEN		(WORD_LEN - ADDRESS_LEN)

static bytea *
make_bytea(const void *data, Size len)
{
	bytea	   *result = palloc(VARHDRSZ + len);

	SET_VARSIZE(result, VARHDRSZ + len);
	memcpy(VARDATA(result), data, len);
	return result;
}

PG_FUNCTION_INFO_V1(hotblocks_keccak256);
Datum
hotblocks_keccak256(PG_FUNCTION_ARGS)
{
	bytea	   *data = PG_GETARG_BYTEA_PP(0);
	uint8		hash[HB_KECCAK_LEN];

	hb_keccak256(VARDATA_ANY(data), VARSIZE_ANY_EXHDR(data), hash);
	PG_RETURN_BYTEA_P(make_bytea(hash, HB_KECCAK_LEN));
}

/*
 * Signatures
 */

static void
bad_signature(const char *signature, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid signature \"%s\"", signature),
			 errdetail("%s", detail),
			 errhint("A signature is a name and its argument types, such as \"Transfer(address,address,uint256)\".")));
}

/*
 * The signature as it is hashed: without spaces, and with the types uint and
 * int by their full names.  A wrong one would hash as well as a right one, so
 * what cannot be right is refused: argument names, "indexed", unbalanced
 * brackets.
 */
static char *
canonical_signature(const char *signature)
{
	StringInfoData out;
	const char *p = signature;
	int			depth = 0;
	bool		closed = false;

	initStringInfo(&out);
	while (*p == ' ')
		p++;
	if (!(isalpha((unsigned char) *p) || *p == '_' || *p == '$'))
		bad_signature(signature, "It does not start with a name.");
	while (isalnum((unsigned char) *p) || *p == '_' || *p == '$')
		appendStringInfoChar(&out, *p++);
	while (*p == ' ')
		p++;
	if (*p != '(')
		bad_signature(signature, "The name is not followed by \"(\".");

	while (*p != '\0')
	{
		const char *start = p;

		if (*p == ' ')
		{
			p++;
			continue;
		}
		if (closed)
			bad_signature(signature, "There is something after the last \")\".");
		if (isalnum((unsigned char) *p))
		{
			char		before = out.data[out.len - 1];

			while (isalnum((unsigned char) *p))
				p++;
			if (before != '(' && before != ',' && before != '[')
				bad_signature(signature, "Arguments are given by their types only, separated by commas.");
			appendBinaryStringInfo(&out, start, p - start);
			if ((p - start == 4 && strncmp(start, "uint", 4) == 0) ||
				(p - start == 3 && strncmp(start, "int", 3) == 0))
				appendStringInfoString(&out, "256");
			continue;
		}
		if (*p == '(')
			depth++;
		else if (*p == ')')
			depth--;
		else if (strchr(",[]", *p) == NULL)
			bad_signature(signature, "Argument types are made of letters, digits, \"(\", \")\", \"[\", \"]\" and \",\".");
		if (depth == 0)
			closed = true;
		appendStringInfoChar(&out, *p++);
	}
	if (!closed)
		bad_signature(signature, "Brackets are not balanced.");
	return out.data;
}

static void
signature_hash(FunctionCallInfo fcinfo, uint8 hash[HB_KECCAK_LEN])
{
	char	   *signature = canonical_signature(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	hb_keccak256(signature, strlen(signature), hash);
}

PG_FUNCTION_INFO_V1(hotblocks_topic0);
Datum
hotblocks_topic0(PG_FUNCTION_ARGS)
{
	uint8		hash[HB_KECCAK_LEN];

	signature_hash(fcinfo, hash);
	PG_RETURN_BYTEA_P(make_bytea(hash, HB_KECCAK_LEN));
}

PG_FUNCTION_INFO_V1(hotblocks_selector);
Datum
hotblocks_selector(PG_FUNCTION_ARGS)
{
	uint8		hash[HB_KECCAK_LEN];

	signature_hash(fcinfo, hash);
	PG_RETURN_BYTEA_P(make_bytea(hash, 4));
}

/*
 * 0x text
 */

PG_FUNCTION_INFO_V1(hotblocks_hex);
Datum
hotblocks_hex(PG_FUNCTION_ARGS)
{
	text	   *arg = PG_GETARG_TEXT_PP(0);
	const char *s = VARDATA_ANY(arg);
	int			len = VARSIZE_ANY_EXHDR(arg);
	bytea	   *result;

	if (len >= 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
	{
		s += 2;
		len -= 2;
	}
	if (len % 2 != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid hexadecimal data: odd number of digits")));
	result = palloc(VARHDRSZ + len / 2);
	SET_VARSIZE(result, VARHDRSZ + len / 2);
	for (int i = 0; i < len; i += 2)
	{
		int			v = hb_hex_digit((unsigned char) s[i]);
		int			w = hb_hex_digit((unsigned char) s[i + 1]);

		if (v < 0 || w < 0)
		{
			const char *bad = v < 0 ? s + i : s + i + 1;

			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid hexadecimal digit: \"%.*s\"",
							pg_mblen(bad), bad)));
		}
		VARDATA(result)[i / 2] = (char) (v << 4 | w);
	}
	PG_RETURN_BYTEA_P(result);
}

static text *
to_hex_text(const void *data, Size len)
{
	text	   *result;

	if (len > (MaxAllocSize - VARHDRSZ - 2) / 2)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("data is too long for its hexadecimal form")));
	result = palloc(VARHDRSZ + 2 + len * 2);
	SET_VARSIZE(result, VARHDRSZ + 2 + len * 2);
	memcpy(VARDATA(result), "0x", 2);
	hex_encode(data, len, VARDATA(result) + 2);
	return result;
}

PG_FUNCTION_INFO_V1(hotblocks_to_hex);
Datum
hotblocks_to_hex(PG_FUNCTION_ARGS)
{
	bytea	   *data = PG_GETARG_BYTEA_PP(0);

	PG_RETURN_TEXT_P(to_hex_text(VARDATA_ANY(data), VARSIZE_ANY_EXHDR(data)));
}

static const uint8 *
address_arg(FunctionCallInfo fcinfo)
{
	bytea	   *data = PG_GETARG_BYTEA_PP(0);

	if (VARSIZE_ANY_EXHDR(data) != ADDRESS_LEN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an address has 20 bytes, not %d",
						(int) VARSIZE_ANY_EXHDR(data))));
	return (const uint8 *) VARDATA_ANY(data);
}

/* EIP-55: a letter is upper case where the hash of the digits has a digit >= 8. */
PG_FUNCTION_INFO_V1(hotblocks_checksum);
Datum
hotblocks_checksum(PG_FUNCTION_ARGS)
{
	text	   *result = to_hex_text(address_arg(fcinfo), ADDRESS_LEN);
	char	   *digits = VARDATA(result) + 2;
	uint8		hash[HB_KECCAK_LEN];

	hb_keccak256(digits, ADDRESS_LEN * 2, hash);
	for (int i = 0; i < ADDRESS_LEN * 2; i++)
	{
		int			nibble = i % 2 == 0 ? hash[i / 2] >> 4 : hash[i / 2] & 15;

		if (nibble >= 8)
			digits[i] = pg_ascii_toupper((unsigned char) digits[i]);
	}
	PG_RETURN_TEXT_P(result);
}

/*
 * Words
 */

PG_FUNCTION_INFO_V1(hotblocks_address_to_topic);
Datum
hotblocks_address_to_topic(PG_FUNCTION_ARGS)
{
	uint8		word[WORD_LEN] = {0};

	memcpy(word + PAD_LEN, address_arg(fcinfo), ADDRESS_LEN);
	PG_RETURN_BYTEA_P(make_bytea(word, WORD_LEN));
}

/* The address in a word, or NULL. */
static bytea *
word_address(const uint8 *word)
{
	for (int i = 0; i < PAD_LEN; i++)
	{
		if (word[i] != 0)
			return NULL;
	}
	return make_bytea(word + PAD_LEN, ADDRESS_LEN);
}

PG_FUNCTION_INFO_V1(hotblocks_topic_to_address);
Datum
hotblocks_topic_to_address(PG_FUNCTION_ARGS)
{
	bytea	   *topic = PG_GETARG_BYTEA_PP(0);
	bytea	   *result;

	if (VARSIZE_ANY_EXHDR(topic) != WORD_LEN)
		PG_RETURN_NULL();
	result = word_address((const uint8 *) VARDATA_ANY(topic));
	if (result == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(result);
}

/*
 * Word number arg 1 of the data in arg 0, of which no more is detoasted than
 * it takes; false when the data does not have it.
 */
static bool
word_arg(FunctionCallInfo fcinfo, uint8 word[WORD_LEN])
{
	int32		n = PG_GETARG_INT32(1);
	bytea	   *slice;

	if (n < 0 || n > (PG_INT32_MAX - WORD_LEN) / WORD_LEN)
		return false;
	slice = PG_GETARG_BYTEA_P_SLICE(0, n * WORD_LEN, WORD_LEN);
	if (VARSIZE_ANY_EXHDR(slice) < WORD_LEN)
		return false;
	memcpy(word, VARDATA_ANY(slice), WORD_LEN);
	PG_FREE_IF_COPY(slice, 0);
	return true;
}

PG_FUNCTION_INFO_V1(hotblocks_address);
Datum
hotblocks_address(PG_FUNCTION_ARGS)
{
	uint8		word[WORD_LEN];
	bytea	   *result;

	if (!word_arg(fcinfo, word) || (result = word_address(word)) == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(result);
}

/* Big-endian 256 bits as numeric, through the stored form of quantities. */
static Datum
word_numeric(FunctionCallInfo fcinfo, const uint8 word[WORD_LEN])
{
	HbValueType *vt = fcinfo->flinfo->fn_extra;
	uint8		num[1 + WORD_LEN];
	int			zeros = 0;
	HbSlice		slice;

	if (vt == NULL)
	{
		vt = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(HbValueType));
		hb_value_type_init(vt, NUMERICOID, -1, false, fcinfo->flinfo->fn_mcxt);
		fcinfo->flinfo->fn_extra = vt;
	}
	while (zeros < WORD_LEN && word[zeros] == 0)
		zeros++;
	num[0] = (uint8) (WORD_LEN - zeros);
	memcpy(num + 1, word + zeros, WORD_LEN - zeros);
	slice.data = num;
	slice.len = 1 + WORD_LEN - zeros;
	return hb_value_from_bytes(vt, slice, "word");
}

PG_FUNCTION_INFO_V1(hotblocks_uint256);
Datum
hotblocks_uint256(PG_FUNCTION_ARGS)
{
	uint8		word[WORD_LEN];

	if (!word_arg(fcinfo, word))
		PG_RETURN_NULL();
	return word_numeric(fcinfo, word);
}

PG_FUNCTION_INFO_V1(hotblocks_int256);
Datum
hotblocks_int256(PG_FUNCTION_ARGS)
{
	uint8		word[WORD_LEN];
	int			carry = 1;

	if (!word_arg(fcinfo, word))
		PG_RETURN_NULL();
	if ((word[0] & 0x80) == 0)
		return word_numeric(fcinfo, word);

	/* two's complement: negate, convert, negate */
	for (int i = WORD_LEN - 1; i >= 0; i--)
	{
		carry += (uint8) ~word[i];
		word[i] = (uint8) carry;
		carry >>= 8;
	}
	return DirectFunctionCall1(numeric_uminus, word_numeric(fcinfo, word));
}
