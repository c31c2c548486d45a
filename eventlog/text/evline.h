/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads events from existing text: ULM, BP and Lite lines, and our own XML. The reader is tolerant
 * if the meaning is clear. An invalid line leads to an error with the reason.
 */
#ifndef EVENTLOG_TEXT_EVLINE_H
#define EVENTLOG_TEXT_EVLINE_H

#include "common/base/limits.h"
#include "eventlog/evread.h"
#include "eventlog/text/evwords.h"

enum evline_form { EVLINE_ULM, EVLINE_BP, EVLINE_LITE, EVLINE_XML, EVLINE_NFORMS };

/* Returns the form for "ulm", "bp", "lite", "xml". Fails with ERR_INVALID for another word. */
int evline_from_name(const char *name, enum evline_form *out);

/* Guesses the form by the first bytes of a file. Fails with ERR_NOTFOUND if it is unknown. */
int evline_guess(const uint8_t *p, size_t n, enum evline_form *out);

/* a record has 64 KB, and escapes make it four times as long */
#define EVLINE_MAX_BYTES (256 * 1024)

/* The event of the current line. Names and values are valid until the next line. */
struct evline {
	enum evwords_fraction fraction;
	struct event event; /* event of the last line that had one */
	/* times with fewer than six digits that were read as microseconds, and as fractions */
	uint64_t padded, plain;
	/* --- for evline.c and evline_xml.c only */
	struct evtype type;
	struct evfield field[EV_FIELDS_MAX];
	struct evconst constant[EV_FIELDS_MAX];
	struct evvalue value[EV_FIELDS_MAX];
	bool has_time;
	char *at, *end; /* free part of the text */
	char text[EVLINE_MAX_BYTES + 4 * EV_FIELDS_MAX];
};

/* Allocates the reader, because it is large; free() it. Returns NULL without memory. */
struct evline *evline_new(enum evwords_fraction fraction);

/*
 * Returns 1: l->event is the event of the line. Returns 0 for a line without an event: empty, a
 * comment, or the frame of an XML document. Fails with ERR_PARSE, ERR_LIMIT; e has the reason.
 */
int evline_read(struct evline *l, enum evline_form form, const char *s, size_t n, struct err *e);

/*
 * For the readers: copy names and strings, unescaped, with a 0 at the end. Return NULL without
 * room, which cannot happen.
 */
/* Adds a field. Fails with ERR_LIMIT if there are too many. */
int evline_add(struct evline *l, bool is_constant, const char *name, const struct evvalue *v,
	       struct err *e);
int evline_read_xml(struct evline *l, const char *s, size_t n, struct err *e);

#endif
