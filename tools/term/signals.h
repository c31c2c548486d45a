/* SPDX-License-Identifier: Apache-2.0 */
/* The signals that end a command which goes on until one comes, and SIGWINCH. */
#ifndef TOOLS_TERM_SIGNALS_H
#define TOOLS_TERM_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* What has come since signals_catch(). The reader may set them to 0. */
extern volatile sig_atomic_t signals_last; /* SIGINT, SIGTERM or SIGHUP; 0: none */
extern volatile sig_atomic_t signals_count; /* of these */
extern volatile sig_atomic_t signals_resize; /* SIGWINCH */

/* SIGHUP stays ignored where it is, as below nohup. once: a later one ends the process. */
void signals_catch(bool once);

/* rc, but for CMD_OK what a shell has for SIGTERM where that was the last one. */
int signals_status(int rc);

#endif
