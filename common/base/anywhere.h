/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replacements for functions that an old glibc or musl lacks, in libraries that are loaded into
 * other programs. No source calls them by name: mk/anywhere redirects calls by the list
 * anywhere.names. Each behaves like the function of its name.
 */
#ifndef COMMON_BASE_ANYWHERE_H
#define COMMON_BASE_ANYWHERE_H

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

int anywhere_stat(const char *path, struct stat *st);
int anywhere_lstat(const char *path, struct stat *st);
int anywhere_fstat(int fd, struct stat *st);
int anywhere_memfd_create(const char *name, unsigned flags);
ssize_t anywhere_getrandom(void *out, size_t n, unsigned flags);
void *anywhere_reallocarray(void *p, size_t n, size_t size);
char *anywhere_strerror_r(int code, char *out, size_t size);
void anywhere_explicit_bzero(void *p, size_t n);
int anywhere_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);

/* Returns ENOSYS if the C library has no such function. The caller continues without handlers. */
int anywhere_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

/* Functions of _FORTIFY_SOURCE. room: size of the destination; a longer write ends the process. */
void *anywhere_memcpy_chk(void *to, const void *from, size_t n, size_t room);
void *anywhere_memmove_chk(void *to, const void *from, size_t n, size_t room);
void *anywhere_memset_chk(void *to, int byte, size_t n, size_t room);
void anywhere_explicit_bzero_chk(void *p, size_t n, size_t room);
ssize_t anywhere_read_chk(int fd, void *out, size_t n, size_t room);
ssize_t anywhere_pread_chk(int fd, void *out, size_t n, off_t at, size_t room);
ssize_t anywhere_readlink_chk(const char *path, char *out, size_t n, size_t room);
int anywhere_fprintf_chk(FILE *to, int flag, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int anywhere_snprintf_chk(char *out, size_t n, int flag, size_t room, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
int anywhere_vsnprintf_chk(char *out, size_t n, int flag, size_t room, const char *fmt, va_list ap)
	__attribute__((format(printf, 5, 0)));

#endif
