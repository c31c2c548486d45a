/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call sites: sums per (function, return addresses of the call), in the thread's own table. The
 * first address is in the wrapper's caller. The next ones are found by frame pointers: words of the
 * thread's stack, between here and its known end. Each must be in code that was loaded at MPI_Init.
 * A program without frame pointers has sites of fewer addresses. Hot: the rules of hook.h.
 */
#ifndef LIBAPP_HOT_SITE_H
#define LIBAPP_HOT_SITE_H

#include "libapp/hot/hook.h"

#pragma GCC visibility push(hidden)

/* Code of the process, by address; filled once, before the first call. */
struct site_text {
	uintptr_t start, end;
};
extern struct site_text site_text[SEG_MODULES];
extern unsigned site_ntext;

/* Returns the entry of the call that begins in this thread. NULL: no room, which is counted. */
struct seg_site *site_find(uint32_t func);

/*
 * Called when the call has ended. span: ticks as a slot counts them; one: of this call, 0: not
 * measured.
 */
struct site_call {
	uint64_t span, one;
	int64_t out, in;
};
void site_add(struct seg_site *s, const struct site_call *c);

/*
 * Adds a call that moved that many bytes to the sums per (function, class of size). span: ticks as
 * a slot counts them. A full table counts the loss.
 */
void size_add(uint32_t func, int64_t out, int64_t in, uint64_t span);

/*
 * Finds the stack of this thread that contains `sp`: [*low, *end) is mapped. Returns false if the C
 * library did not create it. Makes system calls, once per thread (claim.c).
 */
bool site_stack(uintptr_t sp, uintptr_t *low, uintptr_t *end);

#pragma GCC visibility pop

#endif
