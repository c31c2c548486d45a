/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fails the k-th allocation. Every unit test is linked with --wrap for malloc, calloc, realloc,
 * reallocarray, strdup and strndup. So product code needs no hook of its own. Allocations inside
 * shared libraries are not seen.
 *
 *	ALLOC_SWEEP(k) {
 *		rc = thing_open(..., &thing, &e);	// must fail cleanly or succeed
 *		alloc_sweep_pause();			// assertions may allocate
 *		ck_assert(!rc || rc == -ERR_NOMEM);
 *		thing_free(thing);
 *	}
 *
 * The body runs for k = 1, 2, ... until a round in which nothing failed.
 */
#ifndef TESTS_ALLOC_SWEEP_H
#define TESTS_ALLOC_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The k-th allocation from now on (1 = the next) returns NULL; those after it work again. 0 = none.
 */
void alloc_sweep_arm(size_t k);

/* As above, but every allocation from the k-th on fails. */
void alloc_sweep_arm_all(size_t k);

/* No allocation fails until the next arming. */
void alloc_sweep_pause(void);

/* True if an allocation has failed since the last arming. */
bool alloc_sweep_has_failed(void);

/* Returns the number of allocations since the last arming. */
size_t alloc_sweep_count(void);

/* For the macro. */
bool alloc_sweep_again(size_t k);

#define ALLOC_SWEEP(k) \
	for (size_t k = 1; (k == 1 || alloc_sweep_again(k)) && (alloc_sweep_arm(k), 1); k++)

#endif
