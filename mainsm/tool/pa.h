/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters, integrators and trace buffers of one tool: their tokens, and the processes that
 * have their cells.
 */
#ifndef MAINSM_TOOL_PA_H
#define MAINSM_TOOL_PA_H

#include "common/omis/text/request.h"

#include <stdbool.h>
#include <stddef.h>

#define PA_OBJECTS_MAX 64 /* per tool; a segment has 64 cells per thread */

struct pa_object {
	char *token;
	char **proc; /* tokens */
	size_t nproc;
};

struct pa_set;

struct pa_set *pa_set_new(void);
void pa_set_free(struct pa_set *s);

/* procs: a list of process tokens, copied. -ERR_LIMIT, -ERR_NOMEM. */
int pa_set_add(struct pa_set *s, const char *token, const struct omis_value *procs);
void pa_set_del(struct pa_set *s, const char *token);

const struct pa_object *pa_set_find(const struct pa_set *s, const char *token);

/* Returns the objects in the order of creation; NULL beyond the last. */
const struct pa_object *pa_set_at(const struct pa_set *s, size_t i);

#endif
