/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/kept.h"

#include "common/base/array.h"
#include "common/base/log.h"
#include "common/base/map.h"
#include "eventlog/evgap.h"

#include <stdlib.h>
#include <string.h>

#define TICKETS_MAX (BRANCHES_MAX * KEPT_ROOM)

struct kept {
	struct kept_conf conf;
	struct keeps *keeps;
	struct loop_timer *retry; /* of streams that were shut for want of room */
	struct loop_timer *coming; /* runs while hosts of an sm before us may come back */
	uint64_t stream; /* the last opening; begins somewhere, so that none of an sm before us is the same */
};

/* What comes from one branch. */
struct feed {
	uint32_t branch; /* index */
	uint64_t id; /* of the branch */
	uint64_t stream;
	struct map seqs; /* of streams that came from there: the next block + 1 as a pointer */
	bool has_ended, is_shut;
};

/* A message whose blocks are on their way to the disk. */
struct ticket {
	uint64_t appended, stream, place;
	uint32_t branch;
	uint32_t bytes;
};

struct sub {
	struct kept *kt;
	struct keep *k;
	struct map feeds; /* by index of the branch; owned */
	size_t nseq; /* streams of all feeds that are remembered */
	struct ticket *ticket; /* owned; the oldest first */
	size_t nticket, capticket;
	size_t unsafe; /* bytes of all tickets */
	bool awaits; /* hosts that an sm before us knew count as one that is there */
};

/* --- down */

static void send_open(struct sub *s, struct feed *f, struct branch *b)
{
	struct msg m = { .type = MSG_EVENTS_OPEN, .events_open = *keep_told(s->k) };

	m.events_open.stream = f->stream;
	m.events_open.room = KEPT_ROOM;
	branch_send(s->kt->conf.nodes, b, &m);
}

static struct feed *feed_of(struct sub *s, const struct branch *b)
{
	struct feed *f = map_find(&s->feeds, b->index);

	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f || map_put(&s->feeds, b->index, f, NULL)) {
		free(f);
		return NULL;
	}
	f->branch = b->index;
	map_init(&f->seqs);
	keep_feed(s->k, 1);
	return f;
}

static void forget_seqs(struct sub *s, struct feed *f)
{
	s->nseq -= f->seqs.n;
	map_done(&f->seqs);
}

static void feed_free(struct sub *s, struct feed *f)
{
	forget_seqs(s, f);
	free(f);
}

/* What is not acknowledged comes again. */
static void open_anew(struct sub *s, struct branch *b)
{
	struct feed *f = feed_of(s, b);

	if (!f)
		return;
	if (f->has_ended)
		keep_feed(s->k, 1);
	if (f->id != b->id)
		forget_seqs(s, f);
	f->id = b->id;
	f->has_ended = f->is_shut = false;
	f->stream = ++s->kt->stream;
	send_open(s, f, b);
}

static void on_told(void *arg, struct keep *k)
{
	struct kept *kt = arg;
	struct sub *s = keep_user(k);

	for (uint32_t i = 0; s && i < nodes_branches(kt->conf.nodes); i++) {
		struct branch *b = nodes_branch(kt->conf.nodes, i);
		struct feed *f = b ? map_find(&s->feeds, i) : NULL;

		if (b && b->link && f && f->id == b->id)
			send_open(s, f, b);
		else if (b && b->link)
			open_anew(s, b);
	}
}

/* --- one subscription */

static void sub_free(struct sub *s)
{
	struct map_iter i = { 0 };

	if (!s)
		return;
	while (map_next(&s->feeds, &i))
		feed_free(s, i.value);
	map_done(&s->feeds);
	free(s->ticket);
	free(s);
}

static void make_sub(void *arg, struct keep *k)
{
	struct sub *s;

	if (keep_user(k))
		return;
	s = calloc(1, sizeof(*s));
	if (!s)
		return; /* nothing comes in until there is memory: those above open again */
	s->kt = arg;
	s->k = k;
	map_init(&s->feeds);
	keep_set_user(k, s);
}

static void on_new(void *arg, struct keep *k)
{
	make_sub(arg, k);
	on_told(arg, k);
}

static void on_gone(void *arg, struct keep *k)
{
	struct kept *kt = arg;
	const struct msg m = { .type = MSG_EVENTS_END,
			       .events_end = { keep_name(k), keep_told(k)->identity } };

	nodes_send_all(kt->conf.nodes, &m);
	sub_free(keep_user(k));
	keep_set_user(k, NULL);
}

/* --- what is safe */

