/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of a function. The one home of Zydis. */
#ifndef TRACER_FUNCTION_DECODE_H
#define TRACER_FUNCTION_DECODE_H

#include "common/base/err.h"
#include "tracer/function/file_code.h"
#include "tracer/function/symbols.h"

#include <stdbool.h>

enum decoded_kind {
	DECODED_PLAIN,
	DECODED_NOP,
	DECODED_RETURN,
	DECODED_CALL,
	DECODED_JUMP, /* to a known place */
	DECODED_BRANCH, /* the same, on a condition */
	DECODED_JUMP_FAR, /* through a word in memory: to another function */
	DECODED_TABLE, /* a jump to an unknown place */
	DECODED_TRAP, /* may end the flow, or be a signal to a handler */
};

struct decoded {
	uint64_t at; /* in the process */
	uint8_t n;
	uint8_t kind; /* enum decoded_kind */
	bool is_short; /* a branch that has no other form */
	bool is_target; /* a jump leads here */
	uint8_t part;
	uint8_t condition; /* of a branch: the low half of its opcode */
	uint8_t disp_at; /* position of a displacement from the next instruction; 0: none */
	uint64_t to; /* of jumps, branches and calls to a known place */
	const uint8_t *bytes;
};

struct decoded_code {
	size_t n, first_of_last; /* the first of the last part */
	struct decoded v[]; /* by part and address, with the padding behind each part */
};

/*
 * ERR_UNSUPPORTED: an unknown instruction, or a jump into the middle of one. *out is freed by
 * free().
 */
int decode(const struct function_code *c, struct decoded_code **out, struct err *e);

/* Adds to c->led where the jumps and calls of other code lead to. */
void decode_led(const struct file_code *other, struct function_code *c);

#endif
