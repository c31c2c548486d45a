/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of many threads, merged into one tree, for `omig stacks`. */
#ifndef TOOLS_VIEW_STACKS_H
#define TOOLS_VIEW_STACKS_H

#include "common/base/buf.h"
#include "common/json/json.h"
#include "tools/libomis/omis.h"
#include "tools/term/ranges.h"
#include "tools/term/term.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACKS_FRAMES_MAX 512 /* per thread: lm-trace reports no more */
#define STACKS_TROUBLES_MAX 8 /* causes shown; others are counted */

/* Texts belong to the value that was read. */
struct stack_frame {
	const char *function; /* "": not known */
	const char *file; /* of the source; "": no debug information */
	const char *module;
	int64_t line;
	uint64_t pc;
};

struct stack {
	char token[64]; /* of the thread */
	int64_t rank, pid, tid; /* rank -1: not of MPI */
	const char *program, *node; /* of the tree */
	struct stack_frame *frame; /* owned; outermost first */
	size_t n;
};

/* Reason why some threads have no stack. */
struct stacks_trouble {
	char text[160];
	int64_t rank; /* of the first of them; -1: not of MPI */
	size_t n;
};

struct stacks {
	struct stack *v; /* owned; by rank, then thread */
	size_t n, cap;
	struct stacks_trouble trouble[STACKS_TROUBLES_MAX];
	size_t ntrouble, ended; /* ended: ranks without one since they ended */
	bool has_ranks, has_others, with_threads; /* has_others: processes that are not of MPI */
	const Omis_value *tree; /* borrowed */
	Omis_value **held; /* owned: texts of frames */
	size_t nheld, held_cap;
};

/*
 * From omig_tree(): threads whose stacks are to be read: the main one of each process, or all.
 * False: no memory.
 */
struct stacks_wanted {
	const char *job; /* NULL: all */
	struct ranges ranks; /* with some of them only ranks */
	bool threads; /* all of them */
};
bool stacks_choose(struct stacks *s, const Omis_value *tree, const struct stacks_wanted *w);

/*
 * Adds entries of omig_backtrace(). is_deep: with frames of the C library and the MPI library below
 * a call, and frames above main. False: no memory.
 */
bool stacks_add(struct stacks *s, const Omis_object_result *entries, bool is_deep);

/* Removes threads without a stack from v; adds reasons from the reply's coverage. */
void stacks_finish(struct stacks *s);
void stacks_done(struct stacks *s);

/* True for a call of the MPI library, in C or Fortran. */
bool stack_frame_is_mpi(const struct stack_frame *f);

/* A line in words, the merged tree, and what is missing. -ERR_NOMEM. */
int stacks_show(const struct term *t, const struct stacks *s, struct buf *out);
/* Writes members of an open object. */
void stacks_to_json(struct json *j, const struct stacks *s);

#endif
