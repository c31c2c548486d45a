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

static bool put_name(struct gate *g, const struct image_name *n)
{
	size_t size = strlen(n->text) + 1;

	if (size > sizeof(g->text) - g->ntext)
		return false;
	memcpy(g->text + g->ntext, n->text, size);
	g->name[g->nname] = g->ntext;
	g->ntext += (uint32_t)size;
	g->nname++;
	return true;
}

static int put_names(struct gate *g, const struct image *m, struct err *e)
{
	for (size_t i = 0; i < m->nname; i++)
		if (!put_name(g, &m->name[i]))
			return err_set(e, ERR_LIMIT, "its MPI library has too many functions");
	return 0;
}

/*
 * Leads each name to the loader code, and stores its present address. A name of an unloaded library
 * keeps the former one, which no call uses.
 */
static void lead_to_loader(struct gate *g, const struct image *m, uint64_t base)
{
	for (unsigned i = 0; i < g->nname; i++) {
		const struct image_name *n = smap_find(&m->by_name, gate_name(g, i));

		if (n)
			g->original[i] = n->address;
		g->target[i] = code_loader(base, i);
	}
}

int build_gate(const struct image *m, const struct build_conf *c, struct gate *g, struct err *e)
{
	int rc = 0;

	g->magic = GATE_MAGIC;
	g->version = GATE_VERSION;
	g->state = GATE_ARMED;
	g->why[0] = 0;
	g->pid = c->inner_pid;
	g->dlopen = m->dlopen;
	g->dlsym = m->dlsym;
	g->errno_location = m->errno_location;
	g->dlerror = m->dlerror;
	str_copy(g->enter, sizeof(g->enter), GATE_ENTER_NAME);
	if (!put_texts(g, c))
		return err_set(e, ERR_LIMIT, "a path is longer than %d bytes", GATE_PATH_BYTES);
	if (!g->nname)
		rc = put_names(g, m, e);
	if (!rc)
		lead_to_loader(g, m, c->base);
	return rc;
}

int build_add_slot(struct gate *g, const struct gate_slot *slot)
{
	if (g->nslot == GATE_SLOTS_MAX)
		return -ERR_LIMIT;
	g->slot[g->nslot++] = *slot;
	return 0;
}
