/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/rogues/rogue.h"

#include "common/base/array.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/net/net.h"
#include "common/omis/text/token.h"
#include "proto/frame.h"
#include "proto/msg.h"
#include "sim/rogues/lies.h"
#include "sim/rogues/roguetool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* numbers of one host in a run: mainsm assigns a new one after it has lost the old one */
#define NUMBERS_MAX 8
#define OUT_MAX_BYTES (4u * 1024 * 1024) /* limit of the frames that one frame leads to */
/* limit of invented messages: each answer causes more of them, and further ones test nothing new */
#define LIES_MAX 50000
#define FLOODS_MAX 4 /* floods in a world, because each takes long */
#define FLOOD_FRAMES 400
#define SULK_MAX_NS (10 * NSEC_PER_SEC) /* longest time with heartbeats only */
#define RARELY_MAX 10 /* largest mean number of frames between two false ones */

enum trick {
	TRICK_WITHHOLD,
	TRICK_TWICE,
	TRICK_LATE,
	TRICK_REPEAT,
	TRICK_ALTER,
	TRICK_FORGE,
	TRICK_FLOOD,
	TRICK_SULK,
	TRICK_GARBLE,
	TRICKS
};

/* A host without a rogue. Its numbers are collected from messages. */
struct spared {
	struct rogue *rogue;
	const struct simnode *node;
	struct mem_tap tap;
	uint32_t number[NUMBERS_MAX];
	size_t n;
};

struct rogue {
	struct cluster *cluster;
	struct ledger *ledger;
	enum rogue_kind kind;
	const char *host, *site; /* host and site of the rogue; borrowed; site "": a tool */
	char name[48];
	struct mem_tap tap;
	struct lies lies;
	struct roguetool *tool;
	struct spared *spared; /* by host */
	bool is_on;
	unsigned tricks; /* bits: the kinds of false messages that this rogue uses */
	uint64_t rarely;
	bool is_local; /* the victim is below the same sm, which could confuse the two */
	unsigned floods;
	nsec_t sulks_until;
	uint8_t *late; /* a frame that the next frame overtakes; owned; NULL: none */
	size_t nlate;
};

bool rogue_is_drawn(enum rogue_when when, uint64_t seed)
{
	return when == ROGUE_ALWAYS ||
	       (when == ROGUE_SOMETIMES && hash_mix64(seed ^ ROGUE_ONE_IN) % ROGUE_ONE_IN == 0);
}

/* --- objects of the rogue */

bool rogue_has_host(const struct rogue *r, const struct simnode *n)
{
	return r && (r->kind == ROGUE_LM ? str_eq(simnode_name(n), r->host)
					 : str_eq(simnode_site(n), r->site));
}

bool rogue_has_sm(const struct rogue *r, const struct simsite *s)
{
	return r && r->kind == ROGUE_SM && str_eq(simsite_name(s), r->site);
}

bool rogue_is_on(const struct rogue *r, const char *host)
{
	return r && str_eq(r->host, host);
}

bool rogue_counts(const struct rogue *r)
{
	return r && r->kind != ROGUE_TOOL_KIND;
}

const struct simnode *rogue_node(const struct rogue *r, uint32_t number)
{
	for (unsigned i = 0; i < r->cluster->conf.hosts; i++)
		for (size_t k = 0; k < r->spared[i].n; k++)
			if (r->spared[i].number[k] == number)
				return r->spared[i].node;
	return NULL;
}

bool rogue_spares(const struct rogue *r, const char *token)
{
	uint32_t number;

	return !r || !rogue_counts(r) ||
	       (token_node(token, strlen(token), &number) && rogue_node(r, number));
}

static bool names_spared(const struct rogue *r, const char *objects)
{
	char token[TOKEN_BYTES];

	for (size_t len; *objects; objects += len + (objects[len] == ',')) {
		len = strcspn(objects, ",");
		snprintf(token, sizeof(token), "%.*s", (int)len, objects);
		if (rogue_spares(r, token))
			return true;
	}
	return false;
}

bool rogue_is_excused(const struct rogue *r, const char *objects)
{
	return rogue_counts(r) && !names_spared(r, objects);
}

