/* SPDX-License-Identifier: Apache-2.0 */
/* Networks written to files: omig interaction dump, split, filter and draw. */
#ifndef TOOLS_INTERACTION_NETFILES_H
#define TOOLS_INTERACTION_NETFILES_H

#include "tools/interaction/netread.h"

struct netfiles_options {
	struct netread_options read;
	const char *only; /* the interaction of this name; NULL: all */
	const char *output; /* a file; split: a folder. NULL: standard output */
	/* NULL: bp for dump; for draw, the form that the name of the output states */
	const char *to; /* dump: a form of omig log; draw: svg, html, dot, chrome, otlp */
	struct netread_terms omit; /* filter: objects; "all" */
	bool is_equal; /* draw: equal spacing */
};

/* Return an exit status. */
int netfiles_dump(const struct netfiles_options *w, char **files);
int netfiles_split(const struct netfiles_options *w, char **files);
int netfiles_filter(const struct netfiles_options *w, char **files);
int netfiles_draw(const struct netfiles_options *w, char **files);

#endif
