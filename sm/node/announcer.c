/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/node/announcer.h"

#include "common/loop/loop.h"

#include <stdlib.h>

#define RETRY_NS (50 * NSEC_PER_MSEC)

struct announcer {
	struct loop *loop;
	const char *site;
	struct nodes *nodes;
	struct parent_link *parent;
	struct loop_job job;
	struct loop_timer *retry; /* the link is congested */
};

void announcer_connect(struct announcer *w, struct nodes *nodes, struct parent_link *parent)
{
	w->nodes = nodes;
	w->parent = parent;
}

static int send(void *arg, const struct msg_directory *m)
{
	const struct announcer *w = arg;
	const struct node *n = nodes_find(w->nodes, m->node);
	struct msg msg = { .type = MSG_DIRECTORY, .directory = *m };

	msg.directory.attach = n ? n->attach : 0;
	return parent_link_send(w->parent, &msg);
}

/*
 * Makes the host's own object from this sm's state only: the host's claims about itself do not
 * count.
 */
static struct msg_object head_of(const struct announcer *w, const struct node *n,
				 struct token *site)
{
	return (struct msg_object){
		.token = n->token,
		.parent = token_print_number(site, TOKEN_SITE, parent_link_site_number(w->parent)),
		.name = n->host,
		.rank = -1,
		.job = "",
		.flavour = "",
		.sub = n->sub,
		.site = w->site,
		.host = n->host,
	};
}

static int announce(struct announcer *w, struct node *n)
{
	const struct objects_sink sink = { send, w };
	struct token site;
	struct msg_object head;
	int rc;

	if (!n->has_news && !objects_has_news(n->objects))
		return 0;
	head = head_of(w, n, &site);
	rc = objects_notify(n->objects, &head, &sink);
	if (!rc)
		n->has_news = false;
	return rc;
}

/* Changes that do not fit now are sent later; without a parent, all are sent when there is one. */
static void on_job(void *arg)
{
	struct announcer *w = arg;
	int rc = 0;

	if (!parent_link_is_up(w->parent))
		return;
	for (uint32_t i = 0; !rc && i < nodes_bound(w->nodes); i++) {
		struct node *n = nodes_at(w->nodes, i);

		if (n)
			rc = parent_link_is_congested(w->parent) ? -ERR_AGAIN : announce(w, n);
	}
	if (rc == -ERR_AGAIN || rc == -ERR_NOMEM)
		loop_timer_arm(w->retry, RETRY_NS);
}

struct announcer *announcer_new(struct loop *loop, const char *site)
{
	struct announcer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->loop = loop;
	w->site = site;
	w->retry = loop_timer_new(loop, on_job, w);
	if (w->retry)
		return w;
	free(w);
	return NULL;
}

void announcer_free(struct announcer *w)
{
	if (!w)
		return;
	loop_timer_free(w->retry);
	loop_job_cancel(&w->job);
	free(w);
}

void announcer_soon(struct announcer *w)
{
	loop_job_post(w->loop, &w->job, on_job, w);
}

void announcer_restart(struct announcer *w)
{
	for (uint32_t i = 0; i < nodes_bound(w->nodes); i++) {
		struct node *n = nodes_at(w->nodes, i);

		if (!n)
			continue;
		objects_want_full(n->objects);
		n->has_news = true;
	}
	announcer_soon(w);
}

void announcer_gone(struct announcer *w, const struct node *n)
{
	struct token site;
	struct msg_object head = head_of(w, n, &site);

	head.op = MSG_OP_GONE;
	send(w, &(struct msg_directory){ .node = n->number, .object = &head, .nobject = 1 });
}
