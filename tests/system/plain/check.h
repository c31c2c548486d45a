/* SPDX-License-Identifier: Apache-2.0 */
/* For helpers of the unit tests that a plain program uses: a wrong assertion ends it. */
#ifndef TESTS_SYSTEM_PLAIN_CHECK_H
#define TESTS_SYSTEM_PLAIN_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define ck_assert(what) \
	((what) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what), exit(2)))
#define ck_assert_int_eq(a, b) ck_assert((a) == (b))
#define ck_assert_int_gt(a, b) ck_assert((a) > (b))
#define ck_assert_ptr_nonnull(p) ck_assert((p) != NULL)

#endif
