/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/node/announce.h"

#include "common/loop/loop.h"

#include <stdlib.h>

#define RETRY_NS (50 * NSEC_PER_MSEC)

struct news {
	struct loop *loop;
	const char *site;
	struct nodes *nodes;
	struct uplink *uplink;
	struct loop_job job;
	struct loop_timer *retry; /* the link has too much to carry already */
};

void news_connect(struct news *w, struct nodes *nodes, struct uplink *uplink)
{
	w->nodes = nodes;
	w->uplink = uplink;
}

static int send(void *arg, const struct msg_directory *m)
{
	const struct news *w = arg;
	const struct node *n = nodes_find(w->nodes, m->node);
	struct msg msg = { .type = MSG_DIRECTORY, .directory = *m };

	msg.directory.attach = n ? n->attach : 0;
	return uplink_send(w->uplink, &msg);
}

/*
 * The host's own object. All of it is what we know: the host says nothing about itself that counts.
 */
static struct msg_object head_of(const struct news *w, const struct node *n, struct token *site)
{
	return (struct msg_object){
		.token = n->token,
		.parent = token_print_number(site, TOKEN_SITE, uplink_site_number(w->uplink)),
		.name = n->host,
		.rank = -1,
		.job = "",
		.flavour = "",
		.sub = n->sub,
		.site = w->site,
		.host = n->host,
	};
}

static int tell(struct news *w, struct node *n)
{
	const struct objects_sink sink = { send, w };
	struct token site;
	struct msg_object head;
	int rc;

	if (!n->has_news && !objects_has_news(n->objects))
		return 0;
	head = head_of(w, n, &site);
	rc = objects_tell(n->objects, &head, &sink);
	if (!rc)
		n->has_news = false;
	return rc;
}

/* What does not fit now goes later; when nobody listens, all goes when somebody does. */
static void on_job(void *arg)
{
	struct news *w = arg;
	int rc = 0;

	if (!uplink_is_up(w->uplink))
		return;
	for (uint32_t i = 0; !rc && i < nodes_bound(w->nodes); i++) {
		struct node *n = nodes_at(w->nodes, i);

		if (n)
			rc = uplink_is_congested(w->uplink) ? -ERR_AGAIN : tell(w, n);
	}
	if (rc == -ERR_AGAIN || rc == -ERR_NOMEM)
		loop_timer_arm(w->retry, RETRY_NS);
}

struct news *news_new(struct loop *loop, const char *site)
{
	struct news *w = calloc(1, sizeof(*w));

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

void news_free(struct news *w)
{
	if (!w)
		return;
	loop_timer_free(w->retry);
	loop_job_cancel(&w->job);
	free(w);
}

void news_soon(struct news *w)
{
	loop_job_post(w->loop, &w->job, on_job, w);
}

void news_restart(struct news *w)
{
	for (uint32_t i = 0; i < nodes_bound(w->nodes); i++) {
		struct node *n = nodes_at(w->nodes, i);

		if (!n)
			continue;
		objects_want_full(n->objects);
		n->has_news = true;
	}
	news_soon(w);
}

void news_gone(struct news *w, const struct node *n)
{
	struct token site;
	struct msg_object head = head_of(w, n, &site);

	head.op = MSG_OP_GONE;
	send(w, &(struct msg_directory){ .node = n->number, .object = &head, .nobject = 1 });
}
