/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world of processes that send, receive, probe and cancel at random, with the matching rules of
 * MPI. Each message carries the id that its sender computed, and the receiver's must be the same.
 */
#include "libapp/match/receives.h"
#include "tests/suite.h"

#define RANKS 4
#define TAGS 3
#define COMMS 2
#define IN_FLIGHT 400
#define RECEIVES 40 /* per process: so few that their list never overflows */

struct message {
	uint64_t id;
	int comm, source, dest, tag;
	bool is_in_use, has_arrived; /* arrived: it waits in the queue of its destination */
	uint64_t order;
};

enum state { FREE, POSTED, MATCHED, CANCELLED };

struct receive {
	struct match_ticket ticket;
	enum state state;
	bool is_cancelling;
	int comm, source, tag; /* -1: any */
	struct message got;
	uint64_t order;
};

struct process {
	struct match_sends sends;
	struct match_receives receives;
	struct receive receive[RECEIVES];
};

static struct process process[RANKS];
static struct message message[IN_FLIGHT];
static uint64_t order, checked, in_doubt, late;
static uint64_t dice;

static unsigned roll(unsigned n)
{
	dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(dice >> 33) % n;
}

static uint64_t comm_id(int comm)
{
	return match_comm_first("job", (uint32_t)comm + 1);
}

/* arg: the id that the message carries */
static void compare(uint64_t carried, const struct match_sent *received)
{
	if (received->in_doubt) {
		in_doubt++;
		return;
	}
	ck_assert_uint_eq(received->id, carried);
	checked++;
}

static void on_late(uint64_t carried, int32_t source, const struct match_sent *received)
{
	late++;
	compare(carried, received);
}

static void world_begin(void)
{
	memset(process, 0, sizeof(process));
	memset(message, 0, sizeof(message));
	order = checked = in_doubt = late = 0;
	for (int i = 0; i < RANKS; i++) {
		process[i].receives.rank = i;
		process[i].receives.on_late = on_late;
	}
}

static bool fits(const struct receive *r, const struct message *m)
{
	return r->comm == m->comm && (r->source < 0 || r->source == m->source) &&
	       (r->tag < 0 || r->tag == m->tag);
}

static void send_one(void)
{
	struct message *m = NULL;
	struct match_sent sent;

	for (int i = 0; i < IN_FLIGHT && !m; i++)
		if (!message[i].is_in_use)
			m = &message[i];
	if (!m)
		return;
	*m = (struct message){ .comm = (int)roll(COMMS),
			       .source = (int)roll(RANKS),
			       .dest = (int)roll(RANKS),
			       .tag = (int)roll(TAGS),
			       .is_in_use = true,
			       .order = ++order };
	sent = match_send(&process[m->source].sends,
			  &(struct match_channel){ comm_id(m->comm), m->source, m->dest, m->tag },
			  0);
	match_send_done(&process[m->source].sends, 0, &sent);
	ck_assert(sent.id && !sent.in_doubt);
	m->id = sent.id;
}

static void deliver(struct receive *r, struct message *m)
{
	r->state = MATCHED;
	r->got = *m;
	m->is_in_use = false;
}

/* The receive that was posted first takes it; otherwise it waits. */
static void arrive(struct message *m)
{
	struct receive *first = NULL;

	for (int i = 0; i < RECEIVES; i++) {
		struct receive *r = &process[m->dest].receive[i];

		if (r->state == POSTED && fits(r, m) && (!first || r->order < first->order))
			first = r;
	}
	m->has_arrived = true;
	m->order = ++order;
	if (first)
		deliver(first, m);
}

/* Messages of one source and communicator arrive in their order, others in any. */
static void arrive_one(void)
{
	int comm = (int)roll(COMMS), source = (int)roll(RANKS), dest = (int)roll(RANKS);
	struct message *first = NULL;

	for (int i = 0; i < IN_FLIGHT; i++) {
		struct message *m = &message[i];

		if (m->is_in_use && !m->has_arrived && m->comm == comm && m->source == source &&
		    m->dest == dest && (!first || m->order < first->order))
			first = m;
	}
	if (first)
		arrive(first);
}

static struct message *find_waiting(int rank, const struct receive *r)
{
	struct message *first = NULL;

	for (int i = 0; i < IN_FLIGHT; i++)
		if (message[i].is_in_use && message[i].has_arrived && message[i].dest == rank &&
		    fits(r, &message[i]) && (!first || message[i].order < first->order))
			first = &message[i];
	return first;
}

static struct match_pattern pattern(int comm, int source, int tag)
{
	return (struct match_pattern){ comm_id(comm), source < 0 ? MATCH_ANY : source,
				       tag < 0 ? MATCH_ANY : tag };
}

