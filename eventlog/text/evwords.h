/* SPDX-License-Identifier: Apache-2.0 */
/* Times, values and quoted strings as text, and their parsers. */
#ifndef EVENTLOG_TEXT_EVWORDS_H
#define EVENTLOG_TEXT_EVWORDS_H

#include "common/base/clock.h"
#include "eventlog/evtype.h"

#define EVWORDS_TIME_BYTES 40

/*
 * Write six digits behind the point, or nine if the time needs them. Return the length; no 0
 * follows.
 */
size_t evwords_time_ulm(char *out, nsec_t wall); /* 20020329210355.443568 */
size_t evwords_time_iso(char *out, nsec_t wall); /* 2002-03-29T21:03:55.443568Z */

/* Meaning of fewer than six digits behind the point of a DATE. */
enum evwords_fraction {
	/* microseconds for globus-gridftp-server, which does not pad; otherwise a fraction */
	EVWORDS_AUTO,
	EVWORDS_FRACTION, /* .21 is 210000 us */
	EVWORDS_PADDED, /* .21 is 21 us */
};

/* Parses a DATE. Sets is_short for fewer than six digits. Returns false if it is not a time. */
bool evwords_date(const char *s, size_t n, bool is_padded, nsec_t *out, bool *is_short);

/*
 * Parses 2002-03-29T21:03:55.443568Z, also without the punctuation or the Z, or seconds with a
 * point. Returns false if it is not a time.
 */
bool evwords_iso(const char *s, size_t n, nsec_t *out);

/*
 * Infers the kind of a text. It is a number only if it would be written in exactly this form, so
 * that no text changes: int32, otherwise int64, otherwise double. Any other text is a string,
 * borrowed.
 */
void evwords_infer(const char *s, size_t n, struct evvalue *out);

/* Parses a value of this kind. Returns false if the text is not such a value. */
bool evwords_value(const char *s, size_t n, enum evkind kind, struct evvalue *out);

/*
 * Write numbers unchanged, and strings with escapes as in C: \\ \" \n \t \r \xNN for control
 * characters and bytes that are not UTF-8.
 */
void evwords_put_number(struct buf *out, const struct evvalue *v);
void evwords_put_escaped(struct buf *out, const char *s, size_t n);

/*
 * Writes a value in a line of names and values. Strings are quoted if they would be misread
 * otherwise.
 */
void evwords_put_value(struct buf *out, const struct evvalue *v);

/* Writes a name in such a line. Characters that would end it are escaped. */
void evwords_put_name(struct buf *out, const char *s);

/*
 * Replaces the escapes; `to` has n bytes. Returns the number of bytes written. Other backslashes
 * are unchanged.
 */
size_t evwords_unescape(char *to, const char *s, size_t n);

#endif
