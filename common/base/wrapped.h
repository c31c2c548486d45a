/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator's functions under the names of a linker's --wrap. __real_ is the C library's
 * function, and __wrap_ is the function that replaces it in the program.
 */
#ifndef COMMON_BASE_WRAPPED_H
#define COMMON_BASE_WRAPPED_H

#include <stddef.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_reallocarray(void *p, size_t n, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
void __wrap_free(void *p);

#endif
