/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals that end a command in order. After the first one, the command ends its work and prints
 * its results so far. A later signal ends the process. timeout(1) sends each signal twice at once,
 * to the process and to its group; these two count as one.
 */
#ifndef COMMON_CLI_ENDSIGNAL_H
#define COMMON_CLI_ENDSIGNAL_H

#include <signal.h>

extern volatile sig_atomic_t end_signal; /* number of the last signal; 0: none yet */

/* Catches SIGINT and SIGTERM from now on. */
void end_signal_catch(void);

/* Notes a signal, for a caller that has handlers of its own. Signal-safe. */
void end_signal_note(int signo);

#endif
