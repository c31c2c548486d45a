/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of conditional requests: a tool that sees one or two sites, its requests and its
 * replies.
 */
#ifndef TESTS_UNIT_MAINSM_CSR_CSRS_H
#define TESTS_UNIT_MAINSM_CSR_CSRS_H

#include "tests/unit/mainsm/world.h"

#define LIB_CALL "thread_has_started_lib_call([],\"MPI_Barrier\"):"
#define CSR_TOKEN_BYTES 40

static inline void below_trigger(struct fake_branch *b, const char *proc, const char *thread,
				 const char *par1)
{
	struct msg_par par = { 1, { (const uint8_t *)par1, strlen(par1) } };
	struct msg m = { .type = MSG_TRIGGERED };
	char node[16];

	snprintf(node, sizeof(node), "n_%.*s", (int)strcspn(proc + 2, "_"), proc + 2);
	m.triggered = (struct msg_triggered){ .csr = b->csr,
					      .tool = b->tool,
					      .seq = 1,
					      .time_ns = 5 * SEC / 2,
					      .node = node,
					      .proc = proc,
					      .thread = thread,
					      .par = &par,
					      .npar = 1 };
	ck_assert_int_eq(link_send(b->link, &m), 0);
	loop_advance(b->loop, 10 * MS);
}

/* Node n_1 at site a and n_2 at site b (NULL = there is none), of two processes each; the tool has
 * attached all. */
static inline void sites_open(struct world *w, struct fake_branch *a, struct fake_branch *b,
			      struct above *t, enum role role)
{
	world_open(w);
	below_open(w, a, ROLE_SM, "a", "sm-a");
	if (b)
		below_open(w, b, ROLE_SM, "b", "sm-b");
	below_report(a, 1, "h1");
	if (b)
		below_report(b, 2, "h2");
	above_open(w, t, role, "t");
	above_attach_all(t);
}

/* Accepts a tool that was closed already. */
static inline void sites_close(struct world *w, struct fake_branch *a, struct fake_branch *b,
			       struct above *t)
{
	if (t->link)
		above_close(t);
	below_close(a);
	if (b)
		below_close(b);
	world_done(w);
}

static inline void above_define(struct above *t, const char *request, char token[CSR_TOKEN_BYTES])
{
	const struct reply *r = above_ask(t, request);

	ck_assert_msg(r->kind == STATUS_CSR_DEFINED, "%s", r->nentry ? r->entry[0].value : "?");
	ck_assert_str_eq(r->entry[0].value, r->csr);
	str_copy(token, CSR_TOKEN_BYTES, r->csr);
}

/* Defines the conditional request and enables it. */
static inline void above_arm(struct above *t, const char *request, char token[CSR_TOKEN_BYTES])
{
	char enable[64];

	above_define(t, request, token);
	snprintf(enable, sizeof(enable), ":csr_enable([%s])", token);
	above_send(t, enable, 0);
	world_run(t->w, 20 * MS);
}

static inline void above_event(struct above *t, char token[CSR_TOKEN_BYTES])
{
	str_copy(token, CSR_TOKEN_BYTES,
		 entry_of(above_ask(t, ":user_event_create()"), 1, 0)->value);
}

/* Return the number of replies of that kind, and the last one. */
static inline unsigned above_count(const struct above *t, enum status kind)
{
	return t->kinds[kind / 2];
}

static inline const struct reply *above_last(const struct above *t, enum status kind)
{
	return t->of_kind[kind / 2];
}

#endif
