/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/evgap.h"
#include "sm/subscription/subscription_internal.h"

#include <stdlib.h>
#include <string.h>

/* --- down */

static void send_open(const struct site_subscription *s, const struct source *f)
{
	stream_send_open(nodes_branches(s->kt->conf.nodes), &f->stream, keep_request(s->k),
			 STREAM_ROOM_MAX);
}

/* Opens streams again, so that blocks without acknowledgement are sent again. */
static void reopen(struct site_subscription *s, const struct branch *b)
{
	struct source *f = source_come(s, b);

	if (!f)
		return;
	f->id = b->id;
	stream_open(&s->streams, &f->stream);
	send_open(s, f);
}

static void on_request(void *arg, struct keep *k)
{
	struct site_subscriptions *kt = arg;
	struct site_subscription *s = keep_user(k);
	bool is_ending = keep_request(k)->ending;

	for (uint32_t i = 0; s && i < branches_bound(nodes_branches(kt->conf.nodes)); i++) {
		struct branch *b = branches_at(nodes_branches(kt->conf.nodes), i);
		struct source *f = b ? source_at(s, b) : NULL;

		if (b && b->link && f && f->id == b->id &&
		    (is_ending || f->stream.state != STREAM_ENDED))
			send_open(s, f);
		else if (b && b->link)
			reopen(s, b);
	}
	if (s && is_ending)
		site_subscription_await(s);
}

/* --- one subscription */

static void sub_free(struct site_subscription *s)
{
	if (!s)
		return;
	site_subscription_free_sources(s);
	free(s);
}

static void make_sub(void *arg, struct keep *k)
{
	struct site_subscription *s;

	if (keep_user(k))
		return;
	s = calloc(1, sizeof(*s));
	if (!s)
		return; /* without memory nothing is received; the parent opens the stream again */
	s->kt = arg;
	s->k = k;
	if (site_subscription_init_sources(s))
		sub_free(s);
	else
		keep_set_user(k, s);
}

static void on_new(void *arg, struct keep *k)
{
	make_sub(arg, k);
	on_request(arg, k);
}

static void on_gone(void *arg, struct keep *k)
{
	struct site_subscriptions *kt = arg;
	const struct msg m = { .type = MSG_EVENTS_END,
			       .events_end = { keep_name(k), keep_request(k)->identity } };

	branches_send_all(nodes_branches(kt->conf.nodes), &m);
	sub_free(keep_user(k));
	keep_set_user(k, NULL);
}

/* --- acknowledgements */

static void ack(void *arg, const struct stream_message *t)
{
	const struct site_subscription *s = arg;
	const struct msg m = { .type = MSG_EVENTS_ACK,
			       .events_ack = { keep_name(s->k), t->number, t->place } };
	struct branch *b = branches_at(nodes_branches(s->kt->conf.nodes), t->branch);
	const struct source *f = b ? source_at(s, b) : NULL;

	if (b && b->link && f && f->id == b->id && f->stream.number == t->number)
		branch_send(b, &m);
}

static void on_settled(void *arg, struct keep *k, uint64_t appended)
{
	struct site_subscription *s = keep_user(k);

	if (s)
		streams_release(&s->streams, NULL, appended, ack, s);
}

/* --- room */

static bool has_room(const struct site_subscription *s, size_t n)
{
	return s->streams.unsafe + n <= STREAM_WINDOW_BYTES &&
	       keep_room(s->k) >= s->streams.unsafe + n;
}

/* Returns the number of free bytes that justifies a new opening. */
static size_t enough(const struct site_subscription *s)
{
	uint64_t part = keep_request(s->k)->max_bytes / 4;

	return part < STREAM_WINDOW_BYTES / 2 ? (size_t)part : STREAM_WINDOW_BYTES / 2;
}

static void open_shut(void *arg, struct keep *k)
{
	struct site_subscriptions *kt = arg;
	struct site_subscription *s = keep_user(k);

	for (uint32_t i = 0; s && i < branches_bound(nodes_branches(kt->conf.nodes)); i++) {
		struct branch *b = branches_at(nodes_branches(kt->conf.nodes), i);
		struct source *f = b ? source_at(s, b) : NULL;

		if (!f || f->stream.state != STREAM_SHUT)
			continue;
		if (has_room(s, enough(s)))
			reopen(s, b);
		else
			loop_timer_arm(kt->retry, SUBSCRIPTION_RETRY_NS);
	}
}

static void on_retry(void *arg)
{
	struct site_subscriptions *kt = arg;

	keeps_each(kt->keeps, open_shut, kt);
}

