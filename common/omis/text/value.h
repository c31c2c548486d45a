/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values: the parameters of a request and the results in a reply. Both have one notation, so that a
 * result may be pasted into a request.
 */
#ifndef COMMON_OMIS_TEXT_VALUE_H
#define COMMON_OMIS_TEXT_VALUE_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum omis_kind { OMIS_INT, OMIS_FLOAT, OMIS_STRING, OMIS_TOKEN, OMIS_BINARY, OMIS_LIST, OMIS_ECP };

/* The arena of its request, or of its list of values, owns everything that it points to. */
struct omis_value {
	enum omis_kind kind;
	uint32_t offset; /* offset in the parsed text; 0 if it was not parsed */
	union {
		int64_t i;
		double f;
		/*
		 * STRING without quotes and escapes, TOKEN, BINARY, ECP without the '$'. p[n]
		 * is 0; only BINARY has a 0 inside.
		 */
		struct {
			const char *p;
			size_t n;
		} s;
		struct {
			struct omis_value *v;
			size_t n;
		} list;
	};
};

/* A list of values separated by commas: the `value` of a reply entry. */
struct omis_values {
	struct omis_value *v;
	size_t n;
	struct arena *arena;
};

/*
 * Parses a list of values; an empty text is an empty list. Fails with ERR_PARSE, e->col = offset +
 * 1 and a text that ends with "at offset N", and with ERR_LIMIT, ERR_NOMEM. Bounded by
 * FRAME_MAX_BYTES.
 */
int omis_parse_values(const char *p, size_t n, struct omis_values **out, struct err *e);
void omis_values_free(struct omis_values *v);

/* Prints the text of a value. Parsing it yields an equal value. b->failed reports a failure. */
void omis_print_value(struct buf *b, const struct omis_value *v);

/* Compares kind and content, without offsets. NaN equals NaN. */
bool omis_value_equal(const struct omis_value *a, const struct omis_value *b);

/*
 * Read a value. Return false, and leave *out untouched, if the value is of another kind. An INT is
 * also a double.
 */
bool omis_value_i64(const struct omis_value *v, int64_t *out);
bool omis_value_double(const struct omis_value *v, double *out);

/* Returns the bytes of a STRING, TOKEN or BINARY; NULL for other kinds. n may be NULL. */
const char *omis_value_text(const struct omis_value *v, size_t *n);

/* Read value number i of a list of values. Return false or NULL if there are fewer. */
bool omis_values_i64(const struct omis_values *v, size_t i, int64_t *out);
const char *omis_values_text(const struct omis_values *v, size_t i);

/*
 * Writes a list of values piece by piece, and adds commas. The buffer reports failures.
 *
 *	struct omis_writer w = OMIS_WRITER(&b);
 *	omis_write_int(&w, 3);
 *	omis_write_list(&w);
 *	omis_write_string(&w, "a");
 *	omis_write_list_end(&w);	-> 3,["a"]
 */
struct omis_writer {
	struct buf *b; /* borrowed */
	bool comma; /* the next value needs a comma before it */
};

#define OMIS_WRITER(buffer) ((struct omis_writer){ .b = (buffer) })

void omis_write_int(struct omis_writer *w, int64_t v);
void omis_write_ints(struct omis_writer *w, const int64_t *v, size_t n);
#define OMIS_WRITE_INTS(w, ...)                                \
	omis_write_ints((w), (const int64_t[]){ __VA_ARGS__ }, \
			sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))
/* Writes the shortest text that reads back as v. nan, inf and -inf are words of the language. */
void omis_write_float(struct omis_writer *w, double v);
/* Writes a string, up to its first 0. */
void omis_write_string(struct omis_writer *w, const char *s);
/*
 * Writes a string of n bytes, which ends at a 0 among them: use omis_write_binary() for such bytes.
 */
void omis_write_string_n(struct omis_writer *w, const void *p, size_t n);
void omis_write_token(struct omis_writer *w, const char *token);
void omis_write_binary(struct omis_writer *w, const void *p, size_t n);
void omis_write_ecp(struct omis_writer *w, const char *name);
void omis_write_value(struct omis_writer *w, const struct omis_value *v);
void omis_write_list(struct omis_writer *w);
void omis_write_list_end(struct omis_writer *w);
/* Writes a named number: ["name",v]. */
void omis_write_pair(struct omis_writer *w, const char *name, int64_t v);

#endif
