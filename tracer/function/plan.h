/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of a function's code, which call libomig at its entry and before each return. The plan is
 * made of the file's bytes alone. It exists only if it is proved safe:
 *
 * - each byte of the function is a known instruction, and each jump leads to a beginning of one;
 * - no jump leads into the bytes that change, also none of other code, and none to the entry;
 * - what is moved has no call, and means the same elsewhere;
 * - each way out is found: a return, or a jump to another function. A jump table is refused.
 *
 * The stack is not touched: exceptions, longjmp() and backtraces pass through the function as
 * before. An exception that leaves the function meets no exit.
 */
#ifndef TRACER_FUNCTION_PLAN_H
#define TRACER_FUNCTION_PLAN_H

#include "common/base/err.h"
#include "tracer/function/function_code.h"

#include <stdbool.h>

#define PLAN_SITES_MAX 64 /* ways out of a function and its entry; longer functions are refused */
#define PLAN_SITE_BYTES 32
#define PLAN_AREA_BYTES 4096 /* of code that one function needs at most */
#define PLAN_JUMP 0xe9 /* the first byte of a jump, and of the call's push of the id */
#define PLAN_PUSH 0x68
#define PLAN_JUMP_BYTES 5
#define PLAN_ENDBR "\xf3\x0f\x1e\xfa"
#define PLAN_ENDBR_BYTES 4
#define PLAN_ALIGN_BYTES 64 /* of a function's place in the area */

/* A jump in place of some instructions. */
struct plan_site {
	uint64_t at;
	size_t n; /* all of them change at once */
	uint8_t bytes[PLAN_SITE_BYTES];
};

enum plan_way {
	PLAN_ENTRY_MOVED, /* instructions of the entry were moved */
	PLAN_ENTRY_SLED, /* the compiler has left room: no instruction was moved */
};

struct plan {
	uint64_t at; /* of the code in the area */
	size_t n;
	uint8_t code[PLAN_AREA_BYTES]; /* the last byte is not 0: free memory begins behind it */
	enum plan_way way;
	size_t nsite; /* the entry is the last one */
	struct plan_site site[PLAN_SITES_MAX];
};

struct plan_target {
	uint64_t enter, exit; /* code of libomig */
	uint64_t place; /* free memory within 2 GiB of the function */
	uint32_t id; /* SEG_FUNCTION_ID */
};

/* ERR_UNSUPPORTED, with the reason and its place in the function. */
int plan_make(const struct function_code *c, const struct plan_target *t, struct plan *out,
	      struct err *e);

/* The entry of changed code: the jump there, and the call that it leads to. */
#define PLAN_CALL_BYTES 5 /* of its beginning, which has the id */
struct plan_entry {
	uint64_t to;
	uint8_t call[PLAN_CALL_BYTES]; /* filled by the caller */
};

/* now: the bytes of the function's first part, PLAN_JUMP_BYTES or more. False: there is no jump. */
bool plan_find_entry(const struct function_code *c, const uint8_t *now, struct plan_entry *out);
bool plan_find_id(const struct plan_entry *p, uint32_t *id);

#endif
