/* SPDX-License-Identifier: Apache-2.0 */
/* Replies and values as text for people and as JSON. */
#ifndef TOOLS_SESSION_SHOW_H
#define TOOLS_SESSION_SHOW_H

#include "common/json/json.h"
#include "tools/libomis/omis.h"
#include "tools/term/term.h"

#include <stdio.h>

struct object_names;

/* How replies are shown. */
struct show {
	struct term term;
	struct object_names *names; /* borrowed; in place of tokens. NULL: tokens */
};

/*
 * Prints a line per entry, and a line about missing objects; safe for a terminal. Returns false if
 * the reader has closed the output.
 */
bool show_reply(const struct show *w, Omis_reply r);

/* One entry on one line. */
void show_entry(const struct show *w, FILE *to, const Omis_object_result *o);

/*
 * Prints an event of a conditional request on one line: its place, and the result of each action.
 * Returns false as show_reply().
 */
bool show_event(const struct show *w, Omis_reply r);

/* Prints one JSON object on one line; false as above. */
bool show_reply_json(Omis_reply r);

/* Writes lists as arrays; binary values as {"base16": "..."}. */
void show_value_json(struct json *j, const Omis_value *v);

/* Writes "coverage": {...} to an open object. */
void show_coverage_json(struct json *j, Omis_reply r);

/* Prints "3 of 4 objects answered; node4: silent": nothing if all did. */
void show_missing(const struct term *t, FILE *to, Omis_reply r);

/*
 * Writes b and a newline to stdout. Returns false if the JSON or the writing failed, which is
 * reported unless the reader has closed.
 */
bool show_json_line(struct json *j, struct buf *b);

/*
 * As show_json_line() for an object in a stream: others may follow, also one with an error
 * (cmd_end()).
 */
bool show_json_next(struct json *j, struct buf *b);

/* A single JSON document: show_doc_open() begins it. */
struct show_doc {
	struct buf b;
	struct json j;
};
struct json *show_doc_open(struct show_doc *d);

/* Prints it by show_json_line() or show_json_next(), and frees it. CMD_OK or CMD_FAILURE. */
int show_doc_close(struct show_doc *d);
int show_doc_next(struct show_doc *d);

#define SHOW_MAX_BYTES (256u << 20)

#endif
