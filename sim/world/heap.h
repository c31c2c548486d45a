/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each daemon of a simulated world has allocated. All run in one process. What is allocated
 * while a daemon's work is under way (loop_running()) is charged to it. The charge ends when the
 * block is freed, also by another one. heap_wrap.c puts this around malloc and the like when a
 * program is linked. What libraries allocate themselves is not seen.
 */
#ifndef SIM_WORLD_HEAP_H
#define SIM_WORLD_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct loop;

/* The account of one host: the maker of its part of the loop (loop_part_set_maker()). Outlives all
 * that is charged to it. */
struct heap_account {
	size_t bytes, most;
};

/* From now on, in that loop; NULL: no longer. One at a time in a process; accounts
 * outlive it. */
void heap_watch(const struct loop *l);
bool heap_is_watched(void);

/* How much to allocate for n bytes. */
size_t heap_room(size_t n);

/* p, that was allocated with heap_room(): from now on it is charged to whose work is under way.
 * NULL is fine. */
void *heap_charge(void *p);

/* Before p is freed or grows, wherever it is from. NULL is fine. Whether it was charged to
 * any account. */
bool heap_discharge(void *p);

#endif
