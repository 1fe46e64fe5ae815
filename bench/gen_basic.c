/*
 * gen_basic.c
 *		Random numbers, populations, Keccak-256 and blooms, rows of CSV.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

uint64_t	gen_seed;
Out			blocks_out;
Out			txs_out;
Out			logs_out;

/* ---- random numbers: xoshiro256**, seeded by splitmix64 ---- */

static uint64_t state[4];

uint64_t
mix64(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

void
rnd_start(uint64_t seed)
{
	gen_seed = mix64(seed);
	for (int i = 0; i < 4; i++)
		state[i] = mix64(gen_seed + i);
}

uint64_t
rnd(void)
{
	uint64_t	x = state[1] * 5;
	uint64_t	t = state[1] << 17;
	uint64_t	result = ((x << 7) | (x >> 57)) * 9;

	state[2] ^= state[0];
	state[3] ^= state[1];
	state[1] ^= state[2];
	state[0] ^= state[3];
	state[2] ^= t;
	state[3] = (state[3] << 45) | (state[3] >> 19);
	return result;
}

double
uniform(void)
{
	return (rnd() >> 11) * (1.0 / 9007199254740992.0);
}

uint64_t
below(uint64_t n)
{
	return (uint64_t) (((unsigned __int128) rnd() * n) >> 64);
}

int
chance(double p)
{
	return uniform() < p;
}

/* A rank in 0..n-1 with weight 1 / (rank + 1) ^ s, by the inverse integral. */
uint64_t
zipf(uint64_t n, double s)
{
	double		u = uniform();
	double		r;

	if (s == 1.0)
		r = exp(u * log(n + 1.0)) - 1.0;
	else
		r = pow((pow(n + 1.0, 1.0 - s) - 1.0) * u + 1.0, 1.0 / (1.0 - s)) - 1.0;
	return r >= n ? n - 1 : (uint64_t) r;
}

void
random_bytes(uint8_t *out, int n)
{
	for (; n >= 8; n -= 8, out += 8)
	{
		uint64_t	r = rnd();

		memcpy(out, &r, 8);
	}
	if (n > 0)
	{
		uint64_t	r = rnd();

		memcpy(out, &r, n);
	}
}

/* The i-th member of a population: the same bytes each time it is asked for. */
void
member(int population, uint64_t i, uint8_t *out, int n)
{
	uint64_t	x = mix64(gen_seed ^ mix64(((uint64_t) population << 56) ^ i));

	while (n > 0)
	{
		int			take = n < 8 ? n : 8;

		x = mix64(x);
		memcpy(out, &x, take);
		out += take;
		n -= take;
	}
}

/* ---- Keccak-256 of one short block, and blooms of it ---- */

static void
keccak_f(uint64_t a[25])
{
	static const uint64_t rc[24] = {
		UINT64_C(0x0000000000000001), UINT64_C(0x0000000000008082),
		UINT64_C(0x800000000000808a), UINT64_C(0x8000000080008000),
		UINT64_C(0x000000000000808b), UINT64_C(0x0000000080000001),
		UINT64_C(0x8000000080008081), UINT64_C(0x8000000000008009),
		UINT64_C(0x000000000000008a), UINT64_C(0x0000000000000088),
		UINT64_C(0x0000000080008009), UINT64_C(0x000000008000000a),
		UINT64_C(0x000000008000808b), UINT64_C(0x800000000000008b),
		UINT64_C(0x8000000000008089), UINT64_C(0x8000000000008003),
		UINT64_C(0x8000000000008002), UINT64_C(0x8000000000000080),
		UINT64_C(0x000000000000800a), UINT64_C(0x800000008000000a),
		UINT64_C(0x8000000080008081), UINT64_C(0x8000000000008080),
		UINT64_C(0x0000000080000001), UINT64_C(0x8000000080008008)
	};
	static const int rot[24] = {
		1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14,
		27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44
	};
	static const int lane[24] = {
		10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4,
		15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1
	};

	for (int round = 0; round < 24; round++)
	{
		uint64_t	c[5];
		uint64_t	t;

		for (int i = 0; i < 5; i++)
			c[i] = a[i] ^ a[i + 5] ^ a[i + 10] ^ a[i + 15] ^ a[i + 20];
		for (int i = 0; i < 5; i++)
		{
			uint64_t	d = c[(i + 1) % 5];

			d = c[(i + 4) % 5] ^ ((d << 1) | (d >> 63));
			for (int j = i; j < 25; j += 5)
				a[j] ^= d;
		}
		t = a[1];
		for (int i = 0; i < 24; i++)
		{
			uint64_t	next = a[lane[i]];

			a[lane[i]] = (t << rot[i]) | (t >> (64 - rot[i]));
			t = next;
		}
		for (int j = 0; j < 25; j += 5)
		{
			memcpy(c, a + j, sizeof(c));
			for (int i = 0; i < 5; i++)
				a[j + i] = c[i] ^ (~c[(i + 1) % 5] & c[(i + 2) % 5]);
		}
		a[0] ^= rc[round];
	}
}

/* data is shorter than the rate, 136 bytes: addresses, topics, signatures. */
void
keccak256(const uint8_t *data, size_t len, uint8_t out[32])
{
	uint64_t	a[25] = {0};
	uint8_t		block[136] = {0};

	memcpy(block, data, len);
	block[len] = 0x01;
	block[135] |= 0x80;
	memcpy(a, block, sizeof(block));	/* lanes are little-endian */
	keccak_f(a);
	memcpy(out, a, 32);
}

/*
 * Three bit numbers of an item.  Hot items come again and again: a small
 * direct-mapped cache spares nine hashes in ten.
 */
void
bloom_add(uint8_t bloom[256], const uint8_t *item, int len)
{
	static struct
	{
		uint8_t		item[32];
		int			len;
		uint16_t	bit[3];
	}			cache[1 << 16];
	uint64_t	k[4] = {0};
	unsigned	slot;

	memcpy(k, item, len);
	slot = mix64(k[0] ^ mix64(k[1] ^ mix64(k[2] ^ mix64(k[3])))) >> 48;
	if (cache[slot].len != len || memcmp(cache[slot].item, item, len) != 0)
	{
		uint8_t		hash[32];

		keccak256(item, len, hash);
		memcpy(cache[slot].item, item, len);
		cache[slot].len = len;
		for (int i = 0; i < 3; i++)
			cache[slot].bit[i] = ((hash[2 * i] << 8) | hash[2 * i + 1]) & 2047;
	}
	for (int i = 0; i < 3; i++)
	{
		int			bit = cache[slot].bit[i];

		bloom[255 - bit / 8] |= 1 << (bit % 8);
	}
}

/* ---- output ---- */

void
out_open(Out *out, const char *dir, const char *name)
{
	char		path[4096];

	snprintf(path, sizeof(path), "%s/%s.csv", dir, name);
	out->file = fopen(path, "w");
	if (out->file == NULL)
	{
		perror(path);
		exit(1);
	}
	setvbuf(out->file, NULL, _IOFBF, 1 << 20);
}

void
out_close(Out *out)
{
	if (ferror(out->file) || fclose(out->file) != 0)
	{
		perror("could not write");
		exit(1);
	}
}

/* Field separators come before fields that are not the first of their row. */
void
put_hex(Out *out, const uint8_t *data, int len)
{
	static const char digits[] = "0123456789abcdef";
	char		buf[2048];
	int			n = 0;

	fwrite(",\\x", 1, 3, out->file);
	for (int i = 0; i < len; i++)
	{
		buf[n++] = digits[data[i] >> 4];
		buf[n++] = digits[data[i] & 15];
		if (n == sizeof(buf))
		{
			fwrite(buf, 1, n, out->file);
			n = 0;
		}
	}
	fwrite(buf, 1, n, out->file);
}

void
put_null(Out *out)
{
	putc(',', out->file);
}

void
put_format(Out *out, const char *format,...)
{
	va_list		args;

	va_start(args, format);
	vfprintf(out->file, format, args);
	va_end(args);
}

void
put_int(Out *out, int64_t value)
{
	put_format(out, ",%" PRId64, value);
}

void
put_u128(Out *out, unsigned __int128 value)
{
	char		buf[48];
	char	   *p = buf + sizeof(buf);

	do
		*--p = '0' + (int) (value % 10);
	while ((value /= 10) != 0);
	*--p = ',';
	fwrite(p, 1, buf + sizeof(buf) - p, out->file);
}

void
put_time(Out *out, int64_t t)
{
	/* Days to a date, after Howard Hinnant's civil_from_days. */
	int64_t		z = t / 86400 + 719468;
	int64_t		era = z / 146097;
	int64_t		doe = z - era * 146097;
	int64_t		yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t		doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t		mp = (5 * doy + 2) / 153;
	int			day = doy - (153 * mp + 2) / 5 + 1;
	int			month = mp < 10 ? mp + 3 : mp - 9;
	int			year = yoe + era * 400 + (month <= 2);

	put_format(out, ",%04d-%02d-%02d %02d:%02d:%02d+00", year, month, day,
			   (int) (t / 3600 % 24), (int) (t / 60 % 60), (int) (t % 60));
}
