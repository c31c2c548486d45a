/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gate/gate.h"

#include <string.h>

static bool ends(const char *text, size_t size)
{
	return memchr(text, 0, size);
}

bool gate_is_valid(const struct gate *g)
{
	if (g->magic != GATE_MAGIC || g->version != GATE_VERSION || g->nname > GATE_NAMES_MAX ||
	    g->nslot > GATE_SLOTS_MAX || g->ntext > GATE_TEXT_BYTES)
		return false;
	if (!ends(g->library, sizeof(g->library)) || !ends(g->conn, sizeof(g->conn)) ||
	    !ends(g->runtime, sizeof(g->runtime)) || !ends(g->host, sizeof(g->host)))
		return false;
	if (g->nname && (!g->ntext || g->text[g->ntext - 1]))
		return false;
	for (unsigned i = 0; i < g->nname; i++)
		if (g->name[i] >= g->ntext)
			return false;
	return true;
}

const char *gate_name(const struct gate *g, unsigned i)
{
	return i < g->nname ? g->text + g->name[i] : NULL;
}

int gate_find(const struct gate *g, const char *name)
{
	unsigned from = 0, to = g->nname;

	while (from < to) {
		unsigned middle = from + (to - from) / 2;
		int order = strcmp(name, gate_name(g, middle));

		if (!order)
			return (int)middle;
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return -1;
}

const char *gate_state_name(unsigned state)
{
	static const char *const name[GATE_STATES] = {
		[GATE_ARMED] = "pending", [GATE_ENTERING] = "entering", [GATE_OPEN] = "watched",
		[GATE_FAILED] = "failed", [GATE_CLOSED] = "detached",
	};

	return state < GATE_STATES ? name[state] : "?";
}
