/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that each daemon of a simulated world has allocated, all in one process. Memory
 * allocated while a daemon's callback runs (loop_running()) is charged to the daemon. The charge
 * ends when any daemon frees the block. heap_wrap.c wraps malloc() and similar functions at link
 * time. Allocations within libraries are not counted.
 */
#ifndef SIM_WORLD_HEAP_H
#define SIM_WORLD_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct loop;

/*
 * The account of one host, which is the maker of its part of the loop (loop_part_set_maker()). It
 * outlives everything that is charged to it.
 */
struct heap_account {
	size_t bytes, most;
};

/*
 * Counts from now on in that loop; NULL: stops counting. A process counts in one loop at a time;
 * accounts outlive it.
 */
void heap_watch(const struct loop *l);
bool heap_is_watched(void);

/* Returns how many bytes to allocate for n bytes. */
size_t heap_room(size_t n);

/* Charges p, which was allocated with heap_room(), to the running daemon. NULL is accepted. */
void *heap_charge(void *p);

/*
 * Called before p is freed or grows, from any allocation. NULL is accepted. Returns true if p was
 * charged to an account.
 */
bool heap_discharge(void *p);

#endif
