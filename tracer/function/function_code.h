/* SPDX-License-Identifier: Apache-2.0 */
/* The code of one function, and what else leads into it. */
#ifndef TRACER_FUNCTION_FUNCTION_CODE_H
#define TRACER_FUNCTION_FUNCTION_CODE_H

#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>

#define FUNCTION_MAX_BYTES 65536 /* of code; a longer function is refused */
#define FUNCTION_PADDING_BYTES 16
#define FUNCTION_NAME_BYTES 512
#define FUNCTION_PARTS 2 /* the function, and its cold part */
/* A long function in a large program is met by chance some times: note_far() of elsewhere.c. */
#define FUNCTION_LED_MAX 256

/* A piece of code, as its file has it. */
struct function_part {
	uint64_t at; /* in the process */
	size_t n; /* 0: there is no such part */
	size_t padding; /* bytes behind it that belong to no symbol */
	uint8_t bytes[FUNCTION_MAX_BYTES + FUNCTION_PADDING_BYTES];
};

struct function_code {
	char symbol[FUNCTION_NAME_BYTES], plain[FUNCTION_NAME_BYTES];
	struct function_part part[FUNCTION_PARTS];
	/* behind its beginning: where other code may lead to */
	size_t nled;
	uint64_t led[FUNCTION_LED_MAX];
	/* Forms of it that its calls may go to instead: those inlined in others as far as known. */
	size_t ncopy, nclone;
};

/* Adds a place to `led`, once; a beginning of a part is none. */
void function_code_led(struct function_code *c, uint64_t at);

/* The part that contains an address, or -1. */
int function_code_part(const struct function_code *c, uint64_t at);

#endif
