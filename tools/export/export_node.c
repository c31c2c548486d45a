/* SPDX-License-Identifier: Apache-2.0 */
/* Values of nodes. One table lists the requested fields and their metrics. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "tools/export/export.h"
#include "tools/session/node_fields.h"
#include "tools/session/session.h"

#include <assert.h>
#include <math.h>

#define GAUGE(name, unit, help)                \
	{                                      \
		name, METRIC_GAUGE, unit, help \
	}
#define ROW(f, n, u, h, ...)                                                                \
	{                                                                                   \
		.family = GAUGE("omig_node_" n, u, h), .field = f, .label = { __VA_ARGS__ } \
	}

/* Rows of one family are adjacent; the first row has its help. */
static const struct {
	struct metric family;
	enum node_field field;
	struct metric_label label[2];
	bool is_pages;
} rows[] = {
	ROW(NODE_CPUS, "cpus", "", "Processors.", { 0 }),
	{ .family = GAUGE("omig_node_memory_bytes", "bytes", "Memory of the host."),
	  .field = NODE_PAGES,
	  .is_pages = true },
	{ .family = GAUGE("omig_node_memory_used_bytes", "bytes", "Memory in use."),
	  .field = NODE_PAGES_USED,
	  .is_pages = true },
	{ .family = GAUGE("omig_node_swap_free_bytes", "bytes", "Swap space that is free."),
	  .field = NODE_SWAP_PAGES_FREE,
	  .is_pages = true },
	ROW(NODE_RUNNING, "running_tasks", "", "Tasks that run or could.", { 0 }),
	ROW(NODE_LOAD_1MIN, "load", "", "Load average.", { "over", "1m" }),
	ROW(NODE_LOAD_5MIN, "load", "", "", { "over", "5m" }),
	ROW(NODE_LOAD_15MIN, "load", "", "", { "over", "15m" }),
	ROW(NODE_SHARE_USER, "cpu_ratio", "ratio", "Share of processor time, by what it went to.",
	    { "mode", "user" }),
	ROW(NODE_SHARE_SYSTEM, "cpu_ratio", "ratio", "", { "mode", "system" }),
	ROW(NODE_SHARE_IDLE, "cpu_ratio", "ratio", "", { "mode", "idle" }),
	ROW(NODE_SHARE_IOWAIT, "cpu_ratio", "ratio", "", { "mode", "iowait" }),
	ROW(NODE_SHARE_STEAL, "cpu_ratio", "ratio", "", { "mode", "steal" }),
	ROW(NODE_SWITCHES, "context_switches_per_second", "", "Context switches a second.", { 0 }),
	ROW(NODE_FAST_PACKETS_IN, "packets_per_second", "", "Packets a second, by kind of network.",
	    { "network", "fast" }, { "direction", "in" }),
	ROW(NODE_FAST_PACKETS_OUT, "packets_per_second", "", "", { "network", "fast" },
	    { "direction", "out" }),
	ROW(NODE_SLOW_PACKETS_IN, "packets_per_second", "", "", { "network", "slow" },
	    { "direction", "in" }),
	ROW(NODE_SLOW_PACKETS_OUT, "packets_per_second", "", "", { "network", "slow" },
	    { "direction", "out" }),
	ROW(NODE_CPU_SOME, "pressure_percent", "percent", "Share of 10 s in which tasks waited.",
	    { "resource", "cpu" }, { "tasks", "some" }),
	ROW(NODE_MEMORY_SOME, "pressure_percent", "percent", "", { "resource", "memory" },
	    { "tasks", "some" }),
	ROW(NODE_MEMORY_FULL, "pressure_percent", "percent", "", { "resource", "memory" },
	    { "tasks", "full" }),
	ROW(NODE_IO_SOME, "pressure_percent", "percent", "", { "resource", "io" },
	    { "tasks", "some" }),
	ROW(NODE_IO_FULL, "pressure_percent", "percent", "", { "resource", "io" },
	    { "tasks", "full" }),
};
static_assert(ARRAY_LEN(rows) <= EXPORT_NODE_VALUES, "each row has its value");

unsigned export_node_flags(void)
{
	unsigned flags = NODE_FLAG(NODE_PAGE_SIZE);

	for (size_t k = 0; k < ARRAY_LEN(rows); k++)
		flags |= NODE_FLAG(rows[k].field);
	return flags;
}

/* The service returns -1 for unknown values. */
static double value_of(const Omis_value *v, enum node_field field)
{
	double d = value_float(v, node_field_at(field, export_node_flags()));

	return d < 0 ? (double)NAN : d;
}

void export_node_read(struct export_node *n, const Omis_value *v)
{
	for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
		n->v[k] = v ? value_of(v, rows[k].field) : (double)NAN;
		if (v && rows[k].is_pages)
			n->v[k] *= value_of(v, NODE_PAGE_SIZE);
	}
}

static void write_up(const struct export *x, struct metrics *m)
{
	static const struct metric up = { "omig_node_up", METRIC_GAUGE, "",
					  "1 while the host's lm answers." };

	metrics_family(m, &up);
	for (size_t i = 0; i < x->nnode; i++)
		metrics_sample(m,
			       (struct metric_label[]){ { "site", x->node[i].site },
							{ "node", x->node[i].name },
							{ 0 } },
			       str_eq(x->node[i].state, "up"));
}

void export_node_write(const struct export *x, struct metrics *m)
{
	write_up(x, m);
	for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
		if (!k || !str_eq(rows[k].family.name, rows[k - 1].family.name))
			metrics_family(m, &rows[k].family);
		for (size_t i = 0; i < x->nnode; i++)
			metrics_sample(m,
				       (struct metric_label[]){ { "site", x->node[i].site },
								{ "node", x->node[i].name },
								rows[k].label[0],
								rows[k].label[1],
								{ 0 } },
				       x->node[i].v[k]);
	}
}
