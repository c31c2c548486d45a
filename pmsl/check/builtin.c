/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/check/builtin.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "common/ring/calls.h"

#include <stdio.h>
#include <string.h>

enum volume { NONE, OUT, IN, BOTH };
enum { GAUGE, TOTAL };
enum { ANY = PMSL_T_NONE, PROCESS = PMSL_T_PROCESS, NODE = PMSL_T_NODE };

static const struct call_group {
	const char *name, *text;
	uint32_t classes, volume_classes;
	enum volume volume;
} groups[] = {
#define CLASS(name_, classes_, volume_, volume_classes_, text_) \
	{ #name_, text_, classes_, volume_classes_, volume_ },
#include "pmsl/check/builtin.def"
};

static const struct {
	const char *name, *unit, *text;
	int object, kind;
	bool is_by_mount, is_of_plugin;
} sampled[] = {
#define SAMPLED(name_, object_, kind_, unit_, text_, source_, item_) \
	{ #name_, unit_, text_, object_, kind_, false, false },
#define MOUNTED(name_, unit_, text_, item_) { #name_, unit_, text_, PROCESS, TOTAL, true, false },
#define PLUGGED(name_, object_, kind_, text_) { #name_, "1", text_, object_, kind_, false, true },
#include "pmsl/check/builtin.def"
};

static const struct {
	const char *end, *unit, *text;
} quantities[PMSL_QUANTITIES] = {
	[PMSL_Q_COUNT] = { "_count", "calls", "number of" },
	[PMSL_Q_DELAY] = { "_delay", "s", "time in" },
	[PMSL_Q_VOLUME] = { "_volume", "B", "bytes of" },
	[PMSL_Q_VOLUME_OUT] = { "_volume_out", "B", "bytes sent by" },
	[PMSL_Q_VOLUME_IN] = { "_volume_in", "B", "bytes received by" },
};

/* Ids number the groups, then the calls, each with all quantities, then the sampled metrics. */
#define NGROUP ((unsigned)ARRAY_LEN(groups))
#define NSAMPLED ((unsigned)ARRAY_LEN(sampled))

static unsigned first_sampled(void)
{
	return (NGROUP + call_count) * PMSL_QUANTITIES;
}

unsigned pmsl_builtin_ids(void)
{
	return first_sampled() + NSAMPLED;
}

/* Sets the bytes that a quantity counts for this volume; false if there is no such quantity. */
static bool set_volume(struct pmsl_builtin *b, enum volume v)
{
	if (b->quantity == PMSL_Q_COUNT || b->quantity == PMSL_Q_DELAY)
		return true;
	if (v == NONE || (v != BOTH && b->quantity != PMSL_Q_VOLUME))
		return false;
	b->counts_out = v != IN && b->quantity != PMSL_Q_VOLUME_IN;
	b->counts_in = v != OUT && b->quantity != PMSL_Q_VOLUME_OUT;
	return true;
}

static bool get_group(unsigned i, struct pmsl_builtin *b)
{
	const struct call_group *g = &groups[i];

	b->is_of_region = !g->classes;
	b->is_by_partner = g->classes != 0;
	b->classes = b->quantity >= PMSL_Q_VOLUME ? g->volume_classes : g->classes;
	snprintf(b->name, sizeof(b->name), "%s%s", g->name, quantities[b->quantity].end);
	snprintf(b->text, sizeof(b->text), "%s %s", quantities[b->quantity].text, g->text);
	return set_volume(b, g->volume);
}

static bool has_volume(const struct call_desc *d)
{
	return d->start_length || d->end_length || (d->persistent && d->volume);
}

static bool get_call(unsigned i, struct pmsl_builtin *b)
{
	const struct call_desc *d = &call_table[i];

	b->call = (int)i;
	snprintf(b->name, sizeof(b->name), "%s%s", d->name, quantities[b->quantity].end);
	snprintf(b->text, sizeof(b->text), "%s %s%s", quantities[b->quantity].text, d->name,
		 b->quantity == PMSL_Q_COUNT ? " calls" : "");
	return set_volume(b, has_volume(d) ? BOTH : NONE);
}

static bool get_sampled(unsigned i, struct pmsl_builtin *b)
{
	b->quantity = PMSL_Q_SAMPLED;
	b->unit = sampled[i].unit;
	b->is_total = sampled[i].kind == TOTAL;
	b->object = (enum pmsl_kind)sampled[i].object;
	b->is_by_mount = sampled[i].is_by_mount;
	b->is_of_plugin = sampled[i].is_of_plugin;
	str_copy(b->name, sizeof(b->name), sampled[i].name);
	str_copy(b->text, sizeof(b->text), sampled[i].text);
	return true;
}

bool pmsl_builtin_get(unsigned id, struct pmsl_builtin *out)
{
	struct pmsl_builtin b = {
		.call = -1, .object = PMSL_T_PROCESS, .is_total = true, .is_by_partner = true
	};
	unsigned of = id / PMSL_QUANTITIES;
	bool is_there;

	if (id >= pmsl_builtin_ids())
		return false;
	if (id >= first_sampled()) {
		b.is_by_partner = false;
		is_there = get_sampled(id - first_sampled(), &b);
	} else {
		b.quantity = (enum pmsl_quantity)(id % PMSL_QUANTITIES);
		b.unit = quantities[b.quantity].unit;
		is_there = of < NGROUP ? get_group(of, &b) : get_call(of - NGROUP, &b);
	}
	if (is_there)
		*out = b;
	return is_there;
}

/* Returns the number of the group or call of that name, which begins an id; -1 if there is none. */
static int find_counted(const char *name)
{
	int call;

	for (unsigned i = 0; i < NGROUP; i++)
		if (str_eq(groups[i].name, name))
			return (int)i;
	call = call_find(name);
	return call < 0 ? -1 : (int)NGROUP + call;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && str_eq(s + n - m, end);
}

int pmsl_builtin_find(const char *name)
{
	char head[PMSL_BUILTIN_NAME_BYTES];
	struct pmsl_builtin b;
	int of;

	for (unsigned i = 0; i < NSAMPLED; i++)
		if (str_eq(sampled[i].name, name))
			return (int)(first_sampled() + i);
	for (unsigned i = 0; i < PMSL_QUANTITIES; i++) {
		if (!ends_with(name, quantities[i].end) || !str_copy(head, sizeof(head), name))
			continue;
		head[strlen(name) - strlen(quantities[i].end)] = '\0';
		of = find_counted(head);
		if (of >= 0 && pmsl_builtin_get((unsigned)of * PMSL_QUANTITIES + i, &b))
			return (int)((unsigned)of * PMSL_QUANTITIES + i);
	}
	return -1;
}

void pmsl_builtin_try(struct nearest *n, char best[PMSL_BUILTIN_NAME_BYTES])
{
	struct pmsl_builtin b;

	for (unsigned id = 0; id < pmsl_builtin_ids(); id++) {
		if (!pmsl_builtin_get(id, &b))
			continue;
		nearest_try(n, b.name);
		if (n->best == b.name) {
			str_copy(best, PMSL_BUILTIN_NAME_BYTES, b.name);
			n->best = best;
		}
	}
}

static bool counts_class(const struct pmsl_builtin *b, enum call_class class)
{
	return b->call >= 0 ? call_table[b->call].class == class : b->classes >> class & 1;
}

/* True if the metric is the time of waiting calls: it belongs to the partners of their requests. */
static bool waits(const struct pmsl_builtin *b)
{
	if (b->quantity != PMSL_Q_DELAY)
		return false;
	return b->call >= 0 ? call_waits(&call_table[b->call]) : counts_class(b, CALL_COMPLETE);
}

/* True if a call of the metric names one partner: a collective has many, a barrier has none. */
static bool names_a_partner(const struct pmsl_builtin *b)
{
	return counts_class(b, CALL_SEND) || counts_class(b, CALL_RECV) ||
	       counts_class(b, CALL_RMA) || (b->call >= 0 && call_starts(&call_table[b->call]));
}

const char *pmsl_builtin_refusal(const struct pmsl_builtin *b, const struct pmsl_builtin_use *use)
{
	if (b->is_by_mount && !use->by_partners)
		return NULL;
	if (b->is_of_plugin && use->at_probe)
		return "has no value at a probe: the plug-in is asked before a read";
	if (b->is_of_plugin && !use->by_partners)
		return use->by_regions ? NULL : "is of a plug-in: name its metric, in quotes";
	if (b->is_of_region && use->by_partners)
		return "has no partners: it belongs to a region";
	if (b->is_of_region && !use->by_regions)
		return "belongs to a region: name one";
	if ((use->by_partners || use->by_regions) && !b->is_by_partner && !b->is_of_region)
		return "has no partners or regions: it does not measure calls";
	if (use->by_partners && use->at_probe && waits(b))
		return "is not split by partners at a probe: the partner of a wait has a bound, "
		       "which is known at reads";
	if (use->by_partners && !names_a_partner(b) && !waits(b))
		return "is not split by partners: its calls name none";
	if (use->by_partners && use->by_regions && waits(b))
		return "is not split by partners and regions at once: the partner of a wait has a "
		       "bound, which is known at reads";
	if (use->by_regions && use->at_probe)
		return "is not split by regions at a probe: take the difference of its values at "
		       "the region's two probes";
	return NULL;
}

bool pmsl_builtin_is_mount(const char *name)
{
	return name[0] == '/' || str_eq(name, "pipe") || str_eq(name, "socket") ||
	       str_eq(name, "other");
}

bool pmsl_builtin_is_plugged(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n && !name[n] && name[0] >= 'a' && name[0] <= 'z';
}

const char *pmsl_builtin_params(const struct pmsl_builtin *b)
{
	if (b->is_of_plugin && b->object == PMSL_T_NODE)
		return b->is_total ? "Node[] objects, Region metric, TimeInterval time"
				   : "Node[] objects, Region metric, NOW";
	if (b->is_of_plugin)
		return b->is_total ? "Process[] objects, Region metric, TimeInterval time"
				   : "Process[] objects, Region metric, NOW";
	if (b->is_of_region || b->is_by_mount)
		return "Process[] objects, Region[] regions, TimeInterval time";
	if (b->is_by_partner)
		return "Process[] objects, Process[] partners, Region[] regions, TimeInterval time";
	if (b->object == PMSL_T_NONE)
		return "NOW";
	if (b->object == PMSL_T_NODE)
		return b->is_total ? "Node[] objects, TimeInterval time" : "Node[] objects, NOW";
	return b->is_total ? "Process[] objects, TimeInterval time" : "Process[] objects, NOW";
}
