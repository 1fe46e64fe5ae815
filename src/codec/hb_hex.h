/*
 * hb_hex.h
 *		Hexadecimal digits.
 */
#ifndef HB_HEX_H
#define HB_HEX_H

/* The value of a digit in either case, -1 for any other character. */
static inline int
hb_hex_digit(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

#endif							/* HB_HEX_H */
