/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that each daemon of a simulated world has allocated. All run in one process. Memory
 * allocated while a daemon's callback runs (loop_running()) is charged to it. The charge ends when
 * the block is freed, also by another one. heap_wrap.c puts this around malloc and similar
 * functions at link time. Allocations within libraries are not counted.
 */
#ifndef SIM_WORLD_HEAP_H
#define SIM_WORLD_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct loop;

/*
 * The account of one host: the maker of its part of the loop (loop_part_set_maker()). Outlives
 * everything that is charged to it.
 */
struct heap_account {
	size_t bytes, most;
};

/*
 * Counts from now on, in that loop; NULL: no longer. One at a time in a process; accounts outlive
 * it.
 */
void heap_watch(const struct loop *l);
bool heap_is_watched(void);

/* Returns how much to allocate for n bytes. */
size_t heap_room(size_t n);

/* Charges p, allocated with heap_room(), to the running daemon. NULL is fine. */
void *heap_charge(void *p);

/*
 * Called before p is freed or grows, wherever it is from. NULL is fine. Returns true if it was
 * charged to any account.
 */
bool heap_discharge(void *p);

#endif
