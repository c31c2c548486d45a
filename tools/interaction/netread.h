/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interaction networks from files: the JSON form, and event logs in every form that omig log reads.
 * Events of logs are sorted by time in bounded memory, and split into interactions.
 */
#ifndef TOOLS_INTERACTION_NETREAD_H
#define TOOLS_INTERACTION_NETREAD_H

#include "interaction/set/netsplit.h"
#include "interaction/weave/netweave.h"
#include "tools/events/logmerge.h"
#include "tools/events/logread.h"

#define NETREAD_TERMS_MAX 64 /* of each of the options --state, --member, --inherit */

struct netread_terms {
	const char *text[NETREAD_TERMS_MAX]; /* borrowed */
	unsigned n;
};

/* As the callback of an option: into is a struct netread_terms. */
int netread_add_term(void *into, const char *text, struct err *e);

struct netread_options {
	struct logread_options log;
	/* NAME=OBJECT+OBJECT; OBJECT+OBJECT; OBJECT */
	struct netread_terms state, member, inherit;
	/*
	 * For logs with messages of programs: the event whose occurrences are interactions. NULL: a
	 * whole job is one interaction, or the program begins them itself.
	 */
	const char *step, *request;
	struct logmerge_clocks *clocks; /* corrected as they are read; counts events. Or NULL */
};

struct netread_one {
	struct netsplit_part part; /* a complete network has been built */
	const char *const *node; /* names of the nodes of its vertices */
	size_t nnode;
};

/* Any exit status but CMD_OK ends the reading and is returned. */
typedef int (*netread_fn)(void *arg, const struct netread_one *one);

struct netread_report {
	uint64_t other_events; /* events of logs that are not vertices */
	uint64_t repeated, incomplete, wrong, interactions;
	struct netweave_report woven; /* report about messages of programs */
};

/*
 * Reads all files; without one, the standard input. Reports wrong input on stderr. Returns an exit
 * status: CMD_DAMAGED, CMD_PARTIAL if some interaction is incomplete or wrong.
 */
int netread_files(const struct netread_options *w, char **files, netread_fn fn, void *arg,
		  struct netread_report *report);

/* True for an exit status of netread_files() after which its networks are worth an output. */
bool netread_has_result(int status);

/*
 * For the option --only; `only` is NULL without it. The second function reports that no
 * interaction has the name.
 */
bool netread_is_chosen(const struct netread_one *one, const char *only);
int netread_fail_none(const char *only);

#endif
