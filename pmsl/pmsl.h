/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metric language, in two steps: a text is compiled once; each of its
 * metrics may then be planned for objects, as often as these change.
 *
 *	pmsl_compile("loops.pmsl", text, n, &d, &p);
 *	m = pmsl_metric(p, "Loop_Counter", &d);
 *	pmsl_plan(&demand, &d, &plan);
 *	... each plan.pieces.v[i].graph goes to plan.pieces.v[i].place
 *	pmsl_plan_done(&plan);
 */
#ifndef PMSL_PMSL_H
#define PMSL_PMSL_H

#include "pmsl/plan/place.h"
#include "pmsl/text/diag.h"
#include "pmsl/text/tree.h"

struct pmsl;

/*
 * Text and name are copied. *out is made even for a text with errors, for its names. -ERR_NOMEM;
 * other errors are in d.
 */
int pmsl_compile(const char *name, const char *text, size_t n, struct pmsl_diags *d,
		 struct pmsl **out);
void pmsl_free(struct pmsl *p);

#define PMSL_LIBRARY_MAX 64 /* texts that one text uses, directly or through others */

/* Texts whose metrics another text may use. Each follows the texts that it uses itself. */
struct pmsl_library {
	struct pmsl_source *v;
	size_t n;
};

/*
 * Compiles like pmsl_compile() a text that uses metrics of the library, whose texts are copied. A
 * metric of its own hides one of the same name. An error in a used metric is reported at the use.
 * -ERR_INVALID: a text of the library has errors of its own. -ERR_LIMIT: it has more than
 * PMSL_LIBRARY_MAX texts.
 */
int pmsl_compile_with(const struct pmsl_library *l, const struct pmsl_source *s,
		      struct pmsl_diags *d, struct pmsl **out);

/* Calls fn for each name in the text: metrics, functions, variables and others. */
void pmsl_names_each(const char *text, size_t n, void (*fn)(void *arg, const char *name, size_t n),
		     void *arg);

const struct pmsl_source *pmsl_source(const struct pmsl *p);
const struct pmsl_tree *pmsl_tree(const struct pmsl *p);
const struct pmsl_units *pmsl_units(const struct pmsl *p);

/* Returns a metric without errors; else NULL, and d lists the others. */
const struct pmsl_metric *pmsl_metric(const struct pmsl *p, const char *name, struct pmsl_diags *d);

struct pmsl_plan {
	struct dag *dag;
	struct bound bound; /* the graph before it was cut */
	struct bind_outputs outputs;
	struct pieces pieces;
};

struct pmsl_demand {
	const struct pmsl *text;
	const struct pmsl_metric *metric; /* a metric of a compiled text */
	const struct world *world;
	const struct bind_options *options;
	uint32_t measurement; /* number of the measurement, not 0 */
};

/*
 * The world is borrowed during the plan's life. -ERR_INVALID, -ERR_LIMIT with errors in d,
 * -ERR_NOMEM.
 */
int pmsl_plan(const struct pmsl_demand *w, struct pmsl_diags *d, struct pmsl_plan *out);

/*
 * Returns 0 if the graph of such a plan reports when the rule `until` holds; -ERR_UNSUPPORTED,
 * -ERR_NOMEM. See bind_can_stop().
 */
int pmsl_can_stop(const struct pmsl_metric *m, const struct bind_options *options);
void pmsl_plan_done(struct pmsl_plan *plan);

/*
 * Writes a text with one metric, Measured, equal to the built-in metric. So both kinds are measured
 * in the same way. has_partners, has_regions: the parameters partners and regions follow the
 * parameter objects. -ERR_NOTFOUND, -ERR_UNSUPPORTED (pmsl_builtin_refusal() has the reason).
 */
int pmsl_builtin_source(const char *builtin, bool has_partners, bool has_regions, struct buf *out);

#endif
