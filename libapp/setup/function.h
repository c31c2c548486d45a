/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries and exits of functions that a tool has chosen. lm-trace writes code that calls
 * function_enter_code at a function's first instruction, and function_exit_code before its return.
 * Then the stack has the return address into that code on top. Below it are SEG_FUNCTION_ID and
 * the function's own return address. All registers and the flags are preserved.
 *
 * The place of that return address identifies a call of the function, so recursion needs no
 * counter. A call that an exception or longjmp() has ended is noticed later: at the next call from
 * the same depth of the stack or above. Its time ends there.
 */
#ifndef LIBAPP_SETUP_FUNCTION_H
#define LIBAPP_SETUP_FUNCTION_H

#include "libapp/hot/hook.h"

#pragma GCC visibility push(hidden)

/* Two words for each slot, as of probes. The segment's page is mapped over it. */
extern uint32_t function_word[SEG_PAGE_BYTES / 4] __attribute__((aligned(SEG_PAGE_BYTES)));
#define FUNCTION_WORD_OFFSET(plan) \
	((plan)->probe_word_offset + SEG_PROBE_MODULES * (uint64_t)SEG_PAGE_BYTES)

/* Bytes of the processor's state, saved around what uses vector registers; 0: not known. */
extern uint32_t function_save_bytes;

/* As function_pass(). */
typedef void function_slow_fn(uint32_t id, uintptr_t frame, unsigned is_exit);
extern function_slow_fn *function_slow;

#if defined(__x86_64__)
extern const char function_enter_code[], function_exit_code[];
#endif

/*
 * Called with all registers saved. Uses general registers only. Returns true if the caller must
 * save the processor's state and call function_pass() for the rest.
 */
bool function_enter(uint32_t id, uintptr_t frame);
bool function_exit(uint32_t id, uintptr_t frame);

/* Records and actions of a passed entry or exit, and the first one of a thread: probe.c. */
void function_pass(uint32_t id, uintptr_t frame, unsigned is_exit);

/* The meaning of an entry or exit for its slot. */
enum function_pass {
	FUNCTION_NOTHING,
	FUNCTION_AGAIN, /* the function has called itself */
	FUNCTION_EDGE, /* begins, or ends */
	FUNCTION_LEFT, /* begins; a call before it was left without an exit */
};
enum function_pass function_passes(const struct hook_thread *t, uint32_t id, uintptr_t frame,
				   bool is_exit);

#pragma GCC visibility pop

#endif
