/* SPDX-License-Identifier: Apache-2.0 */
/* Functions shared by channels of all kinds. */
#include "common/base/log.h"
#include "common/net/internal.h"

#include <stdlib.h>
#include <string.h>

void chan_init(struct chan *c, const struct chan_ops *ops, struct loop *l, struct net_ctx *ctx)
{
	c->ops = ops;
	c->loop = l;
	c->ctx = ctx;
	c->cap = PEER_QUEUE_MAX_BYTES;
	frame_in_init(&c->in, FRAME_PREAUTH_MAX_BYTES);
	list_init(&c->at);
	if (!ctx)
		return;
	ctx_use(ctx);
	list_push_back(&ctx->chans, &c->at);
}

void chan_up(struct chan *c, const struct identity *id)
{
	c->state = CHAN_UP;
	c->stats.opened_at = c->stats.last_in_at = loop_now(c->loop);
	c->has_peer = id != NULL;
	if (id)
		c->peer = *id;
}

static bool may_deliver(const struct chan *c)
{
	return c->state == CHAN_UP && !c->paused;
}

void chan_set_handler(struct chan *c, const struct chan_handler *h)
{
	c->h = *h;
}

int chan_send(struct chan *c, const uint8_t *frame, size_t n)
{
	size_t queued;
	int rc;

	if (c->state != CHAN_UP)
		return c->state == CHAN_MAKING ? -ERR_AGAIN : -ERR_CLOSED;
	queued = chan_queued(c);
	if (n > c->cap || queued > c->cap - n) {
		c->was_full = true;
		c->stats.refused++;
		return -ERR_LIMIT;
	}
	rc = c->ops->send(c, frame, n);
	if (rc)
		return rc;
	c->stats.frames_out++;
	c->stats.bytes_out += n;
	return 0;
}

size_t chan_queued(const struct chan *c)
{
	return c->state == CHAN_UP ? c->ops->queued(c) : 0;
}

void chan_set_cap(struct chan *c, size_t bytes)
{
	c->cap = bytes;
}

void chan_set_stall_max(struct chan *c, nsec_t max)
{
	c->stall_max = max;
}

void chan_pause_reading(struct chan *c, bool pause)
{
	if (c->paused == pause)
		return;
	c->paused = pause;
	/* Time in which we did not read does not count as the peer's. */
	c->frame_since = 0;
	if (c->state == CHAN_UP)
		c->ops->pause(c);
}

void chan_role_known(struct chan *c)
{
	if (c->enrol || c->state != CHAN_UP)
		return;
	frame_in_set_max(&c->in, FRAME_MAX_BYTES);
	if (c->ops->role_known)
		c->ops->role_known(c);
}

void chan_set_rcvlowat(struct chan *c)
{
	if (c->state == CHAN_UP && c->ops->set_rcvlowat)
		c->ops->set_rcvlowat(c);
}

void chan_poll(struct chan *c)
{
	if (may_deliver(c) && c->ops->poll)
		c->ops->poll(c);
}

nsec_t chan_heard_at(const struct chan *c)
{
	return c->stats.last_in_at;
}

const struct identity *chan_peer(const struct chan *c)
{
	return c->has_peer ? &c->peer : NULL;
}

const char *chan_remote(const struct chan *c)
{
	return c->remote;
}

bool chan_is_enrol(const struct chan *c)
{
	return c->enrol;
}

void chan_get_stats(const struct chan *c, struct chan_stats *out)
{
	*out = c->stats;
}

void chan_give_back_input(struct chan *c)
{
	size_t max = c->in.max;

	if (c->in.buf.cap <= IDLE_KEEP_BYTES || frame_in_pending(&c->in) || c->paused)
		return;
	frame_in_done(&c->in);
	frame_in_init(&c->in, max);
}

int chan_deliver(struct chan *c, struct err *e)
{
	struct frame f;
	int got;

	while (may_deliver(c)) {
		got = frame_in_next(&c->in, &f, e);
		if (got < 0) {
			if (c->h.on_event)
				c->h.on_event(c->h.arg, c, CHAN_BROKEN, e);
			return got;
		}
		if (!got)
			break;
		c->frame_since = 0;
		c->stats.frames_in++;
		if (c->only_type && f.type != c->only_type)
			return err_set(e, ERR_PROTO, "a peer that enrols may send nothing else");
		if (c->h.on_frame)
			c->h.on_frame(c->h.arg, c, f.type, f.p, f.n);
	}
	if (may_deliver(c) && frame_in_pending(&c->in) && !c->frame_since)
		c->frame_since = loop_now(c->loop);
	return 0;
}

int chan_feed(struct chan *c, const uint8_t *p, size_t n, struct err *e)
{
	int rc = frame_in_add(&c->in, p, n, e);

	if (rc)
		return rc;
	c->stats.bytes_in += n;
	c->stats.last_in_at = loop_now(c->loop);
	return chan_deliver(c, e);
}

void chan_drained(struct chan *c)
{
	if (!c->was_full || c->state != CHAN_UP || c->ops->queued(c) > c->cap / 2)
		return;
	c->was_full = false;
	if (c->h.on_event)
		c->h.on_event(c->h.arg, c, CHAN_WRITABLE, NULL);
}

static void stop(struct chan *c, enum chan_state next)
{
	enum chan_state was = c->state;

	c->state = next;
	if (was == CHAN_MAKING || was == CHAN_UP)
		c->ops->stop(c);
	list_del(&c->at);
}

static void report_end(struct chan *c, const struct err *why)
{
	log_debug("net", "channel ends peer=%s reason=\"%s\"", c->remote, why->text);
	if (c->h.on_event)
		c->h.on_event(c->h.arg, c, CHAN_CLOSED, why);
}

/* Copies `why`, which may point into freed memory. */
void chan_fail(struct chan *c, const struct err *why)
{
	struct err copy = *why;

	if (c->state != CHAN_MAKING && c->state != CHAN_UP)
		return;
	stop(c, CHAN_DOWN);
	report_end(c, &copy);
}

static void report_end_job(void *arg)
{
	struct chan *c = arg;
	struct err fallback = { .code = ERR_NOMEM,
				.text = "the channel was closed; no memory to say why" };
	struct err *why = c->why;

	c->why = NULL;
	report_end(c, why ? why : &fallback);
	free(why);
}

void chan_fail_later(struct chan *c, const struct err *why)
{
	struct err copy = *why;

	if (c->state != CHAN_MAKING && c->state != CHAN_UP)
		return;
	stop(c, CHAN_DOWN);
	c->why = malloc(sizeof(*c->why));
	if (c->why)
		*c->why = copy;
	loop_job_post(c->loop, &c->job, report_end_job, c);
}

static void chan_free(void *arg)
{
	struct chan *c = arg;
	struct net_ctx *ctx = c->ctx;

	frame_in_done(&c->in);
	free(c->why);
	c->ops->free(c);
	free(c);
	if (ctx)
		ctx_unuse(ctx);
}

void chan_close(struct chan *c, const char *reason)
{
	if (!c || c->state == CHAN_GONE)
		return;
	if (reason)
		log_debug("net", "channel closed peer=%s reason=\"%s\"", c->remote, reason);
	stop(c, CHAN_GONE);
	c->h = (struct chan_handler){ 0 };
	loop_job_cancel(&c->job);
	loop_reap(c->loop, &c->job, chan_free, c);
}