static void shut(struct site_subscription *s, struct source *f)
{
	stream_step(&s->streams, &f->stream, STREAM_FULL);
	if (!loop_timer_is_armed(s->kt->retry))
		loop_timer_arm(s->kt->retry, SUBSCRIPTION_RETRY_NS);
}

/* --- received blocks */

/* Checks that the payload is a sequence of whole blocks, valid or of a later version. */
static int check_blocks(const struct bytes *p, struct err *e)
{
	struct evblock b;

	for (size_t at = 0; at < p->n; at += b.bytes) {
		enum evblock_look look = evblock_look(p->p + at, p->n - at, &b);

		if (look != EVBLOCK_GOOD && look != EVBLOCK_FUTURE)
			return err_set(e, ERR_PROTO,
				       "BAD_FIELD events.blocks: no block at byte %zu", at);
	}
	return 0;
}

/*
 * True if the block was received under an earlier opening.
 *
 * Not all openings are remembered: a repetition is harmless. Each branch has its own numbers. A
 * number from another branch's stream does not mark blocks as repeated. Otherwise they would be
 * neither stored nor counted.
 */
static bool is_double(struct site_subscription *s, struct source *f, const uint8_t *p,
		      const struct evblock *b)
{
	uint64_t next;
	struct evgap g;

	evgap_of(p, b, &g);
	next = (uint64_t)(uintptr_t)map_find(&f->seqs, g.stream);
	if (g.end_seq <= next)
		return true;
	if (next || s->nseq < SUBSCRIPTION_STREAMS_MAX)
		s->nseq +=
			!map_put(&f->seqs, g.stream, (void *)(uintptr_t)g.end_seq, NULL) && !next;
	return false;
}

