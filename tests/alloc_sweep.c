/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/alloc_sweep.h"

#include "common/base/wrapped.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_size_t fail_at, seen;
static atomic_bool fail_rest, has_failed;

static void arm(size_t k, bool rest)
{
	fail_at = k;
	fail_rest = rest;
	seen = 0;
	has_failed = false;
}

void alloc_sweep_arm(size_t k)
{
	arm(k, false);
}

void alloc_sweep_arm_all(size_t k)
{
	arm(k, true);
}

void alloc_sweep_pause(void)
{
	fail_at = 0;
}

bool alloc_sweep_has_failed(void)
{
	return has_failed;
}

size_t alloc_sweep_count(void)
{
	return seen;
}

bool alloc_sweep_again(size_t k)
{
	bool again = has_failed;

	(void)k;
	alloc_sweep_pause();
	return again;
}

static bool refuse(void)
{
	size_t at = ++seen, k = fail_at;

	if (!k || at < k || (at > k && !fail_rest))
		return false;
	has_failed = true;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t n)
{
	return refuse() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t item)
{
	return refuse() ? NULL : __real_calloc(n, item);
}

void *__wrap_realloc(void *p, size_t n)
{
	return refuse() ? NULL : __real_realloc(p, n);
}

void *__wrap_reallocarray(void *p, size_t n, size_t item)
{
	return refuse() ? NULL : __real_reallocarray(p, n, item);
}

char *__wrap_strdup(const char *s)
{
	return refuse() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t n)
{
	return refuse() ? NULL : __real_strndup(s, n);
}