static void ack(const struct sub *s, const struct ticket *t)
{
	const struct msg m = { .type = MSG_EVENTS_ACK, .events_ack = { keep_name(s->k), t->stream, t->place } };
	struct branch *b = nodes_branch(s->kt->conf.nodes, t->branch);
	const struct feed *f = map_find(&s->feeds, t->branch);

	if (b && b->link && f && f->id == b->id && f->stream == t->stream)
		branch_send(s->kt->conf.nodes, b, &m);
}

static void on_settled(void *arg, struct keep *k, uint64_t appended)
{
	struct sub *s = keep_user(k);
	size_t n = 0;

	for (; s && n < s->nticket && s->ticket[n].appended <= appended; n++) {
		ack(s, &s->ticket[n]);
		s->unsafe -= s->ticket[n].bytes;
	}
	if (!n)
		return;
	s->nticket -= n;
	memmove(s->ticket, s->ticket + n, s->nticket * sizeof(*s->ticket));
}

/* --- room */

static bool has_room(const struct sub *s, size_t n)
{
	return s->unsafe + n <= KEPT_UNSAFE_MAX_BYTES && keep_room(s->k) >= s->unsafe + n;
}

/* So much makes opening again worth its while: a small subscription never has what a large one waits for. */
static size_t enough(const struct sub *s)
{
	uint64_t part = keep_told(s->k)->max_bytes / 4;

	return part < KEPT_UNSAFE_MAX_BYTES / 2 ? (size_t)part : KEPT_UNSAFE_MAX_BYTES / 2;
}

static void open_shut(void *arg, struct keep *k)
{
	struct kept *kt = arg;
	struct sub *s = keep_user(k);
	struct map_iter i = { 0 };

	while (s && map_next(&s->feeds, &i)) {
		struct feed *f = i.value;
		struct branch *b = nodes_branch(kt->conf.nodes, f->branch);

		if (!f->is_shut)
			continue;
		if (!b || !b->link || f->id != b->id)
			f->is_shut = false; /* it is opened when it is back */
		else if (has_room(s, enough(s)))
			open_anew(s, b);
		else
			loop_timer_arm(kt->retry, KEPT_RETRY_NS);
	}
}

static void on_retry(void *arg)
{
	struct kept *kt = arg;

	keeps_each(kt->keeps, open_shut, kt);
}

static void shut(struct sub *s, struct feed *f)
{
	f->is_shut = true;
	if (!loop_timer_is_armed(s->kt->retry))
		loop_timer_arm(s->kt->retry, KEPT_RETRY_NS);
}

/* --- what comes */

/* Whole good blocks, or of a later version, and nothing else. */
static int check_blocks(const struct bytes *p, struct err *e)
{
	struct evblock b;

	for (size_t at = 0; at < p->n; at += b.bytes) {
		enum evblock_look look = evblock_look(p->p + at, p->n - at, &b);

		if (look != EVBLOCK_GOOD && look != EVBLOCK_FUTURE)
			return err_set(e, ERR_PROTO, "BAD_FIELD events.blocks: no block at byte %zu", at);
	}
	return 0;
}

/*
 * It came before, under an earlier opening. Nobody remembers all: twice does no harm. Each branch speaks for itself: who knows
 * the number of another one's stream cannot make its blocks repeated ones, which nobody would keep or count.
 */
static bool is_double(struct sub *s, struct feed *f, const uint8_t *p, const struct evblock *b)
{
	uint64_t next;
	struct evgap g;

	evgap_of(p, b, &g);
	next = (uint64_t)(uintptr_t)map_find(&f->seqs, g.stream);
	if (g.end_seq <= next)
		return true;
	if (next || s->nseq < KEPT_STREAMS_MAX)
		s->nseq += !map_put(&f->seqs, g.stream, (void *)(uintptr_t)g.end_seq, NULL) && !next;
	return false;
}

/* -ERR_AGAIN, -ERR_NOMEM, -ERR_CLOSED: not all of it; it is to come again. */
static int append(struct sub *s, struct feed *f, const struct bytes *p)
{
	struct evblock b;
	int rc = 0;

	for (size_t at = 0; at < p->n; at += b.bytes) {
		evblock_look(p->p + at, p->n - at, &b);
		if (is_double(s, f, p->p + at, &b))
			continue;
		rc = keep_append(s->k, p->p + at, &b);
		if (rc && rc != -ERR_LIMIT) {
			s->nseq -= map_del(&f->seqs, b.stream) != NULL;
			return rc;
		}
	}
	return 0;
}

