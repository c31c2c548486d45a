/* SPDX-License-Identifier: Apache-2.0 */
/* The lm as a program: its options, files and life. */
#ifndef LM_LM_DAEMON_H
#define LM_LM_DAEMON_H

struct daemon_spec;

/* For daemon_main(). */
extern const struct daemon_spec lm_daemon_spec;

/*
 * After daemon_main(). Processes may have come while it ended for want of them. Then this process
 * becomes an lm again, with the lock and the socket. Returns when there is no need, or when that
 * cannot be done.
 */
void lm_daemon_go_on(char **argv);

#endif
