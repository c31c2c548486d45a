/* SPDX-License-Identifier: Apache-2.0 */
/* The signals that end a command which otherwise runs for ever, and SIGWINCH. */
#ifndef TOOLS_TERM_SIGNALS_H
#define TOOLS_TERM_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Signals since signals_catch(). The reader may set them to 0. */
extern volatile sig_atomic_t signals_last; /* SIGINT, SIGTERM or SIGHUP; 0: none */
extern volatile sig_atomic_t signals_count; /* of these */
extern volatile sig_atomic_t signals_resize; /* SIGWINCH */

/* SIGHUP stays ignored if it is, as under nohup. once: a later one ends the process. */
void signals_catch(bool once);

/* Returns rc, or instead of CMD_OK a shell's status for SIGTERM if that was the last signal. */
int signals_status(int rc);

#endif
