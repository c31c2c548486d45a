/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A channel through memory. Each end stores the frames in transit to it, with their times of
 * arrival. A window limits their bytes, like the buffers of a socket. Further frames wait at the
 * sender, where caps and back-pressure apply.
 */
#include "common/base/str.h"
#include "common/net/internal.h"

#include <stdlib.h>
#include <string.h>

#define MALLOC_HEAD_BYTES 24 /* largest overhead of malloc(), with rounding */

enum packet_kind { PACKET_DATA, PACKET_END, PACKET_RESET };

struct mem_packet {
	struct list at;
	nsec_t due;
	enum packet_kind kind;
	bool is_served; /* the receiver has begun to handle it, and ends at `due` */
	size_t n;
	uint8_t p[];
};

static struct mem_chan *of(const struct chan *c)
{
	return (struct mem_chan *)(uintptr_t)c;
}

/*
 * Returns the rules. It is called several times for each frame, and searches again only after a
 * change of rules.
 */
static const struct mem_link *link_of(const struct mem_chan *c)
{
	struct mem_chan *m = of(&c->c);
	uint64_t rules;

	if (!m->c.ctx)
		return &m->how;
	rules = mem_net_rules(m->c.ctx->mem);
	if (m->rules != rules)
		m->link = mem_net_link(m->c.ctx->mem, m->here, m->there);
	m->rules = rules;
	return m->link;
}

static const struct mem_tap *tap_of(const struct mem_chan *m)
{
	return m->c.ctx && m->c.ctx->place ? m->c.ctx->place->tap : NULL;
}

static double random_of(struct mem_chan *m)
{
	return m->c.ctx ? mem_net_random(m->c.ctx->mem) : rng_double(&m->rng);
}

static struct mem_packet *packet_new(enum packet_kind kind, const uint8_t *p, size_t n)
{
	struct mem_packet *k = malloc(sizeof(*k) + n);

	if (!k)
		return NULL;
	*k = (struct mem_packet){ .kind = kind, .n = n };
	if (n)
		memcpy(k->p, p, n);
	return k;
}

static void packets_free(struct list *all)
{
	struct list *item;

	while ((item = list_pop_front(all)))
		free(list_entry(item, struct mem_packet, at));
}

static struct mem_packet *first_of(const struct list *all)
{
	struct list *item = list_first(all);

	return item ? list_entry(item, struct mem_packet, at) : NULL;
}

static void arm(struct mem_chan *m)
{
	struct mem_packet *k = first_of(&m->in);

	if (m->dial || !k || m->c.paused || m->c.state != CHAN_UP)
		return;
	loop_timer_arm_at_whole(m->timer, k->due);
}

/* --- time that a daemon needs for frames */

static unsigned frames_in(const uint8_t *p, size_t n)
{
	unsigned frames = 0;

	for (size_t at = 0, one; at < n && (one = frame_bytes(p + at, n - at)); at += one)
		frames++;
	return frames;
}

static nsec_t work_of(struct mem_place *p, unsigned frames, size_t bytes)
{
	nsec_t work = frames * p->pace.frame_ns + (nsec_t)((double)bytes * p->pace.byte_ns);

	p->load.busy += work;
	return work;
}

static nsec_t later(nsec_t a, nsec_t b)
{
	return a > b ? a : b;
}

/* Starts to handle the packet after earlier ones. */
static void begin_serving(struct mem_chan *m, struct mem_packet *k)
{
	struct mem_place *p = m->c.ctx ? m->c.ctx->place : NULL;
	unsigned frames = frames_in(k->p, k->n);

	k->is_served = true;
	if (!p || k->kind != PACKET_DATA)
		return;
	p->load.frames_in += frames;
	p->load.bytes_in += k->n;
	p->busy_until = later(p->busy_until, loop_whole_now(m->c.loop)) + work_of(p, frames, k->n);
	k->due = p->busy_until;
}

