/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coroutines that take turns on one thread: the active layers of a simulation. A stack takes memory
 * only as far as it is used. Below it there is a guard page. Before Linux 6.13 only the first
 * thousands of stacks have one, and the others have a canary word.
 */
#ifndef NEKO_SIMULATED_CORO_H
#define NEKO_SIMULATED_CORO_H

#include <stdbool.h>
#include <stddef.h>

struct coro;
struct coro_stacks;

/* Makes the stacks for all coroutines of a simulation. Returns NULL without memory. */
struct coro_stacks *coro_stacks_new(size_t stack_bytes);
/* Must be called after all its coroutines were freed. */
void coro_stacks_free(struct coro_stacks *s);

/* fn(arg) starts in the first turn. Returns NULL without memory. */
struct coro *coro_new(struct coro_stacks *s, void (*fn)(void *), void *arg);

/* Frees a coroutine in any state, without unwinding its stack. */
void coro_free(struct coro_stacks *s, struct coro *c);

/*
 * Called from outside: runs the coroutine until it yields or returns. Returns false if it has
 * returned.
 */
bool coro_turn(struct coro *c);

/* Called by the coroutine c itself. */
void coro_yield(struct coro *c);

/* True if the address is below the coroutine's stack. Signal-safe. */
bool coro_is_below(const struct coro *c, const void *address);

/* True if the coroutine has written below its stack, which was too small then. */
bool coro_is_broken(const struct coro *c);

#endif
