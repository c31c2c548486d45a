/* SPDX-License-Identifier: Apache-2.0 */
/* The lm as a program: its options, files and main loop. */
#ifndef LM_LM_DAEMON_H
#define LM_LM_DAEMON_H

struct daemon_spec;

/* For daemon_main(). */
extern const struct daemon_spec lm_daemon_spec;

/*
 * Called after daemon_main(). Processes may have registered while the lm ended for lack of them.
 * Then this process becomes an lm again, with the lock and the socket. Returns if that is not
 * needed or fails.
 */
void lm_daemon_go_on(char **argv);

#endif
