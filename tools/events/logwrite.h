/* SPDX-License-Identifier: Apache-2.0 */
/* What omig log makes of events: text on a file, our own form, or a folder. */
#ifndef TOOLS_EVENTS_LOGWRITE_H
#define TOOLS_EVENTS_LOGWRITE_H

#include "eventlog/evread.h"

struct logwrite;

/*
 * form: "olog", "ctf", or one of evout.h. path NULL is the standard output; another one takes its
 * name when all is written. Says what is wrong; an exit status, *out only with CMD_OK.
 */
int logwrite_open(const char *form, const char *path, struct logwrite **out);
int logwrite_event(struct logwrite *w, const struct event *ev);

/* What there is goes out now: for forms that are text. */
int logwrite_flush(struct logwrite *w);

/* Writes what is left and gives the file its name. */
int logwrite_finish(struct logwrite *w);

/* Without finish: nothing of that name has changed. */
void logwrite_close(struct logwrite *w);

#endif
