/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a copied stack to frames and names. It uses the tables that compilers put into programs
 * and libraries (.eh_frame). So code without frame pointers is unwound, too. Only files of this
 * host are read.
 */
#ifndef TRACER_UNWIND_H
#define TRACER_UNWIND_H

#include "common/tracer/tracer_msg.h"
#include "tracer/thread/stack.h"

/* Texts are "" if not known, and borrowed from the unwinder until its next use. */
struct frame {
	uint64_t pc, fp, offset;
	uint64_t line; /* of file; 0: the module has no debug information of it */
	const char *module, *symbol, *file;
};

struct unwinder;

/* NULL: no memory. Caches the modules of the last process. */
struct unwinder *unwinder_new(void);
void unwinder_free(struct unwinder *u);

/* Room for n frames; afterwards n is their number. */
struct frames {
	struct frame *v;
	size_t n;
	bool has_names; /* with names; else offsets are 0, too */
};

/*
 * Innermost first, for the process that began at `start`. The first one always exists. -ERR_NOMEM,
 * -ERR_SYS: the modules of the process cannot be listed.
 */
int unwinder_run(struct unwinder *u, uint64_t start, const struct stack *s, struct frames *inout,
		 struct err *e);

#endif