/* Returns -ERR_AGAIN, -ERR_NOMEM or -ERR_CLOSED if a part is missing and must be sent again. */
static int append(struct site_subscription *s, struct source *f, const struct bytes *p)
{
	struct evblock b;
	int rc = 0;

	for (size_t at = 0; at < p->n; at += b.bytes) {
		evblock_head(p->p + at, &b);
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

static int store_blocks(struct site_subscription *s, struct source *f, const struct msg_events *m)
{
	struct stream_message t = { .number = m->stream,
				    .place = m->place,
				    .branch = f->stream.branch,
				    .bytes = (uint32_t)m->blocks.n };
	int rc = streams_reserve(&s->streams, s->streams.nmessage + 1);

	if (!rc)
		rc = append(s, f, &m->blocks);
	if (rc)
		return rc;
	t.mark = keep_appended(s->k);
	streams_hold(&s->streams, &t);
	if (keep_is_settled(s->k))
		on_settled(s->kt, s->k,
			   t.mark); /* all blocks were repeated: the disk reports nothing */
	return 0;
}

int site_subscriptions_events(struct site_subscriptions *kt, struct branch *b,
			      const struct msg_events *m, struct err *e)
{
	struct keep *k = keeps_find(kt->keeps, m->sub);
	struct site_subscription *s = k ? keep_user(k) : NULL;
	struct source *f = s ? source_at(s, b) : NULL;
	int rc = check_blocks(&m->blocks, e);

	if (rc || !f || f->id != b->id || f->stream.number != m->stream ||
	    f->stream.state != STREAM_OPEN)
		return rc;
	if (m->blocks.n && (!has_room(s, m->blocks.n) || store_blocks(s, f, m))) {
		shut(s, f);
		return 0;
	}
	if (m->end)
		stream_end(&s->streams, &f->stream, b->is_sm ? m->missing : "");
	return 0;
}

/* --- life */

/* Loads the subscriptions of an earlier sm. Their stored events would be lost without them. */
static void load(void *arg, struct keep *k)
{
	make_sub(arg, k);
	if (keep_user(k))
		site_subscription_await(keep_user(k));
}

static void save_one(void *unused, struct keep *k)
{
	if (keep_user(k))
		site_subscription_save_sources(keep_user(k));
}

static void on_save(void *arg)
{
	const struct site_subscriptions *kt = arg;

	keeps_each(kt->keeps, save_one, NULL);
}

/* The end reports the sources that are away. */
static int send_up(void *arg, const struct msg *m)
{
	const struct site_subscriptions *kt = arg;
	struct keep *k = m->type == MSG_EVENTS && m->events.end
				 ? keeps_find(kt->keeps, m->events.sub)
				 : NULL;
	struct buf b = BUF_INIT(MSG_MISSING_MAX_BYTES + 1);
	struct msg end = *m;
	int rc;

	if (!k || !keep_user(k))
		return kt->conf.send(kt->conf.arg, m);
	streams_write_missing(&((struct site_subscription *)keep_user(k))->streams, &b);
	end.events.missing = buf_str(&b);
	rc = b.failed ? -ERR_NOMEM : kt->conf.send(kt->conf.arg, &end);
	buf_done(&b);
	return rc;
}

int site_subscriptions_new(const struct site_subscriptions_conf *conf,
			   struct site_subscriptions **out, struct err *e)
{
	struct site_subscriptions *kt = calloc(1, sizeof(*kt));
	const struct keeps_conf c = { .loop = conf->loop,
				      .dir = conf->dir,
				      .disk = conf->disk,
				      .turns = conf->turns,
				      .max_bytes = conf->max_bytes,
				      .all = conf->all,
				      .loses_nothing = true,
				      .send = send_up,
				      .send_arg = kt,
				      .on_request = on_new,
				      .on_settled = on_settled,
				      .on_gone = on_gone,
				      .arg = kt };
	int rc;

	if (!kt)
		return err_nomem(e);
	kt->conf = *conf;
	kt->stream = rng_next(conf->rng) >> 16;
	kt->retry = loop_timer_new(conf->loop, on_retry, kt);
	kt->saving = loop_timer_new(conf->loop, on_save, kt);
	rc = kt->retry && kt->saving ? keeps_open(&c, &kt->keeps, e) : err_nomem(e);
	if (rc) {
		site_subscriptions_free(kt);
		return rc;
	}
	keeps_each(kt->keeps, load, kt);
	*out = kt;
	return 0;
}

static void free_user(void *arg, struct keep *k)
{
	sub_free(keep_user(k));
	keep_set_user(k, NULL);
}

void site_subscriptions_free(struct site_subscriptions *kt)
{
	if (!kt)
		return;
	if (kt->keeps) {
		on_save(kt);
		keeps_each(kt->keeps, free_user, kt);
	}
	keeps_free(kt->keeps);
	loop_timer_free(kt->retry);
	loop_timer_free(kt->saving);
	free(kt);
}

void site_subscriptions_msg(struct site_subscriptions *kt, const struct msg *m)
{
	keeps_take(kt->keeps, m);
}

void site_subscriptions_link_down(struct site_subscriptions *kt)
{
	keeps_link_down(kt->keeps);
}

struct coming {
	struct site_subscriptions *kt;
	const struct branch *b;
};

static void open_for(void *arg, struct keep *k)
{
	const struct coming *c = arg;
	struct branch *b = branches_at(nodes_branches(c->kt->conf.nodes), c->b->index);

	if (keep_user(k) && b)
		reopen(keep_user(k), b);
}

void site_subscriptions_branch_up(struct site_subscriptions *kt, const struct branch *b)
{
	struct coming c = { kt, b };

	keeps_each(kt->keeps, open_for, &c);
}

static struct source *source_of_leaving(struct keep *k, const struct branch *b)
{
	return keep_user(k) ? source_at(keep_user(k), b) : NULL;
}

static void be_away(void *arg, struct keep *k)
{
	const struct coming *c = arg;
	struct source *f = source_of_leaving(k, c->b);

	if (f)
		stream_step(&((struct site_subscription *)keep_user(k))->streams, &f->stream,
			    STREAM_LOST);
}

void site_subscriptions_branch_down(struct site_subscriptions *kt, const struct branch *b)
{
	struct coming c = { kt, b };

	keeps_each(kt->keeps, be_away, &c);
}

static void leave(void *arg, struct keep *k)
{
	const struct coming *c = arg;
	struct source *f = source_of_leaving(k, c->b);

	if (f)
		source_leave(keep_user(k), f);
}

void site_subscriptions_branch_gone(struct site_subscriptions *kt, const struct branch *b)
{
	struct coming c = { kt, b };

	keeps_each(kt->keeps, leave, &c);
}

static void forget_host(void *arg, struct keep *k)
{
	if (keep_user(k))
		source_forget_host(keep_user(k), arg);
}

void site_subscriptions_host_moved(struct site_subscriptions *kt, const char *host)
{
	keeps_each(kt->keeps, forget_host, (void *)(uintptr_t)host);
}

void site_subscriptions_stats(const struct site_subscriptions *kt, struct keeps_stats *out)
{
	keeps_stats(kt->keeps, out);
}
