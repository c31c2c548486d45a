/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals that end a command in order: the first ends what is under way, and its part is shown. A
 * later one ends the process. timeout(1) sends each signal twice at once, to the process and to its
 * group; these two count as one.
 */
#ifndef COMMON_CLI_ENDSIGNAL_H
#define COMMON_CLI_ENDSIGNAL_H

#include <signal.h>

extern volatile sig_atomic_t end_signal; /* the last one; 0: none has come */

/* From now on for SIGINT and SIGTERM. */
void end_signal_catch(void);

/* For handlers of a caller's own; safe in a signal handler. */
void end_signal_note(int signo);

#endif
