/* SPDX-License-Identifier: Apache-2.0 */
/* Replies as JSON, for scripts. */
#include "common/omis/reply/reply.h"

#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>

static void binary_to_json(struct json *j, const struct omis_value *v)
{
	char *hex = malloc(STR_HEX_LEN(v->s.n) + 1);

	json_object(j);
	json_key(j, "base16");
	if (hex)
		str_hex(hex, v->s.p, v->s.n);
	else
		j->failed = true;
	json_str(j, hex);
	json_object_end(j);
	free(hex);
}

void omis_value_to_json(struct json *j, const struct omis_value *v)
{
	switch (v->kind) {
	case OMIS_INT:
		json_i64(j, v->i);
		break;
	case OMIS_FLOAT:
		json_double(j, v->f);
		break;
	case OMIS_STRING:
	case OMIS_TOKEN:
	case OMIS_ECP:
		json_str_n(j, v->s.p, v->s.n);
		break;
	case OMIS_BINARY:
		binary_to_json(j, v);
		break;
	case OMIS_LIST:
		json_array(j);
		for (size_t i = 0; i < v->list.n; i++)
			omis_value_to_json(j, &v->list.v[i]);
		json_array_end(j);
		break;
	}
}

static void objects_to_json(struct json *j, const char *objects)
{
	size_t len;

	json_array(j);
	for (; *objects; objects += len + (objects[len] == ',')) {
		len = strcspn(objects, ",");
		json_str_n(j, objects, len);
	}
	json_array_end(j);
}

/* What does not parse is shown as it is: words of an error, or a peer's mistake. */
static void value_to_json(struct json *j, const struct reply_entry *e)
{
	struct omis_values *v = NULL;

	if (status_is_error(e->status) || omis_parse_values(e->value, e->nvalue, &v, NULL)) {
		json_key(j, "text");
		json_str_n(j, e->value, e->nvalue);
		return;
	}
	json_key(j, "value");
	json_array(j);
	for (size_t i = 0; i < v->n; i++)
		omis_value_to_json(j, &v->v[i]);
	json_array_end(j);
	omis_values_free(v);
}

static void entry_to_json(struct json *j, const struct reply_entry *e)
{
	json_object(j);
	json_key_u64(j, "action", e->action);
	json_key(j, "objects");
	objects_to_json(j, e->objects);
	json_key_str(j, "status", status_name(e->status));
	if (status_is_fatal(e->status)) {
		json_key_bool(j, "fatal", true);
	}
	value_to_json(j, e);
	json_object_end(j);
}

static void coverage_to_json(struct json *j, const struct reply_coverage *c)
{
	json_object(j);
	json_key_u64(j, "asked", c->asked);
	json_key_u64(j, "answered", c->answered);
	json_key(j, "missing");
	json_array(j);
	for (size_t i = 0; i < c->nmissing; i++) {
		json_object(j);
		json_key_str(j, "object", c->missing[i].object);
		json_key_str(j, "reason", c->missing[i].reason);
		json_object_end(j);
	}
	json_array_end(j);
	if (c->more_missing) {
		json_key_u64(j, "more_missing", c->more_missing);
	}
	json_key_i64(j, "oldest_ns", c->oldest_ns);
	json_key_i64(j, "newest_ns", c->newest_ns);
	json_object_end(j);
}

void reply_to_json(struct json *j, const struct reply *r)
{
	json_object(j);
	json_key_u64(j, "id", r->id);
	json_key_str(j, "kind", r->kind ? status_name(r->kind) : "FINAL");
	if (*r->csr) {
		json_key_str(j, "csr", r->csr);
	}
	json_key(j, "entries");
	json_array(j);
	for (size_t i = 0; i < r->nentry; i++)
		entry_to_json(j, &r->entry[i]);
	json_array_end(j);
	json_key(j, "coverage");
	coverage_to_json(j, &r->coverage);
	json_object_end(j);
}
