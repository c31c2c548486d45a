/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tools/admin.h"

#include "common/authority/tokens.h"
#include "sim/tools/simtool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE_NS (500 * NSEC_PER_MSEC)
#define DEADLINE_NS NSEC_PER_SEC
/* fewer than mainsm stores: each new token rewrites the whole file */
#define TOKENS_READ_MAX 200
#define ASK ":omig_cert_token(\"lm\",31536000,0)"
#define LINE_LEN (sizeof(TOKEN_LM_PREFIX) - 1 + TOKEN_ID_LEN + 1 + TOKEN_SECRET_LEN)

struct admin {
	struct cluster *cluster;
	struct simtool *tool; /* NULL: the tool has left */
	struct loop_timer *timer;
	nsec_t slow;
	char token[TOKENS_READ_MAX][LINE_LEN + 1];
	size_t n;
};

static void on_reply(void *arg, const struct reply *r)
{
	struct admin *a = arg;

	for (size_t i = 0; !r->kind && i < r->nentry && a->n < TOKENS_READ_MAX; i++) {
		const char *quoted = strchr(r->entry[i].value, '"');

		if (!r->entry[i].status && quoted && strlen(quoted) == LINE_LEN + 2)
			snprintf(a->token[a->n++], LINE_LEN + 1, "%.*s", (int)LINE_LEN, quoted + 1);
	}
}

static void on_link(void *arg)
{
}

static void on_timer(void *arg)
{
	struct admin *a = arg;

	simtool_check(a->tool, a->slow);
	if (simtool_is_up(a->tool) && a->n < TOKENS_READ_MAX)
		simtool_ask(a->tool, &(struct simtool_ask){ .text = ASK, .deadline = DEADLINE_NS });
	loop_timer_arm(a->timer, PAUSE_NS);
}

int admin_new(struct cluster *c, nsec_t slow, struct admin **out, struct err *e)
{
	struct admin *a = calloc(1, sizeof(*a));
	const struct simtool_conf t = { .w = c->w,
					.name = "admin",
					.role = ROLE_TOOL_ADMIN,
					.epoch = 1,
					.on_reply = on_reply,
					.on_up = on_link,
					.on_down = on_link,
					.arg = a };
	int rc;

	if (!a)
		return err_nomem(e);
	a->cluster = c;
	a->slow = slow;
	a->timer = loop_timer_new(c->w->loop, on_timer, a);
	rc = a->timer ? simtool_new(&t, &a->tool, e) : err_nomem(e);
	if (rc) {
		admin_free(a);
		return rc;
	}
	loop_timer_arm(a->timer, PAUSE_NS);
	*out = a;
	return 0;
}

void admin_leave(struct admin *a)
{
	loop_timer_cancel(a->timer);
	simtool_free(a->tool);
	a->tool = NULL;
}

void admin_free(struct admin *a)
{
	if (!a)
		return;
	loop_timer_free(a->timer);
	simtool_free(a->tool);
	free(a);
}

size_t admin_judge(const struct admin *a)
{
	struct world *w = a->cluster->w;
	const struct tokens *t = simtop_tokens(a->cluster->top);

	for (size_t i = 0; i < a->n; i++) {
		char id[IDENTITY_TOKEN_MAX_BYTES + 1];
		size_t n = LINE_LEN - 1 - TOKEN_SECRET_LEN;
		const struct token_claim c = { .id = id,
					       .secret = a->token[i] + n + 1,
					       .nsecret = TOKEN_SECRET_LEN,
					       .roles = ROLE_BIT(ROLE_LM),
					       .site = "" };
		struct token_grant g;
		struct err e = { 0 };

		snprintf(id, sizeof(id), "%.*s", (int)n, a->token[i]);
		if (tokens_check(t, &c, world_wall(w), &g, &e))
			world_break(w, "INV-28: the granted token %s is missing: %s", id, e.text);
	}
	return a->n;
}
