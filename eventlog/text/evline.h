/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads events from existing text: ULM, BP and Lite lines, and our own XML. Tolerant if the meaning
 * is clear; an invalid line gets an error with the reason.
 */
#ifndef EVENTLOG_TEXT_EVLINE_H
#define EVENTLOG_TEXT_EVLINE_H

#include "common/base/limits.h"
#include "eventlog/evread.h"
#include "eventlog/text/evwords.h"

enum evline_form { EVLINE_ULM, EVLINE_BP, EVLINE_LITE, EVLINE_XML, EVLINE_NFORMS };

/* "ulm", "bp", "lite", "xml". -ERR_INVALID for another word. */
int evline_from_name(const char *name, enum evline_form *out);

/* Guesses the form by the first bytes of a file. -ERR_NOTFOUND: unknown. */
int evline_guess(const uint8_t *p, size_t n, enum evline_form *out);

#define EVLINE_MAX_BYTES (256 * 1024) /* a record has 64 KB, its escapes four times as much */

/* The event of the current line. Names and values are valid until the next line. */
struct evline {
	enum evwords_fraction fraction;
	struct event event; /* of the last line that was one */
	/* times with fewer than six digits: read as microseconds; as fractions */
	uint64_t padded, plain;
	/* --- the rest is of evline.c and evline_xml.c */
	struct evtype type;
	struct evfield field[EV_FIELDS_MAX];
	struct evconst constant[EV_FIELDS_MAX];
	struct evvalue value[EV_FIELDS_MAX];
	bool has_time;
	char *at, *end; /* rest of the text */
	char text[EVLINE_MAX_BYTES + 4 * EV_FIELDS_MAX];
};

/* Allocated on the heap, because it is large; free() it. NULL: no memory. */
struct evline *evline_new(enum evwords_fraction fraction);

/*
 * Returns 1: l->event is the event of the line. 0: a line without an event (empty, a comment, the
 * frame of an XML document). -ERR_PARSE, -ERR_LIMIT: no event, e has the reason.
 */
int evline_read(struct evline *l, enum evline_form form, const char *s, size_t n, struct err *e);

/*
 * For the readers. Copy names and strings, unescaped, with a terminating 0; NULL: no room (which
 * cannot happen).
 */
/* Adds a field. ERR_LIMIT: too many. */
int evline_add(struct evline *l, bool is_constant, const char *name, const struct evvalue *v,
	       struct err *e);
int evline_read_xml(struct evline *l, const char *s, size_t n, struct err *e);

#endif
