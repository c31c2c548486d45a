/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: a negative code as the return value, and a struct err of the caller with the text. NULL
 * means that the code is enough. The struct is written only on failure. Functions here do not
 * allocate, and preserve errno.
 */
#ifndef COMMON_BASE_ERR_H
#define COMMON_BASE_ERR_H

enum err_code {
	ERR_OK,
	ERR_NOMEM, /* out of memory */
	ERR_SYS, /* a system call failed; struct err has errno */
	ERR_PARSE, /* a text does not follow its grammar */
	ERR_PROTO, /* a peer broke the protocol */
	ERR_LIMIT, /* a limit in limits.h is exceeded */
	ERR_DENIED, /* the right is missing */
	ERR_NOTFOUND, /* the object does not exist */
	ERR_EXISTS, /* the object exists already */
	ERR_AGAIN, /* not possible now; a later attempt may succeed */
	ERR_CLOSED, /* the other side, or this object, is closed */
	ERR_TIMEOUT, /* a deadline passed */
	ERR_UNSUPPORTED, /* known, but not available here */
	ERR_INVALID, /* an argument or a value is out of range */
	ERR_INTERNAL, /* our own mistake, contained */
	ERR_NCODES
};

#define ERR_TEXT_BYTES 160

/* Zero-initialise with `struct err e = {0}`. */
struct err {
	enum err_code code;
	int sys; /* errno for ERR_SYS, otherwise 0 */
	unsigned line, col; /* position in an input, from 1; 0 = none */
	char text[ERR_TEXT_BYTES]; /* one line; a longer text is cut at a word, with "..." */
};

/*
 * Sets code and text, clears sys and position. Returns -code, so that `return err_set(...)` works.
 */
int err_set(struct err *e, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Like err_set(), with ERR_SYS and errno. Appends ": " and the system's text for errno. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Like err_set(), with ERR_NOMEM. */
int err_nomem(struct err *e);

/* Puts context and ": " in front of the text. Returns -code; -ERR_INTERNAL if e is NULL. */
int err_add(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Sets the position in the input. Returns -code; -ERR_INTERNAL if e is NULL. */
int err_at(struct err *e, unsigned line, unsigned col);

/* Returns "NOMEM" for ERR_NOMEM or -ERR_NOMEM; "UNKNOWN" for any other number. */
const char *err_name(int code);

#endif
