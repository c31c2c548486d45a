/* SPDX-License-Identifier: Apache-2.0 */
/* A well-formed call of any service, out of its signature: for tests that go through the
 * catalogue. */
#ifndef TESTS_ANY_CALL_H
#define TESTS_ANY_CALL_H

#include "common/base/buf.h"
#include "common/omis/services/catalogue.h"

static inline const char *any_value(const struct omis_param *p)
{
	if (p->list)
		return "[]";
	switch (p->type) {
	case OMIS_T_FLOAT:
		return "1.0";
	case OMIS_T_STRING:
		return "\"x\"";
	case OMIS_T_BINARY:
		return "1#x";
	case OMIS_T_TOKEN:
		return p->class == 'k' || p->class == 'a' ? "pa_c_1"
		       : p->class == 'i'		  ? "pa_i_1"
		       : p->class == 'b'		  ? "trace_b_1"
							  : "n_1";
	default:
		return "1";
	}
}

/* object: text for the objects that the service works on; NULL = any value. */
static inline void any_call(struct buf *out, const struct omis_service *s, const char *object)
{
	buf_printf(out, "%s(", s->name);
	for (size_t i = 0; i < omis_service_nparam(s); i++) {
		bool is_object = object && (int)i == s->object_param;

		buf_printf(out, "%s%s", i ? "," : "", is_object ? object : any_value(&s->param[i]));
	}
	buf_putc(out, ')');
}

/* Appends a whole request: an event with an action, or an action. */
static inline void any_request(struct buf *out, const struct omis_service *s, const char *object)
{
	if (s->class != OMIS_EVENT)
		buf_putc(out, ':');
	any_call(out, s, object);
	if (s->class == OMIS_EVENT)
		buf_puts(out, ":print([1])");
}

#endif
