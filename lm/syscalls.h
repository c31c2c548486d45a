/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls of this machine by their names: a table that the build makes of the kernel's header. */
#ifndef LM_SYSCALLS_H
#define LM_SYSCALLS_H

struct syscall_name {
	const char *name; /* NULL ends the table */
	int number;
};

extern const struct syscall_name syscall_names[];

#endif
