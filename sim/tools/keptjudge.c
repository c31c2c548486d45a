/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tools/keptjudge.h"

#include "common/base/str.h"
#include "common/container/map.h"
#include "eventlog/evfile.h"

#include <inttypes.h>
#include <stdlib.h>

/* Contents of the file that belong to one stream. */
struct received {
	int32_t rank;
	int64_t last; /* number of the last event */
};

struct judging {
	struct cluster *c;
	const struct evbalance *balance;
	uint8_t **has; /* by rank: a bit for each event number in the file; owned */
	size_t nrank;
	struct map received; /* by stream; owned */
	uint64_t *known; /* by host: events received or counted as lost */
	uint64_t anonymous; /* lost events in streams without any block */
	uint64_t stored;
};

static struct world *world_of(const struct judging *j)
{
	return j->c->w;
}

/* --- contents of the file */

static int32_t rank_of(const struct event *ev)
{
	for (unsigned i = 0; ev->stream_type && i < ev->stream_type->nconst; i++)
		if (str_eq(ev->stream_type->constant[i].name, "rank"))
			return ev->stream_type->constant[i].value.i32;
	return -1;
}

static struct received *received_of(struct judging *j, const struct event *ev)
{
	struct received *t = map_find(&j->received, ev->stream);

	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t || map_put(&j->received, ev->stream, t, NULL)) {
		free(t);
		return NULL;
	}
	t->rank = rank_of(ev);
	return t;
}

/* Returns a bit for each event number of the process; NULL if there is no such rank. */
static uint8_t *bits_of(const struct judging *j, const struct simproc *p)
{
	uint8_t **has = p ? &j->has[p->rank] : NULL;

	if (has && !*has)
		*has = calloc(1, simrank_events(p->mpi) / 8 + 1);
	return has ? *has : NULL;
}

static void take(struct judging *j, const struct event *ev)
{
	struct received *t = received_of(j, ev);
	const struct simproc *p = t ? cluster_rank(j->c, t->rank) : NULL;
	uint8_t *has = bits_of(j, p);
	int64_t number = ev->type->nfield ? ev->value[0].i64 : 0;

	if (!has || number < 1 || (uint64_t)number > simrank_events(p->mpi)) {
		world_break(world_of(j),
			    "INV-23: event %" PRId64 " of rank %d is stored, but never occurred",
			    number, t ? (int)t->rank : -1);
		return;
	}
	if (has[number / 8] >> number % 8 & 1)
		world_break(world_of(j), "INV-23: event %" PRId64 " of rank %d is stored twice",
			    number, (int)t->rank);
	if (number <= t->last)
		world_break(world_of(j),
			    "INV-23: event %" PRId64 " of rank %d is stored behind %" PRId64,
			    number, (int)t->rank, t->last);
	has[number / 8] |= (uint8_t)(1 << number % 8);
	t->last = number;
	j->known[t->rank / CLUSTER_RANKS_MAX]++;
	j->stored++;
}

static void read_file(struct judging *j, const char *path)
{
	const struct evread_report *r;
	struct evfile *f = NULL;
	struct event ev;
	struct err e = { 0 };
	int got = evfile_open(path, &f, &e);

	while (got >= 0 && !world_of(j)->broken[0] && (got = evfile_next(f, &ev, &e)) == 1)
		take(j, &ev);
	r = f ? evfile_report(f) : NULL;
	if (got < 0)
		world_break(world_of(j), "INV-22: the stored events cannot be read: %s", e.text);
	else if (r->skipped_bytes || r->torn_blocks || r->repeated_blocks || r->bad_records ||
		 r->undescribed)
		world_break(world_of(j),
			    "INV-22: the file of the subscription has %" PRIu64
			    " bytes outside of blocks, %" PRIu64 " repeated blocks, %" PRIu64
			    " bad records and %" PRIu64 " events without a description",
			    r->skipped_bytes, r->repeated_blocks, r->bad_records, r->undescribed);
	evfile_close(f);
}

/* --- missing events */