void rogue_check(struct rogue *r, const struct reply *reply)
{
	struct world *w = r ? r->cluster->w : NULL;

	for (size_t i = 0; r && i < reply->nentry; i++)
		if (strstr(reply->entry[i].value, LIES_MARK) &&
		    names_spared(r, reply->entry[i].objects))
			world_break(w, "INV-18: data invented by %s are reported of %.100s: %.100s",
				    r->name, reply->entry[i].objects, reply->entry[i].value);
	for (size_t i = 0; r && i < reply->coverage.nmissing; i++)
		if (strstr(reply->coverage.missing[i].reason, LIES_MARK) &&
		    names_spared(r, reply->coverage.missing[i].object))
			world_break(
				w,
				"INV-18: a reply has the reason that %s invented for the missing %.100s",
				r->name, reply->coverage.missing[i].object);
}

/* --- learning from messages of others */

static void each_frame(const uint8_t *p, size_t n, void *arg,
		       void (*fn)(void *arg, const uint8_t *p, size_t n))
{
	for (size_t at = 0, one; at < n && (one = frame_bytes(p + at, n - at)); at += one)
		fn(arg, p + at, one);
}

static bool is_victim(const struct spared *s)
{
	const struct rogue *r = s->rogue;

	return r->kind != ROGUE_LM || !r->is_local || str_eq(simnode_site(s->node), r->site);
}

static void learn_number(void *arg, const uint8_t *p, size_t n)
{
	struct spared *s = arg;
	struct msg *m = NULL;

	if (p[FRAME_HEADER_BYTES - 1] != MSG_HELLO_ACK ||
	    msg_get(MSG_HELLO_ACK, p + FRAME_HEADER_BYTES, n - FRAME_HEADER_BYTES, &m, NULL))
		return;
	if (is_victim(s))
		lies_learn(&s->rogue->lies, p, n);
	if (s->n < NUMBERS_MAX && m->hello_ack.node && !rogue_node(s->rogue, m->hello_ack.node))
		s->number[s->n++] = m->hello_ack.node;
	msg_free(m);
}

static void on_spared_hears(void *arg, struct chan *c, const uint8_t *p, size_t n)
{
	each_frame(p, n, arg, learn_number);
}

static void on_spared_says(void *arg, struct chan *c, const uint8_t *p, size_t n)
{
	struct spared *s = arg;

	if (is_victim(s))
		lies_learn(&s->rogue->lies, p, n);
	mem_tap_send(c, p, n);
}

/* --- changing its own frames */

struct saying {
	struct rogue *r;
	struct chan *c;
	enum lies_to to;
};

static void out(const struct saying *s, const struct buf *b)
{
	if (b->n)
		mem_tap_send(s->c, b->p, b->n);
}

/*
 * False for requests of a tool that may manipulate: such requests are permitted whatever they
 * contain. So they are sent unchanged, or not at all.
 */
static bool may_alter(const struct saying *s, const uint8_t *p)
{
	uint8_t type = p[FRAME_HEADER_BYTES - 1];

	return s->to == LIES_UP || (type != MSG_REQUEST && type != MSG_ARM);
}

static void put_late(struct saying *s, const uint8_t *p, size_t n)
{
	struct rogue *r = s->r;

	mem_tap_send(s->c, p, n);
	mem_tap_send(s->c, r->late, r->nlate);
	free(r->late);
	r->late = NULL;
}

static void keep_for_later(struct rogue *r, const uint8_t *p, size_t n)
{
	free(r->late);
	r->late = malloc(n);
	r->nlate = n;
	if (r->late)
		memcpy(r->late, p, n);
}

static void flood(struct saying *s, const uint8_t *p, size_t n)
{
	struct buf b = BUF_INIT(OUT_MAX_BYTES);

	if (++s->r->floods > FLOODS_MAX)
		return;
	for (uint64_t k = rng_below(&s->r->lies.dice, FLOOD_FRAMES); k; k--) {
		buf_clear(&b);
		if (n < 256 && rng_below(&s->r->lies.dice, 2))
			buf_put(&b, p, n);
		else
			lies_forge(&s->r->lies, s->to, &b);
		out(s, &b);
	}
	buf_done(&b);
}

