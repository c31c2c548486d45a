/* SPDX-License-Identifier: Apache-2.0 */
/* What a stack looked like at one moment, copied so that its thread can continue at once. */
#ifndef TRACER_STACK_H
#define TRACER_STACK_H

#include "common/base/err.h"
#include "tracer/regs.h"

#include <stdbool.h>
#include <stddef.h>

#define STACK_MAX_BYTES (512 * 1024) /* deeper frames are not seen; copying it takes 0.1 ms */

struct stack {
	int32_t pid;
	uint64_t reg[REGS_DWARF_COUNT];
	uint8_t *p; /* owned: from the stack pointer upwards */
	size_t n;
};

/* Copies the stack of a stopped thread, as far as it is mapped; stack_done() in any case. */
int stack_take(struct stack *s, int32_t pid, int32_t tid, struct err *e);
void stack_done(struct stack *s);

/*
 * A word of the process's memory as it was then (stack) or is now (all else). False: there is none,
 * or it lies in the stack beyond the copy.
 */
bool stack_word(const struct stack *s, uint64_t addr, uint64_t *out);

#endif
