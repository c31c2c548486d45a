/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every service in one table. It drives the check of requests, rights, planning, services(), the
 * manual page and the shell's completion.
 */
#ifndef COMMON_OMIS_SERVICES_CATALOGUE_H
#define COMMON_OMIS_SERVICES_CATALOGUE_H

#include "common/omis/text/value.h"

enum omis_class { OMIS_INFO, OMIS_MANIP, OMIS_EVENT };

enum omis_where {
	OMIS_AT_TOP, /* mainsm answers by itself */
	OMIS_AT_NODE, /* the lm of the object */
	OMIS_AT_RANK, /* as AT_NODE; as the action of an event it runs inside the rank */
	OMIS_AT_EACH, /* every daemon on the way: mainsm, then those concerned by the objects */
	/* a predicate: in front of other actions where the event is detected, else at mainsm */
	OMIS_AT_EVENT,
};

/*
 * Ordered: each includes those before it. 0 is not a right, so that a missing right grants nothing.
 */
enum omis_right { OMIS_NO_RIGHT, OMIS_OBSERVE, OMIS_MANIPULATE, OMIS_ADMIN };

enum omis_state { OMIS_UNSUPPORTED, OMIS_PARTLY, OMIS_DONE };

/* How to merge results of one action for the same objects. */
enum omis_merge {
	OMIS_MERGE_LIST, /* no merge: results are listed one after the other */
	OMIS_MERGE_SUM, /* add: v */
	OMIS_MERGE_INTEGRATOR, /* add at the latest time: I, v, t */
	OMIS_MERGE_MEASURE, /* add over the widest time: value, from, to */
};

enum omis_flag {
	/* the object list may name objects that are not attached: mainsm interprets it */
	OMIS_RAW = 1,
	OMIS_SCOPE = 2, /* changes what the tool is attached to */
	OMIS_INTERNAL = 4, /* from daemon to daemon; for a tool it does not exist */
	OMIS_OPTIONAL = 8, /* the interface leaves it to the implementation */
};

enum omis_type { OMIS_T_INT, OMIS_T_FLOAT, OMIS_T_STRING, OMIS_T_TOKEN, OMIS_T_BINARY, OMIS_T_ANY };

struct omis_param {
	const char *name; /* NULL ends the parameters */
	enum omis_type type;
	bool list;
	char class; /* of a TOKEN: as token_class() or token_measure(); 0 any */
	/* text of the default value (only for parameters at the end); NULL = required */
	const char *def;
	/* a list of world ranks: mainsm replaces processes in it by their ranks */
	bool is_ranks;
	bool is_flags; /* a sum of bits, or -1: all of them */
};

#define OMIS_PARAMS_MAX 6
#define OMIS_PAR_ECPS 16 /* $par0 .. $par15 */

struct omis_service {
	const char *name;
	/* "" for the basic ones, else "pa", "patop", "omig", ... as in extensions() */
	const char *extension;
	enum omis_class class;
	char object; /* class of its objects, as token_class(); 0 = none */
	int object_param; /* index of the parameter that names them; -1 = none */
	enum omis_where where;
	enum omis_right right;
	enum omis_state state;
	enum omis_merge merge;
	unsigned flags; /* enum omis_flag */
	/*
	 * Bits of `flags`, its second parameter, that require OMIS_MANIPULATE, because they may
	 * reveal secrets.
	 */
	int64_t guarded;
	struct omis_param param[OMIS_PARAMS_MAX + 1];
	/*
	 * an event's own context parameters, separated by blanks; "par" means $par0..$par15, and
	 * "vt" with it $par1; NULL = none
	 */
	const char *ecps;
	const char *result; /* names of its result values; NULL = void */
	const char *help; /* one sentence or two */
};

/* Returns NULL if there is no such service. */
const struct omis_service *omis_service_find(const char *name, size_t n);

/* Returns service i in the order of the manual: the basic ones first; NULL beyond the last. */
const struct omis_service *omis_service_at(size_t i);
size_t omis_service_count(void);

size_t omis_service_nparam(const struct omis_service *s);

/* True if the name (without '$') is one of $node $proc $thread $time $csr, or the event's own. */
bool omis_service_has_ecp(const struct omis_service *event, const char *name, size_t n);

/* Returns k of "park", 0..15; -1 for other names. */
int omis_par_number(const char *name, size_t n);

/* Writes name(type name, ...) -> result, as in manuals. */
void omis_print_signature(struct buf *b, const struct omis_service *s);

/*
 * Whole documents of the table: sections of a scdoc page; Markdown;
 * `name<TAB>class<TAB>state<TAB>signature<TAB>help` lines.
 */
void omis_print_scdoc(struct buf *b);
void omis_print_markdown(struct buf *b);
void omis_print_completion(struct buf *b);

/*
 * Write the results of services(prefix) and extensions(). Those of plug-ins are in no catalogue:
 * added.h. -ERR_NOTFOUND if nothing has that prefix.
 */
int omis_write_services(struct omis_writer *w, const char *extension);
void omis_write_extensions(struct omis_writer *w);

const char *omis_class_name(enum omis_class c);
const char *omis_right_name(enum omis_right r);
const char *omis_state_name(enum omis_state s);
const char *omis_where_name(enum omis_where w);

#endif