/* Returns the time at which the packet is sent: packets of one step are sent in sequence. */
static nsec_t send_at(struct mem_chan *m, const struct mem_packet *k)
{
	struct mem_place *p = m->c.ctx ? m->c.ctx->place : NULL;
	nsec_t now = loop_whole_now(m->c.loop), work;
	unsigned frames = frames_in(k->p, k->n);

	if (!p || k->kind != PACKET_DATA)
		return now;
	p->load.frames_out += frames;
	p->load.bytes_out += k->n;
	work = work_of(p, frames, k->n);
	p->sending_until = later(p->sending_until, now) + work;
	p->busy_until = later(p->busy_until, now) + work;
	return p->sending_until;
}

/* --- frames in transit */

/* Puts a packet in transit to the peer, behind all earlier ones. */
static void put_under_way(struct mem_chan *m, struct mem_packet *k)
{
	const struct mem_link *how = link_of(m);
	nsec_t due = send_at(m, k) + how->delay;
	bool was_empty = list_is_empty(&m->peer->in);

	if (how->jitter > 0)
		due += (nsec_t)(random_of(m) * (double)how->jitter);
	if (how->more)
		due += how->more(how->arg);
	if (due < m->last_due)
		due = m->last_due;
	m->last_due = due;
	k->due = due;
	list_push_back(&m->peer->in, &k->at);
	m->peer->in_bytes += k->n;
	if (was_empty)
		arm(m->peer);
}

static bool has_room(const struct mem_chan *m, size_t n)
{
	size_t window = link_of(m)->window ? link_of(m)->window : MEM_WINDOW_BYTES;

	return !m->peer->in_bytes || m->peer->in_bytes + n <= window;
}

/* Sends waiting frames after the peer has made room. */
static void send_waiting(struct mem_chan *m)
{
	struct mem_packet *k;

	while (m->peer && (k = first_of(&m->out)) && has_room(m, k->n)) {
		list_del(&k->at);
		m->out_bytes -= k->n;
		m->out_n--;
		put_under_way(m, k);
	}
	chan_drained(&m->c);
}

static bool hears(const struct mem_chan *m)
{
	const struct mem_link *how = link_of(m);

	if (how->cut || !how->deaf)
		return !how->cut;
	return !(m->here && str_eq(how->deaf, m->here)) &&
	       !(how->heard_until && loop_whole_now(m->c.loop) >= how->heard_until);
}

static void take(struct mem_chan *m, struct mem_packet *k)
{
	const struct mem_tap *t = tap_of(m);
	struct err why = { 0 };
	int rc = 0;

	list_del(&k->at);
	m->in_bytes -= k->n;
	if (k->kind == PACKET_DATA && t && t->on_receive)
		t->on_receive(t->arg, &m->c, k->p, k->n);
	if (k->kind == PACKET_DATA)
		rc = chan_feed(&m->c, k->p, k->n, &why);
	else if (k->kind == PACKET_END)
		rc = err_set(&why, ERR_CLOSED, "the peer has closed the link");
	else
		rc = err_set(&why, ERR_CLOSED, "the connection broke: reset");
	free(k);
	if (rc)
		chan_fail(&m->c, &why);
}

/* Frames that a pause has left in the splitter precede those in transit. */
static void receive(struct mem_chan *m)
{
	struct mem_packet *k;
	struct err why = { 0 };

	if (chan_deliver(&m->c, &why))
		chan_fail(&m->c, &why);
	while (m->c.state == CHAN_UP && !m->c.paused && (k = first_of(&m->in)) &&
	       k->due <= loop_whole_now(m->c.loop) && hears(m)) {
		if (!k->is_served) {
			begin_serving(m, k);
			continue;
		}
		take(m, k);
		if (m->peer)
			send_waiting(m->peer);
	}
	if (m->c.state == CHAN_UP)
		chan_give_back_input(&m->c);
	if (hears(m))
		arm(m);
}

static void on_timer(void *arg)
{
	struct mem_chan *m = arg;

	if (m->dial)
		mem_dial_settle(m);
	else
		receive(m);
}

void mem_chan_kick(struct mem_chan *m)
{
	if (m->dial || m->c.state == CHAN_UP)
		loop_timer_arm(m->timer, 0);
}