static void play(struct saying *s, enum trick t, const uint8_t *p, size_t n)
{
	struct rogue *r = s->r;
	struct buf b = BUF_INIT(OUT_MAX_BYTES);

	if (t == TRICK_WITHHOLD)
		return;
	if (t == TRICK_LATE) {
		keep_for_later(r, p, n);
		return;
	}
	if (t == TRICK_ALTER && may_alter(s, p))
		lies_alter(&r->lies, p, n, &b);
	else if (t == TRICK_GARBLE)
		lies_garble(&r->lies, p, n, &b);
	else
		buf_put(&b, p, n);
	if (t == TRICK_TWICE)
		buf_put(&b, p, n);
	else if (t == TRICK_REPEAT)
		lies_repeat(&r->lies, s->to == LIES_DOWN, &b);
	else if (t == TRICK_FORGE)
		lies_forge(&r->lies, s->to, &b);
	out(s, &b);
	if (t == TRICK_FLOOD)
		flood(s, p, n);
	buf_done(&b);
}

/* Draws one of the rogue's tricks; those that are hard to detect are more likely. */
static enum trick any_trick(struct rogue *r)
{
	static const enum trick often[] = { TRICK_ALTER, TRICK_ALTER,	 TRICK_ALTER,  TRICK_ALTER,
					    TRICK_FORGE, TRICK_FORGE,	 TRICK_REPEAT, TRICK_TWICE,
					    TRICK_LATE,	 TRICK_WITHHOLD, TRICK_FLOOD,  TRICK_SULK,
					    TRICK_GARBLE };
	enum trick t;

	do {
		t = often[rng_below(&r->lies.dice, ARRAY_LEN(often))];
	} while (!(r->tricks >> t & 1));
	return t;
}

static void say(void *arg, const uint8_t *p, size_t n)
{
	struct saying *s = arg;
	struct rogue *r = s->r;
	struct rng *dice = &r->lies.dice;
	enum trick t = any_trick(r);
	nsec_t now = loop_now(r->cluster->w->loop);
	bool is_heartbeat =
		p[FRAME_HEADER_BYTES - 1] == MSG_PING || p[FRAME_HEADER_BYTES - 1] == MSG_PONG;

	lies_note_said(&r->lies, p, n);
	if (now < r->sulks_until && !is_heartbeat)
		return;
	if (r->late) {
		put_late(s, p, n);
		return;
	}
	if (r->ledger->counts.lies >= LIES_MAX ||
	    rng_below(dice, is_heartbeat ? RARELY_MAX : r->rarely)) {
		mem_tap_send(s->c, p, n);
		return;
	}
	log_info("sim", "%s plays trick %d with a %s", r->name, (int)t,
		 msg_type_name(p[FRAME_HEADER_BYTES - 1]));
	r->ledger->counts.lies++;
	if (t == TRICK_SULK)
		r->sulks_until = now + (nsec_t)rng_below(dice, SULK_MAX_NS);
	play(s, t, p, n);
}

static enum lies_to direction(const struct rogue *r, const struct chan *c)
{
	const struct identity *who = chan_peer(c);
	bool is_below =
		who && (who->role == ROLE_LM || (who->role == ROLE_SM && r->kind == ROGUE_SM &&
						 strlen(who->host) > strlen(r->host)));

	return is_below ? LIES_DOWN : LIES_UP;
}

static void on_says(void *arg, struct chan *c, const uint8_t *p, size_t n)
{
	struct rogue *r = arg;
	struct saying s = { r, c, direction(r, c) };

	if (r->is_on)
		each_frame(p, n, &s, say);
	else
		mem_tap_send(c, p, n);
}

/* Handles a frame for the daemon. Sometimes answers it before the daemon receives it. */
static void hear(void *arg, const uint8_t *p, size_t n)
{
	struct saying *s = arg;
	struct rogue *r = s->r;
	struct buf b = BUF_INIT(OUT_MAX_BYTES);

	lies_note_heard(&r->lies, p, n);
	if (n == FRAME_HEADER_BYTES || r->ledger->counts.lies >= LIES_MAX ||
	    rng_below(&r->lies.dice, r->rarely))
		return;
	r->ledger->counts.lies++;
	lies_forge(&r->lies, s->to, &b);
	out(s, &b);
	buf_done(&b);
}

static void on_hears(void *arg, struct chan *c, const uint8_t *p, size_t n)
{
	struct rogue *r = arg;
	struct saying s = { r, c, direction(r, c) };

	if (r->is_on)
		each_frame(p, n, &s, hear);
}

