/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/node/parent_link.h"

#include "common/base/limits.h"

#include <stdlib.h>

struct parent_link {
	struct link *link; /* owned; NULL when stacked */
	struct parent *parent; /* owned; when stacked */
	struct parent_link_handler handler;
	uint64_t epoch; /* of the mainsm that was there last */
	uint32_t site_number, level;
	bool was_up;
};

/* Returns the link to the parent; NULL: there is none now. */
static struct link *link_of(const struct parent_link *u)
{
	return u->parent ? parent_current_link(u->parent) : u->link;
}

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct parent_link *u = arg;
	bool is_other = u->was_up && ack->epoch != u->epoch;

	u->was_up = true;
	u->epoch = ack->epoch;
	u->site_number = ack->site_number;
	u->level = ack->level + 1;
	u->handler.on_up(u->handler.arg, is_other);
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct parent_link *u = arg;

	u->handler.on_msg(u->handler.arg, m);
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
	struct parent_link *u = arg;

	u->handler.on_down(u->handler.arg, why);
}

static void on_retry(void *arg, struct link *l, const struct err *why, nsec_t retry_in)
{
	struct parent_link *u = arg;

	u->handler.on_retry(u->handler.arg, why);
}

/* --- by another sm */

static void on_parent(void *arg, uint32_t node, bool is_other)
{
	struct parent_link *u = arg;

	u->was_up = true;
	u->site_number = parent_site_number(u->parent);
	u->level = parent_level(u->parent);
	u->handler.on_up(u->handler.arg, is_other);
}

static void on_parent_msg(void *arg, const struct msg *m)
{
	on_msg(arg, NULL, m);
}

static void on_parent_lost(void *arg, const struct err *why)
{
	on_down(arg, NULL, why);
}

static void on_trouble(void *arg, const struct err *why, nsec_t retry_in)
{
	on_retry(arg, NULL, why, retry_in);
}

static void on_writable(void *arg)
{
}

static int open_stacked(struct parent_link *u, const struct parent_link_conf *conf, struct err *e)
{
	const struct parent_conf c = { .loop = conf->loop,
				       .rng = conf->rng,
				       .timebase = conf->timebase,
				       .ctx = conf->ctx,
				       .conn = conf->conn,
				       .host = conf->host,
				       .epoch = conf->epoch,
				       .is_sm = true,
				       .listen = conf->listen,
				       .stated = conf->stated,
				       .software = conf->software,
				       .on_up = on_parent,
				       .on_down = on_parent_lost,
				       .on_msg = on_parent_msg,
				       .on_writable = on_writable,
				       .on_trouble = on_trouble,
				       .arg = u };

	u->parent = parent_new(&c);
	return u->parent ? 0 : err_nomem(e);
}

/* --- straight to mainsm */

static int open_link(struct parent_link *u, const struct parent_link_conf *conf, struct err *e)
{
	const struct msg_hello hello = {
		.role = "sm",
		.site = conf->site,
		.host = conf->host,
		.listen = conf->listen,
		.epoch = conf->epoch,
		.software = conf->software,
	};
	const struct link_conf link = {
		.loop = conf->loop,
		.rng = conf->rng,
		.timebase = conf->timebase,
		.epoch = conf->epoch,
		.meter = conf->meter,
		.handler = { .on_up = on_up,
			     .on_msg = on_msg,
			     .on_down = on_down,
			     .on_retry = on_retry,
			     .arg = u },
	};

	u->link = link_dial(&link, &conf->dialer, &hello);
	if (u->link)
		return 0;
	return err_set(e, ERR_LIMIT,
		       "a greeting to mainsm cannot be made: names too long, or no memory");
}

int parent_link_open(const struct parent_link_conf *conf, struct parent_link **out, struct err *e)
{
	struct parent_link *u = calloc(1, sizeof(*u));
	int rc;

	if (!u)
		return err_nomem(e);
	u->handler = conf->handler;
	rc = conf->is_stacked ? open_stacked(u, conf, e) : open_link(u, conf, e);
	if (rc) {
		free(u);
		return rc;
	}
	*out = u;
	return 0;
}

void parent_link_close(struct parent_link *u, const char *reason)
{
	if (!u)
		return;
	link_close(u->link, reason);
	parent_free(u->parent);
	free(u);
}

bool parent_link_is_up(const struct parent_link *u)
{
	const struct link *l = link_of(u);

	return l && link_state(l) == LINK_UP;
}

uint32_t parent_link_level(const struct parent_link *u)
{
	return u->level;
}

const char *parent_link_ways(const struct parent_link *u)
{
	return u->parent ? parent_ways(u->parent) : "";
}

bool parent_link_was_up(const struct parent_link *u)
{
	return u->was_up;
}

uint32_t parent_link_site_number(const struct parent_link *u)
{
	return u->site_number;
}

int parent_link_send(struct parent_link *u, const struct msg *m)
{
	return link_of(u) ? link_send(link_of(u), m) : -ERR_CLOSED;
}

int parent_link_send_frames(struct parent_link *u, const uint8_t *p, size_t n)
{
	return link_of(u) ? link_send_frames(link_of(u), p, n) : -ERR_CLOSED;
}

int parent_link_ask_top(struct parent_link *u, const struct msg *m)
{
	return u->parent ? parent_ask_mainsm(u->parent, m) : parent_link_send(u, m);
}

bool parent_link_is_congested(const struct parent_link *u)
{
	return !parent_link_is_up(u) || link_is_congested(link_of(u), PEER_QUEUE_MAX_BYTES / 2);
}

nsec_t parent_link_rtt(const struct parent_link *u)
{
	nsec_t rtt = link_of(u) ? link_rtt(link_of(u)) : 0;

	return rtt > 0 ? rtt : 0;
}

size_t parent_link_queued(const struct parent_link *u)
{
	return link_of(u) ? link_queued(link_of(u)) : 0;
}

void parent_link_stats(const struct parent_link *u, struct link_stats *out)
{
	*out = (struct link_stats){ .rtt = -1 };
	if (u->link)
		link_stats(u->link, out);
	else
		parent_stats(u->parent, out);
}

bool parent_link_has_lost_parent(const struct parent_link *u)
{
	return u->parent && parent_is_another(u->parent);
}
