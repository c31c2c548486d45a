/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a stack overflow of an active layer. Prints a line with the layer on the standard error.
 * Then SIGSEGV ends the process as usual.
 */
#ifndef NEKO_SIMULATED_SIMSTACK_H
#define NEKO_SIMULATED_SIMSTACK_H

struct sim;
struct simstack;

/* s must outlive the result. Returns NULL without memory. */
struct simstack *simstack_new(const struct sim *s);
void simstack_free(struct simstack *w);

/*
 * Between simstack_enter() and simstack_leave(), overflows of this thread are reported. NULL has no
 * effect. Other actions for the signal run afterwards, and are restored by leave.
 */
void simstack_enter(struct simstack *w);
void simstack_leave(struct simstack *w);

#endif