static void post_one(unsigned wild)
{
	int rank = (int)roll(RANKS);
	struct process *p = &process[rank];
	struct match_pattern from;
	struct message *m;
	struct receive *r = NULL;

	for (int i = 0; i < RECEIVES && !r; i++)
		if (p->receive[i].state == FREE)
			r = &p->receive[i];
	if (!r)
		return;
	*r = (struct receive){ .state = POSTED,
			       .comm = (int)roll(COMMS),
			       .source = roll(100) < wild ? -1 : (int)roll(RANKS),
			       .tag = roll(100) < wild ? -1 : (int)roll(TAGS),
			       .order = ++order };
	from = pattern(r->comm, r->source, r->tag);
	match_post(&p->receives, &from, 0, &r->ticket);
	match_posted(&p->receives, 0, &r->ticket);
	m = find_waiting(rank, r);
	if (m)
		deliver(r, m);
}

/* A matched probe takes its message at once. */
static void probe_one(void)
{
	int rank = (int)roll(RANKS);
	struct receive r = { .comm = (int)roll(COMMS), .source = -1, .tag = -1 };
	struct message *m = find_waiting(rank, &r);
	struct match_pattern from;
	struct match_sent got;

	if (!m)
		return;
	from = pattern(m->comm, m->source, m->tag);
	match_post(&process[rank].receives, &from, 0, &r.ticket);
	if (match_end(&process[rank].receives, &r.ticket, &from, m->id, &got))
		compare(m->id, &got);
	m->is_in_use = false;
}

static void cancel_one(void)
{
	struct process *p = &process[roll(RANKS)];
	struct receive *r = &p->receive[roll(RECEIVES)];

	if (r->state == FREE || r->is_cancelling)
		return;
	match_cancel(&p->receives, &r->ticket);
	r->is_cancelling = true;
	if (r->state == POSTED)
		r->state = CANCELLED;
}

/* The program learns that it is over. */
static void end(struct process *p, struct receive *r)
{
	struct match_pattern from = pattern(r->got.comm, r->got.source, r->got.tag);
	struct match_sent got;

	if (r->state == CANCELLED)
		match_cancelled(&p->receives, &r->ticket);
	else if (match_end(&p->receives, &r->ticket, &from, r->got.id, &got))
		compare(r->got.id, &got);
	r->state = FREE;
}

static void end_one(void)
{
	struct process *p = &process[roll(RANKS)];
	struct receive *r = &p->receive[roll(RECEIVES)];

	if (r->state == MATCHED || r->state == CANCELLED)
		end(p, r);
}

static uint64_t end_all(void)
{
	uint64_t posted = 0;

	for (int i = 0; i < RANKS; i++)
		for (int k = 0; k < RECEIVES; k++) {
			struct receive *r = &process[i].receive[k];

			if (r->state == POSTED) {
				match_cancel(&process[i].receives, &r->ticket);
				r->state = CANCELLED;
				posted++;
			}
			if (r->state != FREE)
				end(&process[i], r);
		}
	return posted;
}

static void run(unsigned wild, unsigned cancels, unsigned steps)
{
	world_begin();
	for (unsigned i = 0; i < steps; i++) {
		unsigned what = roll(100);

		if (what < 25)
			send_one();
		else if (what < 50)
			arrive_one();
		else if (what < 65)
			post_one(wild);
		else if (what < 67)
			probe_one();
		else if (what < 67 + cancels)
			cancel_one();
		else
			end_one();
	}
	end_all();
	for (int i = 0; i < RANKS; i++)
		ck_assert_uint_eq(process[i].receives.nopen, 0);
}

static void seed(void)
{
	dice = suite_seed(0x51d5);
}

TEST(receives_of_given_sources_match_at_once)
{
	seed();
	run(0, 0, 60000);
	ck_assert_uint_gt(checked, 1000);
	ck_assert_uint_eq(in_doubt, 0);
	ck_assert_uint_eq(late, 0);
}

TEST(wildcards_match_in_the_order_of_posts)
{
	seed();
	for (unsigned wild = 5; wild <= 100; wild += 19) {
		run(wild, 0, 60000);
		ck_assert_uint_gt(checked, 1000);
		ck_assert_uint_eq(in_doubt, 0);
		ck_assert_uint_gt(late, 0);
	}
}

/* Many cancelled ones overflow their table: then ids are in doubt, and never wrong. */
TEST(cancelled_receives_take_no_message)
{
	uint64_t sum = 0;

	seed();
	for (unsigned i = 0; i < 40; i++) {
		run(i % 4 * 10, 1, 1500);
		sum += checked;
	}
	ck_assert_uint_gt(sum, 1000);
}

/* --- single cases */

static struct match_receives one;
static uint64_t late_arg;
static struct match_sent late_got;

static void note_late(uint64_t arg, int32_t source, const struct match_sent *received)
{
	late_arg = arg;
	ck_assert_int_eq(source, 2);
	late_got = *received;
}

