/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece of a measurement that is evaluated in mainsm: the top's, or that of
 * a site whose hosts no sm gathers. It knows which links still owe it a
 * batch. A link that has missed STAGE_MISSED_MAX reads on end is not waited for until it
 * speaks again. Pure: times are arguments.
 */
#ifndef MAINSM_MEASURE_STAGE_H
#define MAINSM_MEASURE_STAGE_H

#include "common/flow/engine/flow.h"

#define STAGE_MISSED_MAX 3 /* a host that is silent holds up all others for so many reads */
/* In the place of a child. */
#define STAGE_NOBODY UINT32_MAX /* the link's other end is out of reach */
#define STAGE_HERE (UINT32_MAX - 1) /* it is a stage in mainsm */

struct stage;

/* NULL without memory. */
struct stage *stage_new(uint32_t measurement, const struct flow_out *out);
void stage_free(struct stage *s);

/*
 * The graph, instead of the one that it has; g stays the caller's. Links that are in both go on as
 * they were, new ones have no child yet. As flow_load().
 */
int stage_load(struct stage *s, struct flow_graph *g, nsec_t start, struct err *e);

/* Sets the child at the other end of the link. A new one is waited for from its next read on. */
void stage_attach(struct stage *s, const char *link, uint32_t child);

bool stage_has(const struct stage *s, const char *link);

/* The batch of that read has come, or is too old to be known. */
bool stage_has_taken(const struct stage *s, const char *link, int64_t read);

/* A batch of that child. As flow_take(); ERR_NOTFOUND also when the link is another child's. */
int stage_take(struct stage *s, uint32_t child, const struct flow_batch *b, struct err *e);

/* All links that are waited for have sent the batch of that read. */
bool stage_is_whole(const struct stage *s, int64_t read);

/* Reads; links that have not sent it are one nearer to not being waited for. As flow_read(). */
int stage_read(struct stage *s, int64_t read, nsec_t t, struct err *e);

/* As flow_look(), of node `number`. */
int stage_look(const struct stage *s, uint32_t number, struct flow_look *out);

struct stage_link_look {
	const char *name;
	uint32_t child;
	bool is_awaited;
	uint64_t batches, strays; /* strays: doubles and what came too late */
};

/* Link number i; false beyond the last. */
bool stage_link_at(const struct stage *s, size_t i, struct stage_link_look *out);

#endif
