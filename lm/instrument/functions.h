/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of watched processes whose entry and exit are switched on for tools, by lm-trace. Such
 * a function has two probes of the segment, from which its region is measured as any other. It is
 * on while a tool needs it, and its code is as before afterwards.
 */
#ifndef LM_INSTRUMENT_FUNCTIONS_H
#define LM_INSTRUMENT_FUNCTIONS_H

#include "common/ring/region.h"
#include "lm/proc/proc.h"

#define FUNCTION_NAME_MAX_BYTES REGION_FUNCTION_MAX_BYTES /* of a signature of C++ */

struct functions;
struct function;
struct helper;

struct functions *functions_new(struct procs *p, struct helper *trace); /* NULL: no memory */

/*
 * Does not change functions that are on: when the words of the segment are cleared, their code
 * only returns.
 */
void functions_free(struct functions *s);

/* The result of a request; e has the reason when rc is below 0. */
struct function_answer {
	void (*fn)(void *arg, int rc, const struct function *f, const struct err *e);
	void *arg;
};
struct function_wait;

struct function_ask {
	uint32_t tool;
	const char *name; /* copied */
	struct function_answer answer;
};

/*
 * Switches a function on for a tool. Always answers, and never within the call, unless *out is
 * dropped before. -ERR_NOTFOUND: the process has no segment, or ended. -ERR_LIMIT, -ERR_NOMEM,
 * -ERR_UNSUPPORTED.
 */
int functions_on(struct functions *s, struct proc *p, const struct function_ask *a,
		 struct function_wait **out, struct err *e);
void functions_wait_drop(struct function_wait *w); /* NULL is fine */

/* Ends the tool's need of the function. -ERR_NOTFOUND: it is not on for this tool. */
int functions_off(struct functions *s, struct proc *p, uint32_t tool, const char *name);
void functions_tool_gone(struct functions *s, uint32_t tool);

/* Returns the function that is on under that name; NULL: none. */
const struct function *functions_find(const struct proc *p, const char *name);
const struct function *functions_next(const struct proc *p, const struct function *after);

struct function_state {
	const char *name;
	unsigned slot;
	uint64_t address;
	bool is_sled; /* the compiler had left room */
	bool is_on; /* else it is being switched on or off */
	size_t ntool;
	/* copies of the function that are inlined in others, as far as known; its clones */
	uint64_t ncopy, nclone;
};
void function_state(const struct function *f, struct function_state *out);

#endif
