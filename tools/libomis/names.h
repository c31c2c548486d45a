/* SPDX-License-Identifier: Apache-2.0 */
/* Inside libomis: its own requests, and the names of objects in replies. */
#ifndef TOOLS_LIBOMIS_NAMES_H
#define TOOLS_LIBOMIS_NAMES_H

#include "common/base/buf.h"
#include "tools/libomis/omis.h"

#include <stdbool.h>

/* Stores the text for omis_last_error(); returns the status. */
Omis_status own_refuse(Omis_status status, const char *words);

/*
 * Sends the request in b, which may have failed. *out gets the values of action 1, of all entries
 * in one list, for omis_value_free(); out may be NULL. Returns the first error.
 */
Omis_status own_ask(const struct buf *b, Omis_value **out);
Omis_status own_ask_text(const char *text, Omis_value **out);

struct names {
	Omis_value *tree; /* omig_tree() */
	const Omis_value **by_token; /* its objects, sorted */
	size_t n;
};

struct name {
	const char *parent, *name, *job; /* "" when unknown */
	int64_t rank; /* -1 */
	bool is_process, has_ended;
};

/* Requests the tree again. */
Omis_status names_ask(struct names *names);
void names_done(struct names *names);

/* False: the token is unknown, and *out has empty names. */
bool names_find(const struct names *names, const char *token, struct name *out);
struct name names_at(const struct names *names, size_t i);
/* The name of a process's node, or the own name of a node or site. */
const char *names_host(const struct names *names, const char *token);

/*
 * Finds the job that `job` means for omig_job_find(), else the running one; "" if there is none.
 * OMIS_PARAMETER_ERROR: several run. All known objects become visible to this tool.
 */
Omis_status names_job(struct names *names, const char *job, char *out, size_t size);

/* Processes of a job to be named in a request. */
enum names_which { NAMES_RANKS, NAMES_RUNNING };

/* Writes the tokens of the named objects as a list. OMIS_UNKNOWN_OBJECT: there is none. */
Omis_status names_write(const struct names *names, const char *job, enum names_which which,
			struct buf *out);

/* True if other jobs are known. */
bool names_has_other(const struct names *names, const char *job);

#endif
