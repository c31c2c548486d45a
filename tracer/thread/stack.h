/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of a stack at one moment, so that its thread can continue at once. */
#ifndef TRACER_THREAD_STACK_H
#define TRACER_THREAD_STACK_H

#include "common/base/err.h"
#include "tracer/thread/regs.h"

#include <stdbool.h>
#include <stddef.h>

#define STACK_MAX_BYTES (512 * 1024) /* deeper frames are not seen; copying it takes 0.1 ms */

struct stack {
	int32_t pid;
	uint64_t reg[REGS_DWARF_COUNT];
	uint8_t *p; /* owned: from the stack pointer upwards */
	size_t n;
};

/* Copies the stack of a stopped thread, as far as it is mapped; call stack_done() in any case. */
int stack_take(struct stack *s, int32_t pid, int32_t tid, struct err *e);
void stack_done(struct stack *s);

/*
 * Reads a word of the process's memory at that time (stack) or now (other memory). False: not
 * mapped, or in the stack beyond the copy.
 */
bool stack_word(const struct stack *s, uint64_t addr, uint64_t *out);

#endif
