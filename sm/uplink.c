/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/uplink.h"

#include "common/base/limits.h"

#include <stdlib.h>

struct uplink {
	struct link *link; /* owned */
	struct uplink_handler handler;
	uint64_t epoch; /* of the mainsm that was there last */
	uint32_t site_number;
	bool was_up;
};

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct uplink *u = arg;
	bool is_other = u->was_up && ack->epoch != u->epoch;

	u->was_up = true;
	u->epoch = ack->epoch;
	u->site_number = ack->site_number;
	u->handler.on_up(u->handler.arg, is_other);
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct uplink *u = arg;

	u->handler.on_msg(u->handler.arg, m);
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
	struct uplink *u = arg;

	u->handler.on_down(u->handler.arg, why);
}

static void on_retry(void *arg, struct link *l, const struct err *why, nsec_t retry_in)
{
	struct uplink *u = arg;

	u->handler.on_retry(u->handler.arg, why);
}

int uplink_open(const struct uplink_conf *conf, struct uplink **out, struct err *e)
{
	struct uplink *u = calloc(1, sizeof(*u));
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

	if (!u)
		return err_nomem(e);
	u->handler = conf->handler;
	u->link = link_dial(&link, &conf->dialer, &hello);
	if (!u->link) {
		free(u);
		return err_set(e, ERR_LIMIT,
			       "a greeting to mainsm cannot be made: names too long, or no memory");
	}
	*out = u;
	return 0;
}

void uplink_close(struct uplink *u, const char *reason)
{
	if (!u)
		return;
	link_close(u->link, reason);
	free(u);
}

bool uplink_is_up(const struct uplink *u)
{
	return link_state(u->link) == LINK_UP;
}

bool uplink_was_up(const struct uplink *u)
{
	return u->was_up;
}

uint32_t uplink_site_number(const struct uplink *u)
{
	return u->site_number;
}

int uplink_send(struct uplink *u, const struct msg *m)
{
	return link_send(u->link, m);
}

int uplink_send_frames(struct uplink *u, const uint8_t *p, size_t n)
{
	return link_send_frames(u->link, p, n);
}

bool uplink_is_congested(const struct uplink *u)
{
	return !uplink_is_up(u) || link_is_congested(u->link, PEER_QUEUE_MAX_BYTES / 2);
}

nsec_t uplink_rtt(const struct uplink *u)
{
	nsec_t rtt = link_rtt(u->link);

	return rtt > 0 ? rtt : 0;
}

size_t uplink_queued(const struct uplink *u)
{
	return link_queued(u->link);
}

void uplink_stats(const struct uplink *u, struct link_stats *out)
{
	link_stats(u->link, out);
}

enum link_state uplink_state(const struct uplink *u)
{
	return link_state(u->link);
}
