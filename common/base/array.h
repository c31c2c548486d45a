/* SPDX-License-Identifier: Apache-2.0 */
/* Growing plain arrays, with the overflow checks in one place. */
#ifndef COMMON_BASE_ARRAY_H
#define COMMON_BASE_ARRAY_H

#include <stddef.h>

/*
 * Makes room for `need` items of `item` bytes in the array at `array` (which points to the array's
 * pointer). The capacity at least doubles; new items are zero. Fails with ERR_LIMIT if need > max,
 * and with ERR_NOMEM, without a change. O(1) amortised.
 *
 *	rc = array_grow(&f->node, &f->cap, f->n + 1, sizeof(*f->node), FLOW_NODES_MAX);
 */
int array_grow(void *array, size_t *cap, size_t need, size_t item, size_t max);

/* Comparison for qsort(): ascending. No value may be NaN. */
int array_order_int32(const void *a, const void *b);
int array_order_int64(const void *a, const void *b);
int array_order_double(const void *a, const void *b);

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
