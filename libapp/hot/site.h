/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call sites: sums per (function, addresses that the call returns to), in the thread's own table.
 * The first address is that of the wrapper's caller. Those behind it are found by frame pointers:
 * words of the thread's stack, between here and its known end. Each must lie in the code that was
 * loaded at MPI_Init. A program that is compiled without frame pointers has sites of fewer
 * addresses. Hot: the law of hook.h.
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

/* Entry of the call that begins in this thread; NULL: no room, which is counted. */
struct seg_site *site_find(uint32_t func);

/* The call has ended. span: ticks as a slot counts them; one: of this call, 0: not measured. */
struct site_call {
	uint64_t span, one;
	int64_t out, in;
};
void site_add(struct seg_site *s, const struct site_call *c);

/*
 * Sums per (function, class of size), in a table of their own. A call has moved that many bytes,
 * out or in. span: ticks as a slot counts them. A full table counts the loss.
 */
void size_add(uint32_t func, int64_t out, int64_t in, uint64_t span);

/*
 * The stack of this thread that `sp` is on: [*low, *end) is mapped. False: it is no stack that the
 * C library made. Once a thread: it makes system calls (claim.c).
 */
bool site_stack(uintptr_t sp, uintptr_t *low, uintptr_t *end);

#pragma GCC visibility pop

#endif
