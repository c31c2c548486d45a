/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every service in one table. The check of requests, rights, planning, services(), the manual page
 * and the shell's completion use it.
 */
#ifndef COMMON_OMIS_SERVICES_CATALOGUE_H
#define COMMON_OMIS_SERVICES_CATALOGUE_H

#include "common/omis/text/value.h"

enum omis_class { OMIS_INFO, OMIS_MANIP, OMIS_EVENT };

enum omis_where {
	OMIS_AT_TOP, /* mainsm executes it */
	OMIS_AT_NODE, /* the lm of the object executes it */
	OMIS_AT_RANK, /* the lm executes it; as the action of an event it runs in the rank */
	OMIS_AT_EACH, /* mainsm executes it, and then each daemon on the way to the objects */
	/*
	 * a predicate: before other actions it is evaluated where the event is detected, otherwise
	 * at mainsm
	 */
	OMIS_AT_EVENT,
};

/*
 * Rights, each of which includes those before it. 0 is not a right, so that a missing right permits
 * nothing.
 */
enum omis_right { OMIS_NO_RIGHT, OMIS_OBSERVE, OMIS_MANIPULATE, OMIS_ADMIN };

enum omis_state { OMIS_UNSUPPORTED, OMIS_PARTLY, OMIS_DONE };

/* How results of one action for the same objects are merged. */
enum omis_merge {
	OMIS_MERGE_LIST, /* not at all: results are listed one after the other */
	OMIS_MERGE_SUM, /* added: v */
	OMIS_MERGE_INTEGRATOR, /* added at the latest time: I, v, t */
	OMIS_MERGE_MEASURE, /* added over the widest time: value, from, to */
};

enum omis_flag {
	/* the object list may have objects that are not attached: mainsm interprets it */
	OMIS_RAW = 1,
	OMIS_SCOPE = 2, /* changes which objects are attached to the tool */
	OMIS_INTERNAL = 4, /* for requests between daemons; unknown to tools */
	OMIS_OPTIONAL = 8, /* the OMIS specification leaves it to the implementation */
};

enum omis_type { OMIS_T_INT, OMIS_T_FLOAT, OMIS_T_STRING, OMIS_T_TOKEN, OMIS_T_BINARY, OMIS_T_ANY };

struct omis_param {
	const char *name; /* NULL in the entry behind the last one */
	enum omis_type type;
	bool list;
	char class; /* class of a TOKEN, as in token_class() or token_measure(); 0: any */
	/* text of the default value, for parameters at the end; NULL = required */
	const char *def;
	/* a list of world ranks: mainsm replaces processes in it by their ranks */
	bool is_ranks;
	bool is_flags; /* a sum of bits, or -1 for all bits */
};

#define OMIS_PARAMS_MAX 6
#define OMIS_PAR_ECPS 16 /* $par0 .. $par15 */

struct omis_service {
	const char *name;
	/* "" for basic services, otherwise "pa", "patop", "omig", ... as in extensions() */
	const char *extension;
	enum omis_class class;
	char object; /* class of its objects, as in token_class(); 0 = none */
	int object_param; /* index of the parameter with the objects; -1 = none */
	enum omis_where where;
	enum omis_right right;
	enum omis_state state;
	enum omis_merge merge;
	unsigned flags; /* enum omis_flag */
	/*
	 * Bits of its second parameter, `flags`, that require OMIS_MANIPULATE because they may
	 * reveal secrets.
	 */
	int64_t guarded;
	struct omis_param param[OMIS_PARAMS_MAX + 1];
	/*
	 * context parameters of an event, separated by blanks. "par" means $par0..$par15; "vt" adds
	 * $par1. NULL = none
	 */
	const char *ecps;
	const char *result; /* names of the result values; NULL = void */
	const char *help; /* one or two sentences */
};

/* Returns NULL if there is no such service. */
const struct omis_service *omis_service_find(const char *name, size_t n);

/*
 * Returns service i in the order of the manual, in which the basic ones are first; NULL beyond the
 * last one.
 */
const struct omis_service *omis_service_at(size_t i);
size_t omis_service_count(void);

size_t omis_service_nparam(const struct omis_service *s);

/*
 * True if the name (without '$') is one of $node $proc $thread $time $csr, or a parameter of the
 * event itself.
 */
bool omis_service_has_ecp(const struct omis_service *event, const char *name, size_t n);

/* Returns the number of "par0" to "par15"; -1 for other names. */
int omis_par_number(const char *name, size_t n);

/* Writes name(type name, ...) -> result, in the form of manuals. */
void omis_print_signature(struct buf *b, const struct omis_service *s);

/*
 * Write the table as sections of a scdoc page; as Markdown; as lines
 * `name<TAB>class<TAB>state<TAB>signature<TAB>help`.
 */
void omis_print_scdoc(struct buf *b);
void omis_print_markdown(struct buf *b);
void omis_print_completion(struct buf *b);

/*
 * Write the results of services(prefix) and extensions(). Services of plug-ins are not in the
 * catalogue: added.h. The first function fails with ERR_NOTFOUND if no service has that prefix.
 */
int omis_write_services(struct omis_writer *w, const char *extension);
void omis_write_extensions(struct omis_writer *w);

const char *omis_class_name(enum omis_class c);
const char *omis_right_name(enum omis_right r);
const char *omis_state_name(enum omis_state s);
const char *omis_where_name(enum omis_where w);

#endif