static void add_lost(struct judging *j)
{
	for (struct map_iter i = { 0 }; map_next(&j->balance->streams, &i);) {
		const struct evbalance_stream *s = i.value;
		const struct received *t = map_find(&j->received, s->id);
		uint64_t lost = s->first - s->stored + s->dropped;

		if (t)
			j->known[t->rank / CLUSTER_RANKS_MAX] += lost;
		else
			j->anonymous += lost;
	}
}

/* Events expected from a host. may_lack: events of programs that ended without an lm. */
struct made {
	uint64_t events, may_lack;
};

static struct made made_on(const struct cluster *c, unsigned node)
{
	const struct simproc *p;
	struct made m = { 0 };

	for (unsigned i = 0; i < CLUSTER_RANKS_MAX; i++) {
		p = cluster_rank(c, (int64_t)node * CLUSTER_RANKS_MAX + i);
		m.events += p ? simrank_events(p->mpi) : 0;
		m.may_lack += p ? p->alone : 0;
	}
	return m;
}

/*
 * True if the disks of the sms are sound: blocks that these sms have acknowledged are safe, even if
 * their hosts are switched off.
 */
static bool sms_are_sure(const struct cluster *c)
{
	for (unsigned i = 0; i < c->sms; i++)
		if (!simdisk_is_sure(simsite_disk(c->site[i])))
			return false;
	return true;
}

static bool is_within(uint64_t known, const struct made *m, uint64_t more)
{
	return known <= m->events && known + more + m->may_lack >= m->events;
}

/* The host of a stream without events is unknown: its lost events may belong to any host. */
static void judge_hosts(struct judging *j)
{
	bool sms_sure = sms_are_sure(j->c), all_sure = sms_sure;
	uint64_t known = j->anonymous;
	struct made sum = { 0 };

	for (unsigned i = 0; i < j->c->conf.hosts; i++) {
		const struct simdisk *d = simnode_disk(j->c->node[i]);
		bool is_sure = simdisk_is_sure(d) && !simdisk_has_lost_power(d);
		const struct made m = made_on(j->c, i);

		if (sms_sure && is_sure && !is_within(j->known[i], &m, j->anonymous))
			world_break(world_of(j),
				    "INV-24: %s made %" PRIu64 " events (%" PRIu64
				    " may be lost), but %" PRIu64
				    " are stored or counted as lost (%" PRIu64
				    " more of unknown hosts)",
				    simnode_name(j->c->node[i]), m.events, m.may_lack, j->known[i],
				    j->anonymous);
		all_sure &= is_sure;
		sum.events += m.events;
		sum.may_lack += m.may_lack;
		known += j->known[i];
	}
	if (all_sure && !is_within(known, &sum, 0))
		world_break(world_of(j),
			    "INV-24: %" PRIu64 " events were made (%" PRIu64
			    " may be lost), but %" PRIu64 " are stored or counted as lost",
			    sum.events, sum.may_lack, known);
}

void keptjudge(struct cluster *c, const char *path, const struct evbalance *b, bool with_faults,
	       struct ledger_counts *n)
{
	struct judging j = { .c = c,
			     .balance = b,
			     .nrank = (size_t)c->conf.hosts * CLUSTER_RANKS_MAX };
	struct evbalance_totals t;

	evbalance_totals(b, &t);
	map_init(&j.received);
	j.has = calloc(j.nrank, sizeof(*j.has));
	j.known = calloc(c->conf.hosts, sizeof(*j.known));
	if (!j.has || !j.known)
		world_break(c->w, "no memory");
	else
		read_file(&j, path);
	if (!c->w->broken[0]) {
		add_lost(&j);
		judge_hosts(&j);
	}
	if (j.stored != t.stored)
		world_break(c->w,
			    "INV-24: %" PRIu64 " events are stored, but the balance has %" PRIu64,
			    j.stored, t.stored);
	if (!with_faults && t.lost)
		world_break(c->w,
			    "INV-25: there was no fault, but %" PRIu64
			    " events were lost on the way",
			    t.lost);
	n->kept++;
	n->kept_events += t.stored;
	n->kept_lost += t.lost + t.dropped;
	for (size_t i = 0; j.has && i < j.nrank; i++)
		free(j.has[i]);
	for (struct map_iter i = { 0 }; map_next(&j.received, &i);)
		free(i.value);
	map_done(&j.received);
	free(j.has);
	free(j.known);
}
