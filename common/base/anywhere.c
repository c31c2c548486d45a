/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/anywhere.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Declared by their plain names, because this file replaces the fortified forms. */
void *plain_memcpy(void *to, const void *from, size_t n) __asm__("memcpy");
void *plain_memmove(void *to, const void *from, size_t n) __asm__("memmove");
void *plain_memset(void *to, int byte, size_t n) __asm__("memset");
ssize_t plain_read(int fd, void *out, size_t n) __asm__("read");
ssize_t plain_pread(int fd, void *out, size_t n, off_t at) __asm__("pread");
ssize_t plain_readlink(const char *path, char *out, size_t n) __asm__("readlink");
int plain_vfprintf(FILE *to, const char *fmt, va_list ap) __asm__("vfprintf");
int plain_vsnprintf(char *out, size_t n, const char *fmt, va_list ap) __asm__("vsnprintf");
/* The variant of strerror_r() that returns a number, which glibc and musl both have. */
int number_strerror_r(int code, char *out, size_t size) __asm__("__xpg_strerror_r");

extern int __register_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void),
			     void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

int anywhere_stat(const char *path, struct stat *st)
{
	return (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, 0);
}

int anywhere_lstat(const char *path, struct stat *st)
{
	return (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int anywhere_fstat(int fd, struct stat *st)
{
	return (int)syscall(SYS_fstat, fd, st);
}

int anywhere_memfd_create(const char *name, unsigned flags)
{
	return (int)syscall(SYS_memfd_create, name, flags);
}

ssize_t anywhere_getrandom(void *out, size_t n, unsigned flags)
{
	return syscall(SYS_getrandom, out, n, flags);
}

void *anywhere_reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (!__builtin_mul_overflow(n, size, &bytes))
		return realloc(p, bytes);
	errno = ENOMEM;
	return NULL;
}

char *anywhere_strerror_r(int code, char *out, size_t size)
{
	if (size)
		out[0] = '\0';
	/* it also writes texts for unknown codes, and cut texts */
	number_strerror_r(code, out, size);
	return out;
}

void anywhere_explicit_bzero(void *p, size_t n)
{
	plain_memset(p, 0, n);
	__asm__ volatile("" ::"r"(p) : "memory");
}

/*
 * sigprocmask() also affects only the calling thread. It is in libc, so that a program without
 * threads needs no thread library.
 */
int anywhere_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	int saved = errno, rc = sigprocmask(how, set, old) ? errno : 0;

	errno = saved;
	return rc;
}

int anywhere_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
	return __register_atfork ? __register_atfork(before, in_parent, in_child, &__dso_handle)
				 : ENOSYS;
}

/* --- functions of _FORTIFY_SOURCE */

static void check_room(size_t n, size_t room)
{
	if (n > room)
		abort();
}

void *anywhere_memcpy_chk(void *to, const void *from, size_t n, size_t room)
{
	check_room(n, room);
	return plain_memcpy(to, from, n);
}

void *anywhere_memmove_chk(void *to, const void *from, size_t n, size_t room)
{
	check_room(n, room);
	return plain_memmove(to, from, n);
}

void *anywhere_memset_chk(void *to, int byte, size_t n, size_t room)
{
	check_room(n, room);
	return plain_memset(to, byte, n);
}

void anywhere_explicit_bzero_chk(void *p, size_t n, size_t room)
{
	check_room(n, room);
	anywhere_explicit_bzero(p, n);
}

ssize_t anywhere_read_chk(int fd, void *out, size_t n, size_t room)
{
	check_room(n, room);
	return plain_read(fd, out, n);
}

ssize_t anywhere_pread_chk(int fd, void *out, size_t n, off_t at, size_t room)
{
	check_room(n, room);
	return plain_pread(fd, out, n, at);
}

ssize_t anywhere_readlink_chk(const char *path, char *out, size_t n, size_t room)
{
	check_room(n, room);
	return plain_readlink(path, out, n);
}

int anywhere_fprintf_chk(FILE *to, int flag, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = plain_vfprintf(to, fmt, ap);
	va_end(ap);
	return rc;
}

/* six: the C library's __vsnprintf_chk() has six parameters. */
int anywhere_vsnprintf_chk(char *out, size_t n, int flag, size_t room, const char *fmt, va_list ap)
{
	check_room(n, room);
	return plain_vsnprintf(out, n, fmt, ap);
}

int anywhere_snprintf_chk(char *out, size_t n, int flag, size_t room, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = anywhere_vsnprintf_chk(out, n, flag, room, fmt, ap);
	va_end(ap);
	return rc;
}
