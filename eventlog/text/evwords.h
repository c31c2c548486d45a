/* SPDX-License-Identifier: Apache-2.0 */
/* Times, values and quoted strings as text, and back. */
#ifndef EVENTLOG_TEXT_EVWORDS_H
#define EVENTLOG_TEXT_EVWORDS_H

#include "common/base/clock.h"
#include "eventlog/evtype.h"

#define EVWORDS_TIME_BYTES 40

/* Six digits behind the point, or nine where the time needs them. Return the length; not
 * terminated. */
size_t evwords_time_ulm(char *out, nsec_t wall); /* 20020329210355.443568 */
size_t evwords_time_iso(char *out, nsec_t wall); /* 2002-03-29T21:03:55.443568Z */

/* What fewer than six digits behind the point of a DATE mean. */
enum evwords_fraction {
	/* of globus-gridftp-server microseconds, which it does not pad; else a fraction */
	EVWORDS_AUTO,
	EVWORDS_FRACTION, /* .21 is 210000 us */
	EVWORDS_PADDED, /* .21 is 21 us */
};

/* is_short becomes true for fewer than six digits. False: no time. */
bool evwords_date(const char *s, size_t n, bool is_padded, nsec_t *out, bool *is_short);

/* 2002-03-29T21:03:55.443568Z, without the punctuation or the Z too, or seconds with a point.
 * False: no time. */
bool evwords_iso(const char *s, size_t n, nsec_t *out);

/*
 * A number is what would be written exactly so (so that no text is changed by being read):
 * int32, else int64, else double; anything else is a string, borrowed.
 */
void evwords_infer(const char *s, size_t n, struct evvalue *out);

/* Reads a value of this kind. False: the text has none. */
bool evwords_value(const char *s, size_t n, enum evkind kind, struct evvalue *out);

/* Numbers as they are; strings escaped as a C string has it: \\ \" \n \t \r \xNN for control
 * characters and what is no UTF-8. */
void evwords_put_number(struct buf *out, const struct evvalue *v);
void evwords_put_escaped(struct buf *out, const char *s, size_t n);

/* A value in a line of names and values: strings are quoted where they would be read as something
 * else. */
void evwords_put_value(struct buf *out, const struct evvalue *v);

/* A name in such a line: what would end it, escaped. */
void evwords_put_name(struct buf *out, const char *s);

/* Undoes the escapes into to, which has n bytes. Returns the bytes written. Other backslashes
 * stay. */
size_t evwords_unescape(char *to, const char *s, size_t n);

#endif