/* --- start and end */

static void choose(struct rogue *r)
{
	struct cluster *c = r->cluster;
	struct rng *dice = &r->lies.dice;
	static const char *const kind[ROGUE_KINDS] = { "lm", "tool", "sm" };

	r->kind = (enum rogue_kind)rng_below(dice, ROGUE_KINDS);
	r->tricks = 1u << TRICK_ALTER | (unsigned)rng_next(dice);
	r->rarely = 1 + rng_below(dice, RARELY_MAX);
	r->lies.is_bold = rng_below(dice, 3) != 0;
	r->lies.subjects = rng_next(dice);
	r->is_local = rng_below(dice, 2);
	r->host = ROGUE_TOOL;
	r->site = "";
	if (r->kind == ROGUE_LM) {
		struct simnode *n = c->node[rng_below(dice, c->conf.hosts)];

		simnode_let_end(n);
		r->host = simnode_name(n);
		r->site = simnode_site(n);
	} else if (r->kind == ROGUE_SM) {
		struct simsite *s = c->site[rng_below(dice, c->sms)];

		simsite_let_end(s);
		r->host = simsite_host(s);
		r->site = simsite_name(s);
	}
	snprintf(r->name, sizeof(r->name), "%s %.32s", kind[r->kind], r->host);
}

/* Chooses the peer in whose name the rogue sends: another host, and the site of that host. */
static void choose_victim(struct rogue *r)
{
	for (unsigned i = 0; i < r->cluster->conf.hosts; i++) {
		const struct simnode *n = r->cluster->node[i];

		if (rogue_has_host(r, n) || (r->lies.host[0] && rng_below(&r->lies.dice, 2)))
			continue;
		r->lies.host = simnode_name(n);
		r->lies.site = simnode_site(n);
	}
}

static int listen_to_others(struct rogue *r)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < r->cluster->conf.hosts; i++) {
		struct spared *s = &r->spared[i];

		*s = (struct spared){ .rogue = r,
				      .node = r->cluster->node[i],
				      .tap = { on_spared_says, on_spared_hears, s } };
		if (!rogue_has_host(r, s->node))
			rc = mem_net_set_tap(r->cluster->w->net, simnode_name(s->node), &s->tap);
	}
	return rc;
}

int rogue_new(struct cluster *c, struct ledger *l, uint64_t seed, struct rogue **out, struct err *e)
{
	struct rogue *r = calloc(1, sizeof(*r));

	if (!r)
		return err_nomem(e);
	*r = (struct rogue){ .cluster = c, .ledger = l, .is_on = true };
	lies_init(&r->lies, hash_mix64(seed));
	choose(r);
	choose_victim(r);
	r->tap = (struct mem_tap){ on_says, on_hears, r };
	r->spared = calloc(c->conf.hosts, sizeof(*r->spared));
	if (!r->spared || listen_to_others(r) || mem_net_set_tap(c->w->net, r->host, &r->tap) ||
	    (r->kind == ROGUE_TOOL_KIND && roguetool_new(c, &r->lies.dice, &r->tool, NULL))) {
		rogue_free(r);
		return err_nomem(e);
	}
	log_info("sim", "%s is rogue: tricks=%#x rarely=%u", r->name,
		 r->tricks & ((1u << TRICKS) - 1), (unsigned)r->rarely);
	l->counts.rogues++;
	c->rogue = *out = r;
	return 0;
}

void rogue_stop(struct rogue *r)
{
	if (!r)
		return;
	r->is_on = false;
	roguetool_free(r->tool);
	r->tool = NULL;
	lies_done(&r->lies); /* the stored frames are not charged to the rogue's daemon */
	free(r->late);
	r->late = NULL;
}

void rogue_free(struct rogue *r)
{
	if (!r)
		return;
	rogue_stop(r);
	mem_net_set_tap(r->cluster->w->net, r->host, NULL);
	for (unsigned i = 0; r->spared && i < r->cluster->conf.hosts; i++)
		mem_net_set_tap(r->cluster->w->net, simnode_name(r->spared[i].node), NULL);
	r->cluster->rogue = NULL;
	free(r->spared);
	free(r);
}
