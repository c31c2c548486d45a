/* SPDX-License-Identifier: Apache-2.0 */
/* Writes events for omig log: text to a file, our own form, or a folder. */
#ifndef TOOLS_EVENTS_LOGWRITE_H
#define TOOLS_EVENTS_LOGWRITE_H

#include "eventlog/evread.h"

struct logwrite;

/*
 * form: "olog", "ctf", or one of evout.h. path NULL is the standard output; a file gets its name
 * when all is written. Reports failures and returns an exit status, *out only with CMD_OK.
 */
int logwrite_open(const char *form, const char *path, struct logwrite **out);
int logwrite_event(struct logwrite *w, const struct event *ev);

/* Writes pending output of a text form. */
int logwrite_flush(struct logwrite *w);

/* Writes the rest and gives the file its name. */
int logwrite_finish(struct logwrite *w);

/* Without finish, a file of that name is unchanged. */
void logwrite_close(struct logwrite *w);

#endif
