/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes of a program by file system, counted where the program calls the C library.
 *
 * The rules of this library: no lock, no allocation, no wait. errno is preserved. The program gets
 * the result of the real call, whatever happens here. The kernel says at each call what is behind
 * the descriptor. So nothing is remembered of descriptors, which may be closed, duplicated,
 * received or made in ways that nothing here sees.
 */
#ifndef LIBIO_IO_H
#define LIBIO_IO_H

#include "common/ring/segmount.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* NULL: off. Else the segment's table, or a state of mounts.c that is none. */
extern struct seg_mount *io_table;

/* The price of a call while the library is off. */
static inline __attribute__((always_inline)) bool io_is_on(void)
{
	return __builtin_expect(__atomic_load_n(&io_table, __ATOMIC_RELAXED) != NULL, 0);
}

enum io_way {
	IO_IN = 1,
	IO_OUT = 2,
	IO_SILENT = 4, /* the kernel's accounting of the process leaves the call out */
};

/* A call on the descriptor has ended with the result n, and errno. */
void io_moved(int fd, enum io_way way, ssize_t n);

/* The program restricts its own system calls: none is made here from now on, in children neither.
 */
void io_restricted(void);

/* Begins to count, if the process runs with libomig, and a monitor is named. */
void io_begin(void);

#pragma GCC visibility pop

#endif
