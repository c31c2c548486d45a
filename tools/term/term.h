/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal, or its substitute: colour, size, keys. */
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

/*
 * True if the locale of the environment has UTF-8 (LC_ALL, LC_CTYPE, LANG: the first that is set).
 */
bool term_is_utf8(void);

/*
 * Replaces each sign that Omig itself writes by ASCII, for example an arrow by > and micro by u. If
 * the locale has UTF-8 nothing changes; names of others are unchanged.
 */
void term_to_locale(struct buf *b);

/* Returns the escape that starts `p`; "" without colour. TERM_PLAIN ends any. */
const char *term_paint(const struct term *t, enum term_paint p);

/* Reads the size again (after SIGWINCH). */
void term_measure(struct term *t);

/* Keys without echo and Enter, alternate screen; only if stdin and stdout are a terminal. */
void term_raw(struct term *t);
/* Restores the terminal. Signal-safe. */
void term_restore(void);

enum term_key {
	TERM_KEY_ESCAPE = 0x1b,
	TERM_KEY_UP = 256,
	TERM_KEY_DOWN,
	TERM_KEY_LEFT,
	TERM_KEY_RIGHT,
	TERM_KEY_PAGE_UP,
	TERM_KEY_PAGE_DOWN,
	TERM_KEY_HOME,
	TERM_KEY_END,
	TERM_KEY_OTHER, /* an unknown sequence */
};

/*
 * Returns the key for the n bytes after an escape: "[A" is the up arrow. *used: its number of
 * bytes. If they are not a sequence: TERM_KEY_ESCAPE, and none is used.
 */
int term_key_of(const char *bytes, size_t n, size_t *used);

/*
 * Returns a key that waits on stdin: a byte, or one of enum term_key; -1: none. Blocks for at most
 * 25 ms, after an escape.
 */
int term_key(const struct term *t);

/*
 * Writes n bytes to `to`. Escapes control characters and bytes that are not UTF-8, but not quotes.
 */
void term_put_safe(FILE *to, const char *s, size_t n);

/* The same for a text of several lines. Adds a final line feed if it is missing. */
void term_put_lines(FILE *to, const char *s, size_t n);

#endif
