/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/studies/detector.h"

#include "common/base/limits.h"
#include "common/link/link.h"
#include "common/loop/loop.h"
#include "common/net/net.h"
#include "common/time/timebase.h"
#include "sim/world/world.h"
#include "stats/interval.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_BYTES 24
/* losses are spread over this time, so that all phases of heartbeats are equally likely */
#define PHASE_NS (10 * NSEC_PER_SEC)
#define SETTLE_NS (2 * NSEC_PER_SEC)

struct pair {
	struct detector *d;
	char above[NAME_BYTES], below[NAME_BYTES];
	struct net_ctx *above_ctx, *below_ctx;
	struct net_listener *listener;
	struct link *up, *down; /* the dialling end; the accepting end, NULL while there is none */
	struct loop_timer *timer;
	nsec_t lost_at; /* 0: the peer is present */
};

struct detector {
	const struct detector_conf *conf;
	struct world w;
	struct rng network;
	struct timebase time;
	struct pair *pair;
	struct detector_result *out;
};

/* Draws a delay in one direction: the path's delay, and TCP's retransmissions. */
static nsec_t draw(void *arg)
{
	struct detector *d = arg;
	nsec_t at = delay_draw(&d->conf->delay, &d->network);

	d->out->frames++;
	return at + delay_draw_resends(d->conf->loss, DETECTOR_RETRY_NS, &d->network);
}

static void found(struct pair *p)
{
	double s = (double)(loop_now(p->d->w.loop) - p->lost_at) / 1e9;

	moments_add(&p->d->out->found, s);
	p->d->out->found_max = fmax(p->d->out->found_max, s);
}

static void on_above_down(void *arg, struct link *l, const struct err *why)
{
	struct pair *p = arg;

	if (p->down != l)
		return; /* the event belongs to an older link, whose loss was noticed already */
	p->down = NULL;
	if (p->lost_at)
		found(p);
}

static void on_below_down(void *arg, struct link *l, const struct err *why)
{
	struct pair *p = arg;

	if (p->lost_at)
		found(p);
	else
		p->d->out->suspicions++;
}

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
}

static int on_hello(void *arg, struct link *l, const struct msg_hello *h, struct msg_hello_ack *ack,
		    struct err *why)
{
	struct pair *p = arg;

	p->down = l;
	ack->node = 1;
	ack->name = "n_1";
	ack->site = "site";
	ack->redirect = "";
	return 0;
}

static void on_accept(void *arg, struct chan *c)
{
	struct pair *p = arg;
	const struct link_conf conf = { .loop = p->d->w.loop,
					.rng = &p->d->w.dice,
					.timebase = &p->d->time,
					.epoch = 1,
					.handler = { .on_hello = on_hello,
						     .on_up = on_up,
						     .on_msg = on_msg,
						     .on_down = on_above_down,
						     .arg = p } };

	if (!link_accept(&conf, &c))
		chan_close(c, NULL);
}

static int dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		struct err *e)
{
	struct pair *p = arg;
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_SM) };

	return net_dial(p->below_ctx,
			&(struct net_target){ .host = p->above,
					      .port = net_listener_port(p->listener),
					      .expect = &x },
			h, out, e);
}

static void on_lose(void *arg)
{
	struct pair *p = arg;
	const struct mem_link gone = { .cut = true };

	if (link_state(p->up) != LINK_UP || !p->down)
		return; /* the link is being established again */
	p->lost_at = loop_now(p->d->w.loop);
	mem_net_set_link(p->d->w.net, p->above, p->below, &gone);
}

static int open_pair(struct detector *d, unsigned i, struct err *e)
{
	struct pair *p = &d->pair[i];
	const struct msg_hello hello = { .role = "lm", .site = "site", .host = p->below };
	const struct link_conf conf = {
		.loop = d->w.loop,
		.rng = &d->w.dice,
		.handler = { .on_up = on_up, .on_msg = on_msg, .on_down = on_below_down, .arg = p }
	};
	const struct net_listen_conf listen = { .roles = ROLE_BIT(ROLE_LM) };
	const struct net_accept accept = { .on_accept = on_accept, .arg = p };
	struct identity above, below;
	int rc;

	p->d = d;
	snprintf(p->above, sizeof(p->above), "a%u", i);
	snprintf(p->below, sizeof(p->below), "b%u", i);
	above = world_identity(&d->w, ROLE_SM, "site", p->above);
	below = world_identity(&d->w, ROLE_LM, "site", p->below);
	rc = mem_ctx_open(d->w.net, &above, &p->above_ctx, e);
	rc = rc ? rc : mem_ctx_open(d->w.net, &below, &p->below_ctx, e);
	rc = rc ? rc : net_listen(p->above_ctx, &listen, &accept, &p->listener, e);
	if (rc)
		return rc;
	p->up = link_dial(&conf, &(struct link_dialer){ dial, p }, &hello);
	p->timer = loop_timer_new(d->w.loop, on_lose, p);
	return p->up && p->timer ? 0 : err_nomem(e);
}