static int take_blocks(struct sub *s, struct feed *f, const struct msg_events *m)
{
	struct ticket t = { .stream = m->stream, .place = m->place, .branch = f->branch, .bytes = (uint32_t)m->blocks.n };
	int rc = array_grow(&s->ticket, &s->capticket, s->nticket + 1, sizeof(t), TICKETS_MAX);

	if (!rc)
		rc = append(s, f, &m->blocks);
	if (rc)
		return rc;
	t.appended = keep_appended(s->k);
	s->ticket[s->nticket++] = t;
	s->unsafe += t.bytes;
	if (keep_is_settled(s->k))
		on_settled(s->kt, s->k, t.appended); /* all of it came twice: nobody will tell */
	return 0;
}

int kept_events(struct kept *kt, struct branch *b, const struct msg_events *m, struct err *e)
{
	struct keep *k = keeps_find(kt->keeps, m->sub);
	struct sub *s = k ? keep_user(k) : NULL;
	struct feed *f = s ? map_find(&s->feeds, b->index) : NULL;
	int rc = check_blocks(&m->blocks, e);

	if (rc || !f || f->id != b->id || f->stream != m->stream || f->is_shut || f->has_ended)
		return rc;
	if (m->blocks.n && (!has_room(s, m->blocks.n) || take_blocks(s, f, m))) {
		shut(s, f);
		return 0;
	}
	if (m->end) {
		f->has_ended = true;
		keep_feed(k, -1);
	}
	return 0;
}

/* --- life */

/* What they have is of it, and an end without them would throw it away. */
static void await(void *arg, struct keep *k)
{
	struct sub *s;

	make_sub(arg, k);
	s = keep_user(k);
	if (!s)
		return;
	s->awaits = true;
	keep_feed(k, 1);
}

static void await_no_more(void *unused, struct keep *k)
{
	struct sub *s = keep_user(k);

	if (!s || !s->awaits)
		return;
	s->awaits = false;
	keep_feed(k, -1);
}

static void on_came(void *arg)
{
	const struct kept *kt = arg;

	keeps_each(kt->keeps, await_no_more, NULL);
}

int kept_new(const struct kept_conf *conf, struct kept **out, struct err *e)
{
	struct kept *kt = calloc(1, sizeof(*kt));
	const struct keeps_conf c = { .loop = conf->loop,
				      .dir = conf->dir,
				      .max_bytes = conf->max_bytes,
				      .all = conf->all,
				      .loses_nothing = true,
				      .send = conf->send,
				      .send_arg = conf->arg,
				      .on_told = on_new,
				      .on_settled = on_settled,
				      .on_gone = on_gone,
				      .arg = kt };
	int rc;

	if (!kt)
		return err_nomem(e);
	kt->conf = *conf;
	kt->stream = rng_next(conf->rng) >> 16;
	kt->retry = loop_timer_new(conf->loop, on_retry, kt);
	kt->coming = loop_timer_new(conf->loop, on_came, kt);
	rc = kt->retry && kt->coming ? keeps_open(&c, &kt->keeps, e) : err_nomem(e);
	if (rc) {
		kept_free(kt);
		return rc;
	}
	keeps_each(kt->keeps, await, kt);
	loop_timer_arm(kt->coming, KEPT_RETURN_NS);
	*out = kt;
	return 0;
}

static void free_user(void *arg, struct keep *k)
{
	sub_free(keep_user(k));
	keep_set_user(k, NULL);
}

void kept_free(struct kept *kt)
{
	if (!kt)
		return;
	if (kt->keeps)
		keeps_each(kt->keeps, free_user, kt);
	keeps_free(kt->keeps);
	loop_timer_free(kt->retry);
	loop_timer_free(kt->coming);
	free(kt);
}

void kept_take(struct kept *kt, const struct msg *m)
{
	keeps_take(kt->keeps, m);
}

void kept_link_down(struct kept *kt)
{
	keeps_link_down(kt->keeps);
}

struct coming {
	struct kept *kt;
	const struct branch *b;
};

static void open_for(void *arg, struct keep *k)
{
	const struct coming *c = arg;
	struct branch *b = nodes_branch(c->kt->conf.nodes, c->b->index);

	if (keep_user(k) && b)
		open_anew(keep_user(k), b);
}

void kept_branch_up(struct kept *kt, const struct branch *b)
{
	struct coming c = { kt, b };

	keeps_each(kt->keeps, open_for, &c);
}

static void leave(void *arg, struct keep *k)
{
	const struct coming *c = arg;
	struct sub *s = keep_user(k);
	struct feed *f = s ? map_del(&s->feeds, c->b->index) : NULL;

	if (!f)
		return;
	if (!f->has_ended)
		keep_feed(k, -1);
	feed_free(s, f);
}

void kept_branch_gone(struct kept *kt, const struct branch *b)
{
	struct coming c = { kt, b };

	keeps_each(kt->keeps, leave, &c);
}

void kept_stats(const struct kept *kt, struct keeps_stats *out)
{
	keeps_stats(kt->keeps, out);
}
