/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes as their user declares them: C prototypes (or the empty functions themselves), and PROBE
 * declarations of the metric language.
 *
 *	void region_end(int vt, double residuum);
 *	PROBE iteration_end(Process, VirtualTime);
 *
 * The virtual time is the first parameter of a whole number. In a PROBE declaration it is an int,
 * and each Value a double.
 */
#ifndef TOOLS_PROBES_PROBE_DECL_H
#define TOOLS_PROBES_PROBE_DECL_H

#include "common/ring/seg.h"
#include "pmsl/text/diag.h"

#define PROBE_PARAM_BYTES 64

struct probe_type {
	const char *c; /* as C spells it, without blanks that are not needed */
	enum seg_type type;
	const char *fortran; /* "integer(c_int)" */
};

struct probe_param {
	char name[PROBE_PARAM_BYTES];
	const struct probe_type *type;
};

struct probe_decl {
	char name[SEG_PROBE_NAME_BYTES];
	struct probe_param param[SEG_PROBE_PARAMS]; /* in the order of the C function */
	unsigned nparam;
	unsigned vt; /* index of the virtual time */
};

struct probe_decls {
	struct probe_decl v[SEG_PROBES_EACH];
	unsigned n;
};

/* Adds errors to d; without errors *out has at least one probe. Never fails otherwise. */
void probe_decls_read(const struct pmsl_source *s, struct pmsl_diags *d, struct probe_decls *out);

#endif