static void close_pair(struct pair *p)
{
	net_listener_close(p->listener);
	net_ctx_free(p->above_ctx);
	net_ctx_free(p->below_ctx);
	loop_timer_free(p->timer);
}

static int measure(struct detector *d, struct err *e)
{
	const struct mem_link how = { .more = draw, .arg = d };
	int rc = mem_net_set_link(d->w.net, NULL, NULL, &how) ? err_nomem(e) : 0;

	for (unsigned i = 0; !rc && i < d->conf->links; i++)
		rc = open_pair(d, i, e);
	if (rc)
		return rc;
	loop_advance(d->w.loop, SETTLE_NS);
	loop_advance(d->w.loop, d->conf->time);
	d->out->months = (double)d->conf->time / DETECTOR_MONTH_NS * d->conf->links;
	for (unsigned i = 0; i < d->conf->links; i++)
		loop_timer_arm(d->pair[i].timer, world_random(&d->w, PHASE_NS));
	loop_advance(d->w.loop, PHASE_NS + 3 * HEARTBEAT_MISSED_MAX * HEARTBEAT_PERIOD_NS);
	return 0;
}

int detector_measure(const struct detector_conf *c, struct detector_result *out, struct err *e)
{
	struct detector d = { .conf = c, .out = out };
	int rc = world_open(&d.w, c->seed, false, e);

	if (rc)
		return rc;
	*out = (struct detector_result){ .months = 0 };
	rng_init(&d.network, rng_next(&d.w.dice));
	timebase_init_root(&d.time, loop_now(d.w.loop), world_wall(&d.w));
	d.pair = calloc(c->links, sizeof(*d.pair));
	rc = d.pair ? measure(&d, e) : err_nomem(e);
	for (unsigned i = 0; d.pair && i < c->links; i++)
		link_close(d.pair[i].up, NULL);
	/* Waits until the accepting ends have noticed all losses, also on unused links. */
	loop_advance(d.w.loop,
		     SETTLE_NS + HELLO_MAX_NS + 2 * HEARTBEAT_MISSED_MAX * HEARTBEAT_PERIOD_NS);
	for (unsigned i = 0; d.pair && i < c->links; i++)
		close_pair(&d.pair[i]);
	world_close(&d.w);
	free(d.pair);
	return rc;
}

/*
 * Returns P(X <= k) of a Poisson distribution, for a mean within some deviations of k: summed from
 * term k down, since the first term is not too small.
 */
static double at_most(uint64_t k, double mean)
{
	double term = exp((double)k * log(mean) - mean - lgamma((double)k + 1)), sum = term;

	for (uint64_t i = k; i > 0 && ((double)i > mean || term > 1e-17 * sum); i--)
		sum += term *= (double)i / mean;
	return sum;
}

/* Returns the mean at which P(X <= k) is p, 0.001 < p < 0.999. P falls as the mean grows. */
static double mean_with(uint64_t k, double p)
{
	double beside = 10 + 5 * sqrt((double)k), low = fmax((double)k - beside, DBL_MIN),
	       high = (double)k + beside;

	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (at_most(k, middle) > p)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void detector_poisson(uint64_t k, double level, double out[2])
{
	double beside = (1 - level) / 2;

	out[0] = k ? mean_with(k - 1, 1 - beside) : 0;
	out[1] = mean_with(k, beside);
}

void detector_print(const struct detector_conf *c, const struct detector_result *r, struct buf *out)
{
	struct interval found = interval_of_mean(&r->found, 0.95);
	double n[2];

	detector_poisson(r->suspicions, 0.95, n);
	buf_printf(
		out,
		"heartbeats each %.0f s, suspicion after %.0f s of silence; mean delay one way %.3g s, %.3g %% of segments lost, sent again after %.1f s, %.1f s, ...\n",
		(double)HEARTBEAT_PERIOD_NS / 1e9,
		(double)HEARTBEAT_MISSED_MAX * HEARTBEAT_PERIOD_NS / 1e9, delay_mean(&c->delay),
		c->loss * 100, (double)DETECTOR_RETRY_NS / 1e9,
		2 * (double)DETECTOR_RETRY_NS / 1e9);
	buf_printf(out,
		   "false suspicions: %" PRIu64 " in %.3g months of links (%" PRIu64
		   " frames): %.3g a link and month, 95 %% interval %.3g to %.3g\n",
		   r->suspicions, r->months, r->frames, (double)r->suspicions / r->months,
		   n[0] / r->months, n[1] / r->months);
	buf_printf(out,
		   "a lost peer: detected after %.3f s +- %.3f in the mean (95 %%, n %" PRIu64
		   "), %.3f s at most\n",
		   found.mean, found.half, r->found.n, r->found_max);
}