static void part(struct mem_chan *m, enum packet_kind kind)
{
	struct mem_chan *peer = m->peer;
	struct mem_packet *k = packet_new(kind, NULL, 0);

	if (k && kind == PACKET_RESET) {
		packets_free(&peer->in);
		peer->in_bytes = 0;
	}
	if (k)
		put_under_way(m, k);
	m->peer = NULL;
	peer->peer = NULL;
	if (!k) /* without memory for the delay, it is reported at once */
		chan_fail_later(&peer->c, &(struct err){ .code = ERR_CLOSED,
							 .text = "the peer has closed the link" });
}

/* Ends both sides of a channel of either kind now; frames in transit are lost. */
static void mem_chan_cut(struct chan *c)
{
	struct mem_chan *m = of(c), *peer = m->peer;
	struct err why = { .code = ERR_CLOSED, .text = "the connection broke: reset" };

	m->peer = NULL;
	if (peer) {
		peer->peer = NULL;
		chan_fail_later(&peer->c, &why);
	}
	chan_fail_later(c, &why);
}

int mem_tap_send(struct chan *c, const uint8_t *frame, size_t n)
{
	struct mem_chan *m = of(c);
	const struct mem_link *how = link_of(m);
	struct mem_packet *k;

	if (!m->peer)
		return 0; /* closed, and the notification is in transit */
	if (how->drop > 0 && random_of(m) < how->drop) {
		mem_chan_cut(c);
		return 0;
	}
	k = packet_new(PACKET_DATA, frame, n);
	if (!k)
		return -ERR_NOMEM;
	c->stats.writes++;
	if (list_is_empty(&m->out) && has_room(m, n)) {
		put_under_way(m, k);
		return 0;
	}
	list_push_back(&m->out, &k->at);
	m->out_bytes += n;
	m->out_n++;
	return 0;
}

static int op_send(struct chan *c, const uint8_t *frame, size_t n)
{
	const struct mem_tap *t = tap_of(of(c));

	if (!t || !t->on_send)
		return mem_tap_send(c, frame, n);
	t->on_send(t->arg, c, frame, n);
	return 0;
}

static size_t op_queued(const struct chan *c)
{
	return of(c)->out_bytes;
}

size_t mem_chan_heads(const struct chan *c)
{
	return of(c)->out_n * (sizeof(struct mem_packet) + MALLOC_HEAD_BYTES);
}

static void op_pause(struct chan *c)
{
	mem_chan_kick(of(c));
}

static void op_stop(struct chan *c)
{
	struct mem_chan *m = of(c);

	loop_timer_cancel(m->timer);
	if (m->peer)
		part(m, PACKET_END);
	packets_free(&m->in);
	packets_free(&m->out);
	m->in_bytes = m->out_bytes = m->out_n = 0;
	if (m->dial)
		admit_done(&m->dial->admit);
	free(m->dial);
	m->dial = NULL;
}

static void op_free(struct chan *c)
{
	struct mem_chan *m = of(c);

	loop_timer_free(m->timer);
	free(m->here);
	free(m->there);
}

static const struct chan_ops mem_chan_ops = {
	.send = op_send,
	.queued = op_queued,
	.pause = op_pause,
	.stop = op_stop,
	.free = op_free,
};

struct mem_chan *mem_chan_new(struct loop *l, struct net_ctx *ctx, const char *here,
			      const char *there)
{
	struct mem_chan *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->timer = loop_timer_new(l, on_timer, m);
	m->here = str_dup(here);
	m->there = str_dup(there);
	if (!m->timer || (here && !m->here) || (there && !m->there)) {
		op_free(&m->c);
		free(m);
		return NULL;
	}
	chan_init(&m->c, &mem_chan_ops, l, ctx);
	str_copy(m->c.remote, sizeof(m->c.remote), there ? there : "memory");
	list_init(&m->in);
	list_init(&m->out);
	return m;
}

void mem_chan_join(struct mem_chan *a, struct mem_chan *b)
{
	a->peer = b;
	b->peer = a;
}

void mem_chan_crash(struct mem_chan *m)
{
	if (m->peer)
		part(m, PACKET_RESET);
}
