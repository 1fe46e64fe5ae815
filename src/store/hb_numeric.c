/*
 * hb_numeric.c
 *		numeric to the num form and back, without going through text.
 *
 * numeric's stored form (which pg_upgrade keeps) is a header of two or four
 * bytes and digits in base 10,000, the first at weight w meaning 10,000^w.
 * Sixteen decimals at a time are multiplied into, or divided out of, 256 bits
 * in four words; numbers below 10^16, which most are, take one word only.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_numeric.h"

/* numeric.c keeps these to itself. */
#define NUM_SPECIAL		0xC000
#define NUM_SHORT		0x8000
#define NUM_NEGATIVE	0x4000
#define NUM_DSCALE_MASK	0x3FFF
#define NUM_SHORT_SIGN	0x2000
#define NUM_SHORT_DSCALE_MASK	0x1F80
#define NUM_SHORT_WEIGHT_SIGN	0x0040
#define NUM_SHORT_WEIGHT_MASK	0x003F

#define NUM_BASE		10000
#define NUM_GROUP		UINT64CONST(10000000000000000)	/* 10^16 */
#define NUM_GROUP_DIGITS 4		/* digits of base 10,000 in a group */
#define NUM_MAX_WEIGHT	19		/* 10,000^20 > 2^256 > 10,000^19 */

static uint16
num_get16(const char *p)
{
	uint16		v;

	memcpy(&v, p, sizeof(v));
	return v;
}

int
hb_uint64_to_num(uint64 value, uint8_t out[HB_NUM_MAX])
{
	int			len = 0;

	while (len < 8 && (len == 0 ? value : value >> (8 * len)) != 0)
		len++;
	out[0] = len;
	for (int i = 0; i < len; i++)
		out[1 + i] = (uint8_t) (value >> (8 * (len - 1 - i)));
	return 1 + len;
}

/*
 * words = words * factor + add; false when that needs more than 256 bits.
 * words[0] is the lowest.
 */
static bool
num_multiply_add(uint64 words[4], uint64 factor, uint64 add)
{
	unsigned __int128 carry = add;

	for (int i = 0; i < 4; i++)
	{
		carry += (unsigned __int128) words[i] * factor;
		words[i] = (uint64) carry;
		carry >>= 64;
	}
	return carry == 0;
}

int
hb_numeric_to_num(Numeric value, uint8_t out[HB_NUM_MAX])
{
	const char *data = VARDATA_ANY(value);
	int			size = VARSIZE_ANY_EXHDR(value);
	uint16		header = num_get16(data);
	int			weight;
	int			ndigits;
	uint64		words[4] = {0};
	uint8_t		bytes[32];
	int			skip = 0;

	if ((header & NUM_SPECIAL) == NUM_SPECIAL)
		return 0;
	if (header & NUM_SHORT)
	{
		if (header & (NUM_SHORT_SIGN | NUM_SHORT_DSCALE_MASK))
			return 0;
		weight = header & NUM_SHORT_WEIGHT_MASK;
		if (header & NUM_SHORT_WEIGHT_SIGN)
			weight -= NUM_SHORT_WEIGHT_MASK + 1;
		data += sizeof(uint16);
		size -= sizeof(uint16);
	}
	else
	{
		if (header & (NUM_NEGATIVE | NUM_DSCALE_MASK))
			return 0;
		weight = (int16) num_get16(data + sizeof(uint16));
		data += 2 * sizeof(uint16);
		size -= 2 * sizeof(uint16);
	}
	ndigits = size / sizeof(int16);
	if (ndigits == 0)
		return hb_uint64_to_num(0, out);
	/* digits behind the point there are none, with a scale of zero */
	if (weight > NUM_MAX_WEIGHT || weight < ndigits - 1)
		return 0;

	if (weight < NUM_GROUP_DIGITS)
	{
		uint64		small = 0;

		for (int i = 0; i <= weight; i++)
			small = small * NUM_BASE + (i < ndigits ? num_get16(data + 2 * i) : 0);
		return hb_uint64_to_num(small, out);
	}

	for (int i = 0; i <= weight;)
	{
		uint64		group = 0;
		uint64		factor = 1;

		for (int j = 0; j < NUM_GROUP_DIGITS && i <= weight; j++, i++)
		{
			group = group * NUM_BASE + (i < ndigits ? num_get16(data + 2 * i) : 0);
			factor *= NUM_BASE;
		}
		if (!num_multiply_add(words, factor, group))
			return 0;
	}

	for (int i = 0; i < 32; i++)
		bytes[i] = (uint8_t) (words[3 - i / 8] >> (8 * (7 - i % 8)));
	while (skip < 32 && bytes[skip] == 0)
		skip++;
	out[0] = 32 - skip;
	memcpy(out + 1, bytes + skip, 32 - skip);
	return 1 + 32 - skip;
}

/* A numeric from n digits, the last first, none of the last nonzero ones missing. */
static Numeric
num_make(const uint16 *digits, int n)
{
	int			trailing = 0;
	int			size;
	char	   *result;
	uint16		header;

	while (n > 0 && digits[n - 1] == 0)
		n--;
	while (trailing < n && digits[trailing] == 0)
		trailing++;
	size = VARHDRSZ + sizeof(uint16) + (n - trailing) * sizeof(int16);
	result = palloc(size);
	SET_VARSIZE(result, size);
	header = NUM_SHORT | (n > 0 ? (n - 1) & NUM_SHORT_WEIGHT_MASK : 0);
	memcpy(VARDATA(result), &header, sizeof(header));
	for (int i = n - 1, at = VARHDRSZ + sizeof(uint16); i >= trailing; i--, at += 2)
		memcpy(result + at, &digits[i], sizeof(uint16));
	return (Numeric) result;
}

Numeric
hb_numeric_from_uint64(uint64 value)
{
	uint16		digits[5];
	int			n = 0;

	while (value > 0)
	{
		digits[n++] = (uint16) (value % NUM_BASE);
		value /= NUM_BASE;
	}
	return num_make(digits, n);
}

Numeric
hb_numeric_from_bytes(const uint8_t *bytes, int len)
{
	uint64		words[4] = {0};
	uint16		digits[24];
	int			n = 0;
	int			top = 3;

	Assert(len <= 32);
	for (int i = 0; i < len; i++)
		words[(len - 1 - i) / 8] |= (uint64) bytes[i] << (8 * ((len - 1 - i) % 8));
	while (top >= 0 && words[top] == 0)
		top--;
	if (top <= 0)
		return hb_numeric_from_uint64(words[0]);

	while (top >= 0)
	{
		unsigned __int128 rest = 0;
		uint64		group;

		for (int i = top; i >= 0; i--)
		{
			rest = (rest << 64) | words[i];
			words[i] = (uint64) (rest / NUM_GROUP);
			rest %= NUM_GROUP;
		}
		group = (uint64) rest;
		for (int j = 0; j < NUM_GROUP_DIGITS; j++)
		{
			digits[n++] = (uint16) (group % NUM_BASE);
			group /= NUM_BASE;
		}
		while (top >= 0 && words[top] == 0)
			top--;
	}
	return num_make(digits, n);
}
