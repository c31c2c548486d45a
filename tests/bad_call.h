/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All invalid forms of a service call, and the status for each: for tests of the whole catalogue.
 */
#ifndef TESTS_BAD_CALL_H
#define TESTS_BAD_CALL_H

#include "common/base/limits.h"
#include "tests/any_call.h"
#include "common/omis/text/status.h"

#include <string.h>

/* Errors in the text of a call, which are reported before anything is done. */
enum bad {
	BAD_TOO_FEW, /* a required parameter is missing */
	BAD_TOO_MANY, /* one too many */
	BAD_TYPE, /* of one parameter: a value of another kind */
	BAD_NESTED, /* a list instead of a scalar, in a list too */
	BAD_CLASS, /* a token of a class that the parameter does not accept */
	BAD_ECP, /* an unknown context parameter */
	BAD_LONG, /* a string longer than a request may be */
	BAD_COUNT, /* more objects than a request may name */
	BAD_WORD, /* text instead of a value */
	BAD_KINDS
};

/* The status by kind of parameter. STATUS_OK: a parameter of that kind cannot have that error. */
static const struct {
	const char *name;
	const char *value;
	unsigned status[BAD_KINDS];
} bad_types[] = {
	[OMIS_T_INT] = { "int",
			 "\"x\"",
			 { [BAD_TYPE] = STATUS_TYPE_MISMATCH,
			   [BAD_NESTED] = STATUS_TYPE_MISMATCH } },
	[OMIS_T_FLOAT] = { "float",
			   "\"x\"",
			   { [BAD_TYPE] = STATUS_TYPE_MISMATCH,
			     [BAD_NESTED] = STATUS_TYPE_MISMATCH } },
	[OMIS_T_STRING] = { "string",
			    "1",
			    { [BAD_TYPE] = STATUS_TYPE_MISMATCH,
			      [BAD_NESTED] = STATUS_TYPE_MISMATCH,
			      [BAD_LONG] = STATUS_SYNTAX_ERROR } },
	[OMIS_T_TOKEN] = { "token",
			   "1",
			   { [BAD_TYPE] = STATUS_TYPE_MISMATCH,
			     [BAD_NESTED] = STATUS_TYPE_MISMATCH,
			     [BAD_CLASS] = STATUS_TYPE_MISMATCH,
			     [BAD_COUNT] = STATUS_SYNTAX_ERROR } },
	[OMIS_T_BINARY] = { "binary",
			    "1",
			    { [BAD_TYPE] = STATUS_TYPE_MISMATCH,
			      [BAD_NESTED] = STATUS_TYPE_MISMATCH } },
	[OMIS_T_ANY] = { "any", "1", { 0 } },
};

/* Errors that do not depend on the kind of the parameter. */
static inline unsigned bad_always(enum bad b)
{
	switch (b) {
	case BAD_TOO_FEW:
	case BAD_TOO_MANY:
		return STATUS_PARAMETER_ERROR;
	case BAD_ECP:
		return STATUS_UNKNOWN_ECP;
	case BAD_WORD:
		return STATUS_SYNTAX_ERROR;
	default:
		return STATUS_OK;
	}
}

/*
 * Returns the status of the service with parameter number i wrong in that way; STATUS_OK: that is
 * impossible.
 */
static inline unsigned bad_status(const struct omis_service *s, enum bad b, size_t i)
{
	const struct omis_param *p = &s->param[i];

	if (b == BAD_TOO_FEW)
		return i == 0 && p->name && !p->def ? STATUS_PARAMETER_ERROR : STATUS_OK;
	if (b == BAD_TOO_MANY)
		return i == 0 ? STATUS_PARAMETER_ERROR : STATUS_OK;
	if (!p->name)
		return STATUS_OK;
	if ((b == BAD_CLASS && !p->class) || (b == BAD_COUNT && !p->list))
		return STATUS_OK;
	return bad_always(b) ? bad_always(b) : bad_types[p->type].status[b];
}

static inline void bad_many(struct buf *out, const char *value, size_t n)
{
	buf_putc(out, '[');
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s%s", i ? "," : "", value);
	buf_putc(out, ']');
}

static inline void bad_value(struct buf *out, const struct omis_param *p, enum bad b)
{
	const char *value = bad_types[p->type].value;

	switch (b) {
	case BAD_NESTED:
		buf_printf(out, p->list ? "[[%s,%s]]" : "[%s,%s]",
			   any_value(&(struct omis_param){ .type = p->type }),
			   any_value(&(struct omis_param){ .type = p->type }));
		break;
	case BAD_CLASS:
		buf_puts(out, p->class == 'm' ? "e_1" : "m_1");
		break;
	case BAD_ECP:
		buf_puts(out, p->list ? "[$nobody]" : "$nobody");
		break;
	case BAD_LONG:
		buf_putc(out, '"');
		for (size_t i = 0; i < OMIS_REQUEST_MAX_BYTES; i++)
			buf_putc(out, 'x');
		buf_putc(out, '"');
		break;
	case BAD_COUNT:
		bad_many(out, any_value(&(struct omis_param){ .type = p->type, .class = p->class }),
			 OMIS_TOKENS_MAX + 1);
		break;
	case BAD_WORD:
		buf_puts(out, "@");
		break;
	default:
		if (p->list)
			bad_many(out, value, 2);
		else
			buf_puts(out, value);
	}
}

/* name(...) with parameter i wrong in that way. */
static inline void bad_call(struct buf *out, const struct omis_service *s, enum bad b, size_t i)
{
	size_t n = omis_service_nparam(s);

	buf_printf(out, "%s(", s->name);
	for (size_t k = 0; k < n && b != BAD_TOO_FEW; k++) {
		if (k)
			buf_putc(out, ',');
		if (k == i && b != BAD_TOO_MANY)
			bad_value(out, &s->param[k], b);
		else
			buf_puts(out, any_value(&s->param[k]));
	}
	if (b == BAD_TOO_MANY)
		buf_puts(out, n ? ",1" : "1");
	buf_putc(out, ')');
}

/* Appends a whole request. */
static inline void bad_request(struct buf *out, const struct omis_service *s, enum bad b, size_t i)
{
	if (s->class != OMIS_EVENT)
		buf_putc(out, ':');
	bad_call(out, s, b, i);
	if (s->class == OMIS_EVENT)
		buf_puts(out, ":print([1])");
}

#endif
