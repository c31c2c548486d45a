/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue of services for tools. */
#include "common/base/str.h"
#include "common/omis/omis.h"
#include "tools/libomis/omis.h"

#include <string.h>

static const char *kind_name(enum omis_class c)
{
	switch (c) {
	case OMIS_INFO:
		return "information";
	case OMIS_MANIP:
		return "manipulation";
	case OMIS_EVENT:
		break;
	}
	return "event";
}

/* Service i of those that tools may use. */
static const struct omis_service *find(unsigned i)
{
	const struct omis_service *s;

	for (size_t k = 0; (s = omis_service_at(k)); k++)
		if (!(s->flags & OMIS_INTERNAL) && i-- == 0)
			return s;
	return NULL;
}

int omis_service_info(unsigned i, Omis_service_info *out)
{
	const struct omis_service *s = find(i);
	struct buf b = BUF_INIT(4096);

	memset(out, 0, sizeof(*out));
	if (!s)
		return 0;
	out->name = s->name;
	out->extension = s->extension;
	out->kind = kind_name(s->class);
	out->right = omis_right_name(s->right);
	out->state = omis_state_name(s->state);
	out->where = omis_where_name(s->where);
	out->help = s->help;
	omis_print_signature(&b, s);
	str_copy(out->signature, sizeof(out->signature), buf_str(&b));
	buf_done(&b);
	return 1;
}
