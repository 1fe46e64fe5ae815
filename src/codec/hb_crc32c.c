/*
 * hb_crc32c.c
 *		CRC-32C with the processor's instruction where there is one, and by
 *		eight tables ("slicing by 8") elsewhere.
 */
#include "codec/hb_crc32c.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HB_CRC_SSE42 1
#include <nmmintrin.h>
#endif

#define HB_CRC_POLY 0x82F63B78u		/* reflected Castagnoli polynomial */

static uint32_t crc_table[8][256];
static volatile bool crc_table_ready = false;

static void
crc_table_fill(void)
{
	int			i;
	int			k;

	for (i = 0; i < 256; i++)
	{
		uint32_t	c = (uint32_t) i;

		for (k = 0; k < 8; k++)
			c = (c >> 1) ^ (HB_CRC_POLY & (~(c & 1) + 1));
		crc_table[0][i] = c;
	}
	for (i = 0; i < 256; i++)
	{
		for (k = 1; k < 8; k++)
			crc_table[k][i] = (crc_table[k - 1][i] >> 8) ^
				crc_table[0][crc_table[k - 1][i] & 0xff];
	}
	crc_table_ready = true;
}

uint32_t
hb_crc32c_soft(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	if (!crc_table_ready)
		crc_table_fill();
	crc = ~crc;
	while (len >= 8)
	{
		uint32_t	lo = hb_get32(p) ^ crc;
		uint32_t	hi = hb_get32(p + 4);

		crc = crc_table[7][lo & 0xff] ^ crc_table[6][(lo >> 8) & 0xff] ^
			crc_table[5][(lo >> 16) & 0xff] ^ crc_table[4][lo >> 24] ^
			crc_table[3][hi & 0xff] ^ crc_table[2][(hi >> 8) & 0xff] ^
			crc_table[1][(hi >> 16) & 0xff] ^ crc_table[0][hi >> 24];
		p += 8;
		len -= 8;
	}
	while (len-- > 0)
		crc = (crc >> 8) ^ crc_table[0][(crc ^ *p++) & 0xff];
	return ~crc;
}

#ifdef HB_CRC_SSE42

/*
 * The instruction has a latency of three cycles and a throughput of one, so
 * three streams of CRC_LANE bytes run side by side; they are joined by
 * advancing a stream's register over the bytes that follow it, which is
 * linear: four table look-ups (zlib's crc32_combine as tables).
 */
#define CRC_LANE 256

static uint32_t crc_shift[2][4][256];	/* over 1 and 2 lanes of zeros */
static volatile bool crc_shift_ready = false;

__attribute__((target("sse4.2")))
static void
crc_shift_fill(void)
{
	int			lanes;
	int			k;
	int			i;

	for (lanes = 1; lanes <= 2; lanes++)
	{
		for (k = 0; k < 4; k++)
		{
			for (i = 0; i < 256; i++)
			{
				uint64_t	c = (uint64_t) i << (8 * k);
				int			n;

				for (n = 0; n < lanes * CRC_LANE / 8; n++)
					c = _mm_crc32_u64(c, 0);
				crc_shift[lanes - 1][k][i] = (uint32_t) c;
			}
		}
	}
	crc_shift_ready = true;
}

static inline uint32_t
crc_advance(int lanes, uint32_t crc)
{
	const uint32_t (*t)[256] = (const uint32_t (*)[256]) crc_shift[lanes - 1];

	return t[0][crc & 0xff] ^ t[1][(crc >> 8) & 0xff] ^
		t[2][(crc >> 16) & 0xff] ^ t[3][crc >> 24];
}

static inline uint64_t
crc_load64(const uint8_t *p)
{
	uint64_t	v;

	memcpy(&v, p, 8);
	return v;
}

__attribute__((target("sse4.2")))
static uint32_t
crc_sse42(uint32_t crc, const uint8_t *p, size_t len)
{
	uint64_t	c = (uint32_t) ~crc;

	while (len >= 3 * CRC_LANE)
	{
		uint64_t	c1 = 0;
		uint64_t	c2 = 0;
		size_t		i;

		if (!crc_shift_ready)
			crc_shift_fill();
		for (i = 0; i < CRC_LANE; i += 8)
		{
			c = _mm_crc32_u64(c, crc_load64(p + i));
			c1 = _mm_crc32_u64(c1, crc_load64(p + CRC_LANE + i));
			c2 = _mm_crc32_u64(c2, crc_load64(p + 2 * CRC_LANE + i));
		}
		c = crc_advance(2, (uint32_t) c) ^ crc_advance(1, (uint32_t) c1) ^ c2;
		p += 3 * CRC_LANE;
		len -= 3 * CRC_LANE;
	}
	while (len >= 8)
	{
		c = _mm_crc32_u64(c, crc_load64(p));
		p += 8;
		len -= 8;
	}
	while (len-- > 0)
		c = _mm_crc32_u8((uint32_t) c, *p++);
	return ~(uint32_t) c;
}

#endif							/* HB_CRC_SSE42 */

uint32_t
hb_crc32c(uint32_t crc, const void *data, size_t len)
{
#ifdef HB_CRC_SSE42
	static int	have = -1;

	if (have < 0)
		have = __builtin_cpu_supports("sse4.2") ? 1 : 0;
	if (have)
		return crc_sse42(crc, data, len);
#endif
	return hb_crc32c_soft(crc, data, len);
}
