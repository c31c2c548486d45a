/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"

#include "common/base/err.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int array_grow(void *array, size_t *cap, size_t need, size_t item, size_t max)
{
	size_t grown = *cap > SIZE_MAX / 2 ? SIZE_MAX : *cap * 2;
	void *old, *p;

	if (need > max)
		return -ERR_LIMIT;
	if (need <= *cap)
		return 0;
	if (grown < 8)
		grown = 8;
	if (grown > max)
		grown = max;
	if (grown < need)
		grown = need;
	/* memcpy: `array` points to a pointer of any type. */
	memcpy(&old, array, sizeof(old));
	p = reallocarray(old, grown, item);
	if (!p)
		return -ERR_NOMEM;
	memset((char *)p + *cap * item, 0, (grown - *cap) * item);
	memcpy(array, &p, sizeof(p));
	*cap = grown;
	return 0;
}

int array_order_int32(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

int array_order_int64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int array_order_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}
