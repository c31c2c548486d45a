/* SPDX-License-Identifier: Apache-2.0 */
/* For the readers of this room: objects of a model by name, and new ones. */
#ifndef MODEL_LAYERED_NAMED_H
#define MODEL_LAYERED_NAMED_H

#include "model/layered/layered.h"

#define LAYERED_NOTHING ((size_t)-1)

/* True for a name of an object: str_is_name(), short enough, and no end of a section. */
bool layered_is_name(const char *text);

/* Return its place; LAYERED_NOTHING: none has the name. */
size_t layered_find_processor(const struct layered *m, const char *text);
size_t layered_find_task(const struct layered *m, const char *text);
size_t layered_find_entry(const struct layered *m, const char *text);

/* Append a copy. ERR_LIMIT, ERR_NOMEM. */
int layered_add_processor(struct layered *m, const struct layered_processor *p);
int layered_add_task(struct layered *m, const struct layered_task *t);
int layered_add_entry(struct layered *m, const struct layered_entry *v);
int layered_add_call(struct layered *m, const struct layered_call *c);

/* A part of a text, and its place in it, for messages. */
struct lqn_part {
	const char *text;
	size_t n;
	unsigned line, col;
};

/* Reads "ENTRY PHASE LOW HIGH LEVEL" of a comment. ERR_PARSE, ERR_INVALID, ERR_UNSUPPORTED. */
int lqn_read_interval(struct layered *m, const struct lqn_part *part, struct err *e);

/* Writes the same, behind the name. */
void lqn_put_interval(const struct layered_phase *p, unsigned phase, struct buf *out);

#endif
