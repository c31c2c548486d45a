/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coroutines that take turns on one thread: the active layers of a simulation. A stack is touched
 * only as far as it is used. Below it there is a guard page. Before Linux 6.13 only the first
 * thousands have one; the others have a canary word.
 */
#ifndef NEKO_SIMULATED_CORO_H
#define NEKO_SIMULATED_CORO_H

#include <stdbool.h>
#include <stddef.h>

struct coro;
struct coro_stacks;

/* NULL: no memory. One for all coroutines of a simulation. */
struct coro_stacks *coro_stacks_new(size_t stack_bytes);
/* Must be called after all its coroutines were freed. */
void coro_stacks_free(struct coro_stacks *s);

/* fn(arg) begins with the first turn. NULL: no memory. */
struct coro *coro_new(struct coro_stacks *s, void (*fn)(void *), void *arg);

/* Frees it in any state: nothing on its stack is undone. */
void coro_free(struct coro_stacks *s, struct coro *c);

/*
 * Called from outside: runs it until it yields or returns. False: it had returned, or returns now.
 */
bool coro_turn(struct coro *c);

/* Called from inside of c. */
void coro_yield(struct coro *c);

/* True if the address is below its stack. Signal-safe. */
bool coro_is_below(const struct coro *c, const void *address);

/* True if the coroutine has written below its stack, which was too small. */
bool coro_is_broken(const struct coro *c);

#endif
