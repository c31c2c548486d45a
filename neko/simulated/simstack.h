/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose stack it was, when a simulation dies because an active layer needs a larger one: a line on
 * standard error, and then the death by SIGSEGV that it would have been without.
 */
#ifndef NEKO_SIMULATED_SIMSTACK_H
#define NEKO_SIMULATED_SIMSTACK_H

struct sim;
struct simstack;

/* s must outlive the result. NULL: no memory. */
struct simstack *simstack_new(const struct sim *s);
void simstack_free(struct simstack *w);

/* From enter to leave this thread examines what went wrong; NULL does not. Actions of others for
 * that signal come after that, and are back then. */
void simstack_enter(struct simstack *w);
void simstack_leave(struct simstack *w);

#endif
