/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a stack overflow of an active layer. If a simulation dies of one, prints a line with the
 * layer on standard error. Then the process dies by SIGSEGV as before.
 */
#ifndef NEKO_SIMULATED_SIMSTACK_H
#define NEKO_SIMULATED_SIMSTACK_H

struct sim;
struct simstack;

/* s must outlive the result. NULL: no memory. */
struct simstack *simstack_new(const struct sim *s);
void simstack_free(struct simstack *w);

/*
 * Between enter and leave, overflows of this thread are reported; NULL does nothing. Other actions
 * for the signal run afterwards, and are restored by leave.
 */
void simstack_enter(struct simstack *w);
void simstack_leave(struct simstack *w);

#endif
