/* SPDX-License-Identifier: Apache-2.0 */
/* Waits as sentences, CSV and JSON. */
#ifndef TOOLS_WAITS_WAITS_SHOW_H
#define TOOLS_WAITS_WAITS_SHOW_H

#include "common/json/json.h"
#include "tools/term/term.h"
#include "tools/waits/waits.h"

/* Appends one line in words: the rank that is waited for most, or that there is none. */
void waits_verdict(struct buf *out, const struct waits *w);

/* The verdict, and a line for each wait above WAITS_LEAST. -ERR_NOMEM. */
int waits_show(const struct term *t, const struct waits *w, struct buf *out);

/* A row for each wait, however short; head: with the names of the columns. */
void waits_csv(struct buf *out, const struct waits *w, bool head);

/* Keys and values into an open object. */
void waits_json(struct json *j, const struct waits *w);

/* "receive", "receive and send"; "" for none. */
#define WAITS_KINDS_BYTES 64
const char *waits_kinds(char out[WAITS_KINDS_BYTES], uint32_t kinds);

#endif
