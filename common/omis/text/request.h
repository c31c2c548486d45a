/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request: text <-> tree. The grammar is in docs/omis.md. The parser accepts all of it, with
 * recursion bounded by OMIS_DEPTH_MAX and every limit checked before memory is allocated.
 */
#ifndef COMMON_OMIS_TEXT_REQUEST_H
#define COMMON_OMIS_TEXT_REQUEST_H

#include "common/omis/text/value.h"

struct omis_service;

/* actions of a request: each may need a separate step of planning */
#define OMIS_ACTIONS_MAX 1024

struct omis_call {
	const char *name;
	uint32_t offset; /* offset of the name in the text */
	bool barrier; /* a ';' precedes it; never for the first action */
	struct omis_value *param;
	size_t nparam;
	const struct omis_service *service; /* NULL before omis_check() */
};

struct omis_request {
	struct omis_call *event; /* NULL = unconditional */
	struct omis_call *action; /* at least one action */
	size_t naction;
	bool locked; /* there are { } around the actions */
	bool inner; /* from omis_parse_inner(), so that omis_check() accepts internal services */
	struct arena *arena; /* owns the request */
};

/*
 * Parses a tool's text: at most OMIS_REQUEST_MAX_BYTES, OMIS_TOKENS_MAX values. Fails with
 * ERR_PARSE or ERR_LIMIT, e->col = offset + 1, and a text that ends with "at offset N"; and with
 * ERR_NOMEM.
 */
int omis_parse(const char *p, size_t n, struct omis_request **out, struct err *e);

/*
 * Parses a text from the daemon above. Its lists are expanded, so the limits are FRAME_MAX_BYTES
 * and OMIS_OBJECTS_MAX values. Not for a tool's text.
 */
int omis_parse_inner(const char *p, size_t n, struct omis_request **out, struct err *e);

void omis_request_free(struct omis_request *r);

/*
 * Prints one normal form: no space inside calls, one between actions, " ; " for a barrier.
 * parse(print(r)) equals r. b->failed reports a failure.
 */
void omis_print_request(struct buf *b, const struct omis_request *r);

/* Prints name(param,...) without a barrier. */
void omis_print_call(struct buf *b, const struct omis_call *c);

/* Compares events, actions, parameters, barriers and braces; ignores offsets. */
bool omis_request_equal(const struct omis_request *a, const struct omis_request *b);

#endif
