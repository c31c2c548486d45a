/* SPDX-License-Identifier: Apache-2.0 */
/* Waits as sentences, CSV and JSON. */
#ifndef TOOLS_WAITS_WAITS_SHOW_H
#define TOOLS_WAITS_WAITS_SHOW_H

#include "common/json/json.h"
#include "tools/term/term.h"
#include "tools/waits/waits.h"

/* The verdict, and a line for each wait above WAITS_LEAST. -ERR_NOMEM. */
int waits_show(const struct term *t, const struct waits *w, struct buf *out);

/* Writes a row for each wait, however short; head: with the names of the columns. */
void waits_csv(struct buf *out, const struct waits *w, bool head);

/* Writes keys and values to an open object. */
void waits_json(struct json *j, const struct waits *w);

#endif
