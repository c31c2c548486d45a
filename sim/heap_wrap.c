/* SPDX-License-Identifier: Apache-2.0 */
/* Wrappers of malloc() and similar functions, which call heap.h; linked with --wrap. */
#include "sim/world/heap.h"

#include "common/base/wrapped.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *__wrap_malloc(size_t n)
{
	return heap_charge(__real_malloc(heap_room(n)));
}

void *__wrap_calloc(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return __real_calloc(n, size); /* the real function reports the failure */
	return heap_charge(__real_calloc(1, heap_room(bytes)));
}

void *__wrap_realloc(void *p, size_t n)
{
	bool was_charged = heap_discharge(p);
	void *q = __real_realloc(p, heap_room(n));

	if (!q && was_charged)
		heap_charge(p); /* the old block remains valid */
	return heap_charge(q);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? NULL : __wrap_realloc(p, bytes);
}

char *__wrap_strndup(const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *p = __wrap_malloc(length + 1);

	if (!p)
		return NULL;
	memcpy(p, s, length);
	p[length] = 0;
	return p;
}

char *__wrap_strdup(const char *s)
{
	return __wrap_strndup(s, SIZE_MAX);
}

void __wrap_free(void *p)
{
	heap_discharge(p);
	__real_free(p);
}
