/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/directory/object.h"

#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>

struct field {
	size_t offset; /* of a const char * in struct object */
	const char *value;
};

#define FIELD(o_member, m_value)                                              \
	{                                                                     \
		offsetof(struct object, o_member), (m_value) ? (m_value) : "" \
	}
#define NFIELD 4

static const char **at(struct object *o, size_t offset)
{
	return (const char **)(void *)((char *)o + offset);
}

/* 1 changed, 0 equal. */
static int set_string(struct object *o, const struct field *f)
{
	const char **slot = at(o, f->offset);
	char *copy;

	if (str_eq(*slot, f->value))
		return 0;
	copy = str_dup(f->value);
	if (!copy)
		return -ERR_NOMEM;
	free((char *)*slot);
	*slot = copy;
	return 1;
}

static int set_strings(struct object *o, const struct msg_object *m)
{
	const struct field field[NFIELD] = {
		FIELD(name, m->name),
		FIELD(job, m->job),
		FIELD(flavour, m->flavour),
		FIELD(host, m->host),
	};
	int changed = 0;

	for (size_t i = 0; i < NFIELD; i++) {
		int got = set_string(o, &field[i]);

		if (got < 0)
			return got;
		changed |= got;
	}
	return changed;
}

struct object *object_new(enum object_kind kind, const struct msg_object *m)
{
	struct object *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->kind = kind;
	o->token = str_dup(m->token);
	list_init(&o->children);
	list_init(&o->sibling);
	if (!o->token || object_update(o, m) < 0) {
		object_free(o);
		return NULL;
	}
	return o;
}

void object_free(struct object *o)
{
	if (!o)
		return;
	buf_done(&o->services);
	free((char *)o->token);
	free((char *)o->name);
	free((char *)o->job);
	free((char *)o->flavour);
	free((char *)o->host);
	free(o);
}

int object_update(struct object *o, const struct msg_object *m)
{
	uint32_t state = m->state > MSG_STATE_UNREACHABLE ? MSG_STATE_UNREACHABLE : m->state;
	int changed = set_strings(o, m);

	if (changed < 0)
		return changed;
	changed |= o->pid != m->pid || o->rank != m->rank || o->world_size != m->world_size ||
		   o->state != state || o->exit_status != m->exit_status;
	o->pid = m->pid;
	o->rank = m->rank;
	o->world_size = m->world_size;
	o->state = state;
	o->exit_status = m->exit_status;
	o->time_ns = m->time_ns;
	return changed;
}

struct object *object_container(const struct object *o, enum object_kind kind)
{
	while (o && o->kind > kind)
		o = o->parent;
	return o && o->kind == kind ? (struct object *)o : NULL;
}

uint32_t object_state(const struct object *o)
{
	const struct object *node = object_container(o, OBJECT_NODE);

	if (node && node->sub == MSG_NODE_LOST && o->state != MSG_STATE_ENDED)
		return MSG_STATE_UNREACHABLE;
	return o->state;
}

int object_kind_of(char letter)
{
	static const char letters[] = "snpt";
	const char *p = letter ? strchr(letters, letter) : NULL;

	return p ? (int)(p - letters) : -1;
}
