/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions on events as people write them: nbytes > 65536 and host == "a b" and event != io.* */
#ifndef EVENTLOG_TEXT_EVWHERE_H
#define EVENTLOG_TEXT_EVWHERE_H

#include "eventlog/evread.h"

#define EVWHERE_MAX 16 /* comparisons; all must hold */
#define EVWHERE_TEXT_MAX_BYTES 4096

struct evwhere;

/*
 * FIELD OP VALUE [and FIELD OP VALUE]..., OP one of < <= > >= == !=. A field is one of the event or a constant,
 * or `event`, its name. A value is a number, or a word that goes to the next space, or stands in double quotes, in
 * which \" and \\ are escapes; words compare with == and != alone, and a * at the end of one without quotes stands
 * for anything. ERR_INVALID, ERR_LIMIT, ERR_NOMEM.
 */
int evwhere_new(const char *text, struct evwhere **out, struct err *e);
void evwhere_free(struct evwhere *w);

/* An event that lacks a field does not fulfil what is said of it, != too. */
bool evwhere_holds(const struct evwhere *w, const struct event *ev);

#endif
