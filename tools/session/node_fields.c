/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/session/node_fields.h"

/* Values of each bit. */
static const unsigned char values[] = { 1, 5, 6, 3, 5, 2, 1, 3, 8, 3, 6, 6, 7, 4, 5, 5, 3 };

size_t node_field_at(enum node_field field, unsigned flags)
{
	size_t at = field & 7;

	for (unsigned bit = 0; bit < (unsigned)field >> 3; bit++)
		if (flags >> bit & 1)
			at += values[bit];
	return at;
}
