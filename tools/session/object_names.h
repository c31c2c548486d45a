/* SPDX-License-Identifier: Apache-2.0 */
/* Readable names of objects, made from the reply to omig_tree(): hosts, sites, ranks. */
#ifndef TOOLS_SESSION_OBJECT_NAMES_H
#define TOOLS_SESSION_OBJECT_NAMES_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "tools/libomis/omis.h"

#include <stdbool.h>

#define OBJECT_LABEL_BYTES 320

/* Texts are the tree's. */
struct object_name {
	const char *token, *parent, *name;
	const char *job; /* "": none, or no process */
	int64_t rank, pid;
	bool has_ended;
};

/* Reads a row of omig_tree(). Returns false if it has no token. */
bool object_name_read(const Omis_value *row, struct object_name *out);

/* The row with that token. tree may be NULL. */
bool object_name_find(const Omis_value *tree, const char *token, struct object_name *out);

/*
 * "rank3@node1", "jobname:rank3@node1" with_job, "fileserver.4711@node1", "rank3@node1/4712" of a
 * thread, or a host's or site's name. A token that is not in the tree is written unchanged.
 */
void object_name_label(const Omis_value *tree, bool with_job, const char *token, char *out,
		       size_t size);

/* The names of the objects that a command shows. Zeros have no names. */
struct object_names {
	Omis_value *tree; /* owned; NULL: not known */
	bool with_jobs; /* processes of several jobs are there */
	bool is_old; /* a token of a process or node was not found */
	nsec_t asked; /* clock_mono() */
};

/* Blocks for a request. Without a reply no name is known. */
void object_names_ask(struct object_names *n);
void object_names_done(struct object_names *n);

/* text with labels in place of its tokens; text in quotes is unchanged. */
void object_names_put(struct object_names *n, struct buf *out, const char *text, size_t bytes);

#endif