static void begin_one(void)
{
	memset(&one, 0, sizeof(one));
	one.on_late = note_late;
	late_arg = 0;
}

static struct match_ticket posted(int source, int tag)
{
	struct match_pattern from = pattern(0, source, tag);
	struct match_ticket t;

	match_post(&one, &from, 0, &t);
	match_posted(&one, 0, &t);
	return t;
}

static uint64_t number(int source, int tag, uint64_t k)
{
	return match_id(match_key(&(struct match_channel){ comm_id(0), source, 0, tag }), k);
}

TEST(an_end_behind_an_open_wildcard_is_late)
{
	struct match_pattern from = pattern(0, 2, 1);
	struct match_ticket any, second;
	struct match_sent got;

	begin_one();
	any = posted(-1, 1);
	second = posted(2, 1);
	ck_assert(!match_end(&one, &second, &from, 7, &got));
	ck_assert_uint_eq(late_arg, 0);
	ck_assert(!match_end(&one, &any, &from, 8, &got));
	ck_assert_uint_eq(late_arg, 7);
	ck_assert_uint_eq(late_got.id, number(2, 1, 2));
}

TEST(a_freed_wildcard_puts_later_ends_in_doubt)
{
	struct match_pattern from = pattern(0, 2, 1);
	struct match_ticket any, second;
	struct match_sent got;

	begin_one();
	any = posted(-1, 1);
	second = posted(2, 1);
	ck_assert(!match_end(&one, &second, &from, 7, &got));
	match_abandon(&one, &any);
	ck_assert_uint_eq(late_arg, 7);
	ck_assert(late_got.in_doubt);
}

TEST(a_full_list_puts_all_in_doubt)
{
	struct match_pattern from = pattern(0, 1, 1);
	struct match_ticket t = { 0 };
	struct match_sent got;

	begin_one();
	for (unsigned i = 0; i < MATCH_OPEN; i++)
		posted(-1, 1);
	ck_assert(!one.in_doubt);
	t = posted(-1, 1);
	ck_assert(one.in_doubt);
	ck_assert(match_end(&one, &t, &from, 7, &got));
	ck_assert(got.in_doubt);
}

TEST(a_full_table_counts_what_it_does_not_know)
{
	struct match_pattern from = pattern(0, 0, 0);
	struct match_ticket t;
	struct match_sent got;
	unsigned unknown = 0;

	begin_one();
	for (int i = 0; i < 2 * MATCH_CHANNELS; i++) {
		from.tag = i;
		t = posted(0, i);
		ck_assert(match_end(&one, &t, &from, 0, &got));
		unknown += !got.id;
	}
	ck_assert_uint_ge(unknown, MATCH_CHANNELS);
	ck_assert_uint_eq(one.table.lost, unknown);
}

TEST(sends_of_two_threads_at_once_are_in_doubt_in_one_channel)
{
	static struct match_sends s = { .is_shared = true };
	const struct match_channel a = { 1, 0, 1, 5 }, b = { 1, 0, 1, 6 };
	struct match_sent first = match_send(&s, &a, 0), second = match_send(&s, &a, 1),
			  other = match_send(&s, &b, 2), third;

	match_send_done(&s, 0, &first);
	match_send_done(&s, 1, &second);
	match_send_done(&s, 2, &other);
	ck_assert(first.in_doubt && second.in_doubt && !other.in_doubt);
	third = match_send(&s, &a, 0);
	match_send_done(&s, 0, &third);
	ck_assert(!third.in_doubt);
	ck_assert_uint_eq(third.id, match_id(match_key(&a), 3));
}

TEST(concurrent_receives_are_in_doubt_if_one_message_fits_both)
{
	struct match_pattern five = pattern(0, 1, 5), six = pattern(0, 1, 6),
			     any = pattern(0, 1, -1);
	struct match_ticket t[3];

	begin_one();
	one.is_shared = true;
	match_post(&one, &five, 0, &t[0]);
	match_post(&one, &six, 1, &t[1]);
	match_posted(&one, 0, &t[0]);
	ck_assert(!t[0].in_doubt);
	match_post(&one, &any, 2, &t[2]);
	match_posted(&one, 1, &t[1]);
	match_posted(&one, 2, &t[2]);
	ck_assert(t[1].in_doubt && t[2].in_doubt);
}

TEST(ids_of_communicators_differ)
{
	uint64_t world = match_comm_first("job", 1);

	ck_assert_uint_ne(world, match_comm_first("job", 2));
	ck_assert_uint_ne(world, match_comm_first("jobs", 1));
	ck_assert_uint_ne(match_comm_child(world, 1, 0), match_comm_child(world, 2, 0));
	ck_assert_uint_ne(match_comm_child(world, 1, 0), match_comm_child(world, 1, 1));
	ck_assert_uint_eq(match_comm_child(world, 1, 3), match_comm_child(world, 1, 3));
}

SUITE("libapp/match")
