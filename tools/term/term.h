/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal, or what stands in for it: colour, size, keys. */
#ifndef TOOLS_TERM_TERM_H
#define TOOLS_TERM_TERM_H

#include "common/base/buf.h"

#include <stdbool.h>
#include <stdio.h>

enum term_paint {
	TERM_PLAIN,
	TERM_BOLD,
	TERM_DIM,
	TERM_RED,
	TERM_YELLOW,
	TERM_GREEN,
	TERM_REVERSE
};

struct term {
	bool is_tty; /* stdout */
	bool has_color;
	bool is_raw; /* keys come one by one */
	bool is_utf8; /* other characters than ASCII may be written */
	unsigned rows, cols;
};

/*
 * when: auto (a terminal, NO_COLOR unset, TERM not dumb; or CLICOLOR_FORCE), always, never.
 * -ERR_INVALID for another word.
 */
int term_open(struct term *t, const char *when);

/* The locale of the environment has UTF-8 (LC_ALL, LC_CTYPE, LANG: the first that is set). */
bool term_is_utf8(void);

/* Replaces the signs that Omig itself writes by one character of ASCII each: -> by >, us. Where the
 * locale has UTF-8 nothing changes; names of others stay as they are. */
void term_to_locale(struct buf *b);

/* The escape that starts `p`; "" without colour. TERM_PLAIN ends any. */
const char *term_paint(const struct term *t, enum term_paint p);

/* Asks for the size again (after SIGWINCH). */
void term_measure(struct term *t);

/* Keys without echo and Enter, alternate screen; only when stdin and stdout are a terminal. */
void term_raw(struct term *t);
/* As it was. Signal-safe. */
void term_restore(void);

enum term_key {
	TERM_KEY_ESCAPE = 0x1b,
	TERM_KEY_UP = 256,
	TERM_KEY_DOWN,
	TERM_KEY_PAGE_UP,
	TERM_KEY_PAGE_DOWN,
	TERM_KEY_HOME,
	TERM_KEY_END,
	TERM_KEY_OTHER, /* a sequence that means nothing here */
};

/*
 * The key that the n bytes behind an escape are: "[A" is the arrow upwards. *used: bytes of it.
 * Other bytes than a sequence: TERM_KEY_ESCAPE, and none is used.
 */
int term_key_of(const char *bytes, size_t n, size_t *used);

/*
 * A key that waits on stdin: a byte, or one of enum term_key; -1: none. Blocks for 25 ms at most,
 * behind an escape.
 */
int term_key(const struct term *t);

/* n bytes to `to` with control characters and what is no UTF-8 escaped, quotes left alone. */
void term_put_safe(FILE *to, const char *s, size_t n);

/* The same for a text of several lines. A line feed behind the last one is added if it is missing.
 */
void term_put_lines(FILE *to, const char *s, size_t n);

#endif
