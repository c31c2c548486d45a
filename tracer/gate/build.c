/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/gate/build.h"

#include "common/base/str.h"
#include "tracer/gate/code.h"

#include <string.h>

static bool put_texts(struct gate *g, const struct build_conf *c)
{
	return str_copy(g->library, sizeof(g->library), c->library) &&
	       str_copy(g->conn, sizeof(g->conn), c->conn) &&
	       str_copy(g->runtime, sizeof(g->runtime), c->runtime) &&
	       str_copy(g->host, sizeof(g->host), c->host);
}

static bool put_name(struct gate *g, const struct image_name *n, uint64_t base)
{
	size_t size = strlen(n->text) + 1;

	if (size > sizeof(g->text) - g->ntext)
		return false;
	memcpy(g->text + g->ntext, n->text, size);
	g->name[g->nname] = g->ntext;
	g->ntext += (uint32_t)size;
	g->original[g->nname] = n->address;
	g->target[g->nname] = code_loader(base, g->nname);
	g->nname++;
	return true;
}

int build_gate(const struct image *m, const struct build_conf *c, struct gate *out, struct err *e)
{
	memset(out, 0, sizeof(*out));
	out->magic = GATE_MAGIC;
	out->version = GATE_VERSION;
	out->state = GATE_ARMED;
	out->pid = c->inner_pid;
	out->dlopen = m->dlopen;
	out->dlsym = m->dlsym;
	out->errno_location = m->errno_location;
	str_copy(out->enter, sizeof(out->enter), GATE_ENTER_NAME);
	if (!put_texts(out, c))
		return err_set(e, ERR_LIMIT, "a path is longer than %d bytes", GATE_PATH_BYTES);
	for (size_t i = 0; i < m->nname; i++)
		if (!put_name(out, &m->name[i], c->base))
			return err_set(e, ERR_LIMIT, "its MPI library has too many functions");
	return 0;
}

int build_add_slot(struct gate *g, const struct gate_slot *slot)
{
	if (g->nslot == GATE_SLOTS_MAX)
		return -ERR_LIMIT;
	g->slot[g->nslot++] = *slot;
	return 0;
}
