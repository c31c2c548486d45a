/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a dataflow graph of a template and the objects to measure. Values that do not change
 * (attributes, IN, ranks) are computed here and never reach a daemon.
 *
 * - A missing parameter of objects means all of its kind; one of regions means everywhere. An
 * object is measured if the nearest named object above it, or itself, is included and not excluded.
 * - A list for a parameter that is one object makes a graph of each, and of each combination of
 *   several such parameters. Their values are added up when the metric is_extensive (dag.h), else
 *   averaged; `struct bind_options` may say otherwise.
 * - by: one output for each object of the first parameter's list, or for each of their nodes or
 *   sites.
 * - each: splits each of these outputs by partner, by region, or by both. Partners are the second
 *   parameter that is a list of processes. Regions are the first list of regions, which must be
 *   given.
 * - A built-in metric of several objects is the sum of their values, or the mean if values do not
 *   add up.
 * - since: the meaning of the metric's own TimeInterval.
 */
#ifndef PMSL_PLAN_BIND_H
#define PMSL_PLAN_BIND_H

#include "pmsl/plan/bound.h"
#include "pmsl/plan/dag.h"

#define BIND_COMBINATIONS_MAX 1000000 /* combinations of objects that one aggregate examines */
#define BIND_OUTPUTS_MAX 4096

/* 2^53: whole numbers up to it are exact as a double, too. */
#define BIND_VT_MAX INT64_C(9007199254740992)

/* Virtual times from .. to, both included. */
struct bind_range {
	int64_t from, to;
};

/*
 * One argument: objects by their indexes in the world, names of regions, a number, or virtual
 * times.
 */
struct bind_arg {
	bool is_given;
	const uint32_t *object;
	size_t nobject;
	/* excluded from the objects, or from all objects if there are none */
	const uint32_t *without;
	size_t nwithout;
	const char *const *region;
	size_t nregion;
	double value;
	/* wanted virtual times; for the parameter that values are indexed by, too */
	const struct bind_range *vt;
	size_t nvt;
};

enum bind_by { BIND_BY_NOTHING, BIND_BY_PROCESS, BIND_BY_NODE, BIND_BY_SITE };
/* Bits. */
enum bind_each {
	BIND_EACH_NOTHING,
	BIND_EACH_PARTNER = 1,
	BIND_EACH_REGION = 2,
	BIND_EACH_BOTH = 3,
};

struct bind_options {
	const struct bind_arg *arg; /* one argument for each parameter of the metric */
	enum flow_since since;
	bool per_second; /* divided by the time of `since` */
	bool has_agg; /* `agg` replaces the usual aggregate over objects */
	enum agg_kind agg;
	enum bind_by by;
	enum bind_each each;
	/* mainsm receives all values and evaluates the graph alone, for comparisons */
	bool is_central;
	/* a rule (stats/stop.h), evaluated where all values have been merged; NULL: none */
	const char *until;
};

/*
 * Output k belongs to `object` (WORLD_NONE: all objects together), and to the partner or region if
 * one is set.
 */
struct bind_output {
	uint32_t object, node;
	uint32_t partner; /* WORLD_NONE = all partners */
	const char *region; /* NULL; owned by the arena of the graph */
};

struct bind_outputs {
	struct bind_output *v;
	size_t n;
};

/*
 * True if a graph can evaluate a rule. It must aggregate over virtual times since the start, with
 * the moments of a mean. Each output must be about one object. Otherwise `until` has no effect.
 */
bool bind_can_stop(const struct dag *g, const struct bind_options *options);

/*
 * b is initialised; it gets the nodes. out->v (owned by b's arena) are the RESULT nodes, in order.
 * -ERR_INVALID, -ERR_LIMIT with an error in d, -ERR_NOMEM.
 */
int bind_metric(const struct dag *g, const struct bind_options *options, struct bound *b,
		struct pmsl_diags *d, struct bind_outputs *out);

#endif
