/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event types: the name, level, fields and constants that all events of the type share. Also values
 * of the five kinds.
 */
#ifndef EVENTLOG_EVTYPE_H
#define EVENTLOG_EVTYPE_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum evkind { EV_INT32 = 1, EV_INT64, EV_FLOAT, EV_DOUBLE, EV_STRING };

/* "int32", "int64", "float", "double", "string"; "?" for another number. 0 or -ERR_INVALID back. */
const char *evkind_name(int kind);
int evkind_from_name(const char *name, enum evkind *out);

/* A larger level logs more. 0: the event has none. */
enum evlevel {
	EV_UNSAID,
	EV_FATAL,
	EV_ERROR,
	EV_WARN,
	EV_INFO,
	EV_DEBUG,
	EV_TRACE,
	EV_DEBUG2,
	EV_DEBUG3,
	EV_NLEVELS
};

/* "Fatal", "Error", ...; "" for what is not said. Any case back; -ERR_INVALID for what is no
 * level. */
const char *evlevel_name(unsigned level);
int evlevel_from_name(const char *s, size_t n, unsigned *out);

struct evvalue {
	enum evkind kind;
	uint32_t n; /* bytes of a string */
	union {
		int32_t i32;
		int64_t i64;
		float f32;
		double f64;
		const char *s; /* borrowed, not terminated, any bytes */
	};
};

/* True: equal bit by bit, so that a NaN equals itself and 0 differs from -0. */
bool evvalue_equal(const struct evvalue *a, const struct evvalue *b);

struct evfield {
	const char *name;
	enum evkind kind;
};

struct evconst {
	const char *name;
	struct evvalue value;
};

#define EV_FIELDS_MAX 255 /* one byte counts them; people write fewer than ten */
#define EV_RECORD_MAX_BYTES 65532 /* a record's length has 16 bits and is a multiple of 4 */
#define EV_RECORD_HEAD_BYTES 12 /* type, length, time */
#define EV_TYPE_FIRST 1
#define EV_TYPE_LAST 0xfeff /* above are records that are no events */
#define EV_DEFINITION 0xff00
#define EV_CLOCK 0xff01

/* Names: 1..NAME_MAX_BYTES bytes, any but 0; the stream's own type (number 0) has no name and no
 * fields. */
struct evtype {
	const char *name;
	unsigned level; /* enum evlevel */
	unsigned nfield, nconst; /* <= EV_FIELDS_MAX each */
	const struct evfield *field;
	const struct evconst *constant;
};

/* Limits, names, kinds. ERR_INVALID, ERR_LIMIT. is_stream: the one without a name. */
int evtype_check(const struct evtype *t, bool is_stream, struct err *e);

/* Bytes that a record with these values has, padded; 0 when they are not t's kinds, or too many
 * bytes. */
size_t evtype_record_bytes(const struct evtype *t, const struct evvalue *v, size_t n);

/* Bytes of the values of each record, unpadded; 0: a string is among them, or there are none. */
size_t evtype_fixed_bytes(const struct evtype *t);

/* Appends the values as a record has them, unpadded. */
void evtype_put_values(struct buf *out, const struct evvalue *v, size_t n, bool swap);

/* Appends t's definition as number. ERR_INVALID, ERR_LIMIT, ERR_NOMEM with nothing added. */
int evtype_encode(struct buf *out, unsigned number, const struct evtype *t, bool swap,
		  struct err *e);

/*
 * Reads a definition record (p, n with its head). On success the caller owns *out (free()), whose
 * strings lie in the same memory. ERR_PROTO, ERR_NOMEM.
 */
int evtype_decode(struct bytes text, bool swap, unsigned *number, struct evtype **out,
		  struct err *e);

/*
 * Reads the values of a record of n bytes into v[t->nfield]; strings point into the record.
 * False: they are not t's.
 */
bool evtype_get_values(const struct evtype *t, const uint8_t *p, size_t n, bool swap,
		       struct evvalue *v);

/* True: the definitions are the same. */
bool evtype_equal(const struct evtype *a, const struct evtype *b);

#endif
