/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls of this machine by name, in a table that the build makes from the kernel's
 * header.
 */
#ifndef COMMON_TRACER_SYSCALLS_H
#define COMMON_TRACER_SYSCALLS_H

#include <stdint.h>

#define SYSCALL_ALL (-1)

struct syscall_name {
	const char *name; /* NULL in the entry behind the last one */
	int number;
};

extern const struct syscall_name syscall_names[];

/* Parses a name, a number, or "" (SYSCALL_ALL). Fails with ERR_NOTFOUND. */
int syscall_read(const char *name, int64_t *number);

#endif
