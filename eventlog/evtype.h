/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event types: the name, level, fields and constants that all events of the type share. The file
 * also defines values of the five kinds.
 */
#ifndef EVENTLOG_EVTYPE_H
#define EVENTLOG_EVTYPE_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum evkind { EV_INT32 = 1, EV_INT64, EV_FLOAT, EV_DOUBLE, EV_STRING };

/*
 * Returns "int32", "int64", "float", "double", "string"; "?" for another number. evkind_from_name()
 * is the inverse, and returns 0 or -ERR_INVALID.
 */
const char *evkind_name(int kind);
int evkind_from_name(const char *name, enum evkind *out);

/* A higher level logs more events. 0: the event has no level. */
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

/*
 * Returns "Fatal", "Error" and so on; "" for no level. The inverse ignores case, and fails with
 * ERR_INVALID for an unknown level.
 */
const char *evlevel_name(unsigned level);
int evlevel_from_name(const char *s, size_t n, unsigned *out);

struct evvalue {
	enum evkind kind;
	uint32_t n; /* length of a string */
	union {
		int32_t i32;
		int64_t i64;
		float f32;
		double f64;
		const char *s; /* borrowed, any bytes, without a 0 at the end */
	};
};

/* True if both are equal bit by bit. So a NaN equals itself, and 0 differs from -0. */
bool evvalue_equal(const struct evvalue *a, const struct evvalue *b);

struct evfield {
	const char *name;
	enum evkind kind;
};

struct evconst {
	const char *name;
	struct evvalue value;
};

#define EV_FIELDS_MAX 255 /* fields are counted in one byte; usual types have fewer than ten */
#define EV_RECORD_MAX_BYTES 65532 /* a record's length has 16 bits and is a multiple of 4 */
#define EV_RECORD_HEAD_BYTES 12 /* size of type, length and time */
#define EV_TYPE_FIRST 1
#define EV_TYPE_LAST 0xfeff /* higher numbers are records that are not events */
#define EV_DEFINITION 0xff00
#define EV_CLOCK 0xff01

/*
 * Names have 1..NAME_MAX_BYTES bytes, any except 0. The type number 0 describes the stream, and has
 * no name and no fields.
 */
struct evtype {
	const char *name;
	unsigned level; /* enum evlevel */
	unsigned nfield, nconst; /* at most EV_FIELDS_MAX each */
	const struct evfield *field;
	const struct evconst *constant;
};

/*
 * Checks limits, names and kinds. Fails with ERR_INVALID, ERR_LIMIT. is_stream: the type that
 * describes a stream, which has no name.
 */
int evtype_check(const struct evtype *t, bool is_stream, struct err *e);

/*
 * Returns the padded size of a record with these values; 0 if their kinds are not those of t, or if
 * they are too large.
 */
size_t evtype_record_bytes(const struct evtype *t, const struct evvalue *v, size_t n);

/*
 * Returns the unpadded size of the values of each record; 0 if one is a string, or if there are
 * none.
 */
size_t evtype_fixed_bytes(const struct evtype *t);

/* Appends the values as in a record, without padding. */
void evtype_put_values(struct buf *out, const struct evvalue *v, size_t n, bool swap);

/*
 * Appends t's definition under this number. Fails with ERR_INVALID, ERR_LIMIT, ERR_NOMEM, and then
 * appends nothing.
 */
int evtype_encode(struct buf *out, unsigned number, const struct evtype *t, bool swap,
		  struct err *e);

/*
 * Reads a definition record with its header. On success the caller owns *out, which contains its
 * strings: free() it. Fails with ERR_PROTO, ERR_NOMEM.
 */
int evtype_decode(struct bytes text, bool swap, unsigned *number, struct evtype **out,
		  struct err *e);

/*
 * Reads the values of a record of n bytes into v[t->nfield]; strings point into the record. Returns
 * false if they do not fit t.
 */
bool evtype_get_values(const struct evtype *t, const uint8_t *p, size_t n, bool swap,
		       struct evvalue *v);
/* Reads values alone, in the byte order of this machine, as a process writes them. */
bool evtype_get_fields(const struct evtype *t, const uint8_t *p, size_t n, struct evvalue *v);

/* True if the definitions are the same. */
bool evtype_equal(const struct evtype *a, const struct evtype *b);

#endif
