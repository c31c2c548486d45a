/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets libomig enter a program that was started unwatched, and takes it out of its way again.
 *
 * Arming stops all threads for less than a millisecond. It adds a gate (common/gate) and turns the
 * slots of MPI functions to it. libomig itself is loaded by the program's next call of MPI, in the
 * thread that makes it. So no other place in the program needs to be safe for that. All of this may
 * be repeated. The end of lm-trace may cut it short: some slots then lead to a complete gate. The
 * next request turns the others.
 */
#ifndef TRACER_ENTER_H
#define TRACER_ENTER_H

#include "common/gate/gate.h"
#include "tracer/tracees.h"

/* A freeze that fails because of a busy machine or a library being loaded is repeated. */
#define ENTER_TRIES 20
#define ENTER_PAUSE_US 2000
/* No attempt begins later: the lm waits 10 s for an answer, and may ask for more ranks. */
#define ENTER_MAX_NS (3 * NSEC_PER_SEC)

struct enter_result {
	uint32_t state; /* enum gate_state */
	uint64_t slots, skipped; /* that lead to the gate; that are another tool's */
	nsec_t stopped; /* how long threads were stopped; 0: not at all */
	char why[GATE_WORD_BYTES]; /* GATE_FAILED; GATE_ARMED of a stopped process */
};

/* Texts of TRACER_ENTER. */
struct enter_conf {
	const char *library, *conn, *runtime, *host;
};

/*
 * Also turns slots of objects that were loaded since. Blocks until done, some 10 ms. Errors as
 * image_read(), freeze_begin(); -ERR_UNSUPPORTED: the program cannot be entered, in words.
 * -ERR_EXISTS: another lm watches it.
 */
int enter_arm(struct tracees *s, const struct who *w, const struct enter_conf *c,
	      struct enter_result *out, struct err *e);

/*
 * Restores all slots. libomig and the gate stay mapped: a thread may be inside. -ERR_NOTFOUND: the
 * process has no gate. -ERR_AGAIN: libomig is being loaded.
 */
int enter_leave(struct tracees *s, const struct who *w, struct enter_result *out, struct err *e);

/* The present state, without a stop. -ERR_NOTFOUND: there is no gate. */
int enter_look(const struct who *w, struct enter_result *out, struct err *e);

#endif
