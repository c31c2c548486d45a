/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept subscriptions through an sm: blocks of hosts arrive with any room, and with any messages
 * meanwhile.
 */
#include "common/base/hash.h"
#include "eventlog/evblock.h"
#include "tests/suite.h"
#include "tests/unit/sm/world.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MAX_NS (20 * NSEC_PER_SEC)
#define OWNER "omig:tool-observe//u"
#define MIB (UINT64_C(1) << 20)
#define BODY (100 * 1024)
#define BLOCKS 4 /* of a message */
#define MESSAGES 20
#define ROOM 8 /* room granted by an sm */
#define STREAM 9
#define LIE 1000000 /* block of a host that is not the stream's */
#define SYNCED_MAX 64

static struct world w;
static char dir[32];

/* The host: place n acknowledges its first n messages. */
static struct {
	uint64_t stream;
	unsigned next, safe; /* messages */
} host;

static struct {
	bool has[MESSAGES * BLOCKS];
	unsigned blocks, all; /* all: doubles, too */
	unsigned ends, lies;
	char missing[64]; /* of the last end */
} top;

static void set_up(void)
{
	snprintf(dir, sizeof(dir), "%s/omig-kept-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	memset(&host, 0, sizeof(host));
	memset(&top, 0, sizeof(top));
	world_open(&w);
	world_stop_sm(&w);
	w.conf.spool = dir;
	world_start_sm(&w);
	world_run(&w, 5 * SEC);
	ck_assert_ptr_nonnull(w.top.up.link);
	lms_start(&w, 1);
}

static void clean_up(void)
{
	pid_t branch;

	world_done(&w);
	branch = fork();
	if (!branch)
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
	waitpid(branch, NULL, 0);
}

static void say(uint64_t stream, uint64_t max_bytes, bool is_ending)
{
	const struct msg m = { .type = MSG_EVENTS_OPEN,
			       .events_open = { "run7", OWNER, stream, 4, MSG_KEEP_DROP_OLDEST,
						max_bytes, 600, is_ending } };

	ck_assert_int_eq(top_send(&w, &m), 0);
}

static void open_it(uint64_t stream, uint64_t max_bytes)
{
	say(stream, max_bytes, false);
}

/* --- the host */

static void put_block(uint8_t *at, uint64_t seq)
{
	const struct evblock b = { .version = EVBLOCK_VERSION,
				   .bytes = EVBLOCK_HEAD_BYTES + BODY,
				   .stream = STREAM,
				   .seq = seq,
				   .crc = hash_crc32c(0, at + EVBLOCK_HEAD_BYTES, BODY) };

	evblock_encode(&b, at);
}

static void send_message(unsigned i)
{
	static uint8_t p[BLOCKS * (EVBLOCK_HEAD_BYTES + BODY)];
	struct msg m = { .type = MSG_EVENTS,
			 .events = { "run7", host.stream, i + 1, { p, sizeof(p) }, false, NULL } };

	for (unsigned k = 0; k < BLOCKS; k++)
		put_block(p + k * (EVBLOCK_HEAD_BYTES + BODY), (uint64_t)i * BLOCKS + k);
	lm_send(&w.lm[0], &m);
}

static void host_looks(void)
{
	const struct messages *k = &w.lm[0].flows;

	for (size_t i = 0; i < k->n; i++) {
		const struct msg *m = k->m[i];

		if (m->type == MSG_EVENTS_OPEN && m->events_open.stream != host.stream) {
			host.stream = m->events_open.stream;
			host.next = host.safe;
		} else if (m->type == MSG_EVENTS_ACK && m->events_ack.stream == host.stream) {
			host.safe = (unsigned)m->events_ack.place;
		}
	}
	messages_done(&w.lm[0].flows);
	while (host.stream && host.next < MESSAGES && host.next - host.safe < ROOM)
		send_message(host.next++);
}

/* --- above */

static void note(const struct msg_events *m)
{
	struct evblock b;

	for (size_t at = 0; at < m->blocks.n; at += b.bytes) {
		ck_assert_int_eq(evblock_look(m->blocks.p + at, m->blocks.n - at, &b),
				 EVBLOCK_GOOD);
		if (b.seq == LIE) {
			top.lies++;
			continue;
		}
		ck_assert_uint_lt(b.seq, MESSAGES * BLOCKS);
		top.blocks += !top.has[b.seq];
		top.has[b.seq] = true;
		top.all++;
	}
}

static void top_looks(void)
{
	const struct messages *k = &w.top.flows;

	for (size_t i = 0; i < k->n; i++) {
		const struct msg_events *m = &k->m[i]->events;

		note(m);
		top.ends += m->end;
		if (m->end)
			str_copy(top.missing, sizeof(top.missing), m->missing);
		top_send(&w, &(struct msg){ .type = MSG_EVENTS_ACK,
					    .events_ack = { "run7", m->stream, m->place } });
	}
	messages_done(&w.top.flows);
}

/* The disk is real, time is not: a turn costs 1 ms of real time and the given virtual time. */
static void turn_for(nsec_t virtual)
{
	const struct timespec ms = { .tv_nsec = NSEC_PER_MSEC };

	world_run(&w, virtual);
	top_looks();
	nanosleep(&ms, NULL);
}

static void turn(void)
{
	host_looks();
	turn_for(10 * MS);
}

static void until_all_is_up(void)
{
	nsec_t end = clock_mono() + WAIT_MAX_NS;

	while ((top.blocks < MESSAGES * BLOCKS || host.safe < MESSAGES) && clock_mono() < end)
		turn();
	ck_assert_uint_eq(top.blocks, MESSAGES * BLOCKS);
	ck_assert_uint_eq(host.safe, MESSAGES);
}

TEST(the_smallest_room_is_no_end)
{
	open_it(1, 2 * MIB);
	until_all_is_up();
	ck_assert_uint_eq(top.all, top.blocks);
}

TEST(other_limits_lose_nothing_of_what_is_on_its_way)
{
	uint64_t stream = 1;

	open_it(stream, 8 * MIB);
	for (int i = 0; i < 10; i++) {
		turn();
		open_it(++stream, (8 + (uint64_t)i % 2) * MIB);
	}
	until_all_is_up();
}

TEST(an_end_waits_for_hosts_that_an_sm_before_knew)
{
	open_it(1, 8 * MIB);
	turn();
	turn();
	ck_assert_uint_ne(host.stream, 0);
	lm_stop(&w, 0);
	host.stream = 0;
	world_stop_sm(&w);
	world_start_sm(&w);
	world_run(&w, 5 * SEC);
	ck_assert_ptr_nonnull(w.top.up.link);
	say(2, 8 * MIB, true);
	for (int i = 0; i < 100; i++)
		turn();
	ck_assert_uint_eq(top.ends, 0);
	lms_start(&w, 1);
	until_all_is_up();
	ck_assert_uint_eq(top.ends, 0);
	lm_send(&w.lm[0],
		&(struct msg){ .type = MSG_EVENTS,
			       .events = { .sub = "run7", .stream = host.stream, .end = true } });
	for (int i = 0; i < 3000 && !top.ends; i++)
		turn();
	ck_assert_uint_eq(top.ends, 1);
}

static void start_sm_anew(void)
{
	world_stop_sm(&w);
	world_start_sm(&w);
	world_run(&w, 5 * SEC);
	ck_assert_ptr_nonnull(w.top.up.link);
}

static void host_ends(void)
{
	lm_send(&w.lm[0],
		&(struct msg){ .type = MSG_EVENTS,
			       .events = { .sub = "run7", .stream = host.stream, .end = true } });
	world_run(&w, 10 * MS);
}

static void until_the_end(void)
{
	for (int i = 0; i < 3000 && !top.ends; i++)
		turn();
	ck_assert_uint_eq(top.ends, 1);
}

TEST(an_end_names_a_host_that_does_not_reconnect)
{
	open_it(1, 8 * MIB);
	until_all_is_up();
	lm_stop(&w, 0);
	start_sm_anew();
	say(2, 8 * MIB, true);
	for (int i = 0; i < 300; i++)
		turn();
	ck_assert_uint_eq(top.ends, 0);
	until_the_end();
	ck_assert_str_eq(top.missing, "h1");
}

static ino_t synced[SYNCED_MAX];
static unsigned nsynced;

/* In the place of libc's; of the spools' threads, too. */
int fsync(int fd)
{
	struct stat st;

	if (!fstat(fd, &st))
		__atomic_store_n(
			&synced[__atomic_fetch_add(&nsynced, 1, __ATOMIC_RELAXED) % SYNCED_MAX],
			st.st_ino, __ATOMIC_RELAXED);
	return 0;
}

int fdatasync(int fd)
{
	return fsync(fd);
}

/*
 * An sm whose machine was switched off must know the awaited hosts of an end, as a killed one does.
 */
TEST(branches_with_blocks_are_known_after_a_power_loss)
{
	char path[sizeof(dir) + sizeof("/run7.hosts")];
	unsigned is_safe = 0;
	struct stat st;

	snprintf(path, sizeof(path), "%s/run7.hosts", dir);
	open_it(1, 8 * MIB);
	until_all_is_up();
	world_run(&w, SEC);
	ck_assert_int_eq(stat(path, &st), 0);
	for (int i = 0; i < SYNCED_MAX; i++)
		is_safe += __atomic_load_n(&synced[i], __ATOMIC_RELAXED) == st.st_ino;
	ck_assert_uint_gt(is_safe, 0);
}

TEST(an_end_waits_for_nothing_when_all_are_back)
{
	open_it(1, 8 * MIB);
	until_all_is_up();
	lm_stop(&w, 0);
	host.stream = 0;
	start_sm_anew();
	lms_start(&w, 1);
	say(2, 8 * MIB, true);
	turn();
	turn();
	host_ends();
	for (int i = 0; i < 20000 && !top.ends; i++)
		turn_for(MS / 10); /* in two seconds of that: no timer of ten is waited for, however
				      slow the disk is */
	ck_assert_uint_eq(top.ends, 1);
	ck_assert_str_eq(top.missing, "");
}

TEST(one_that_left_with_nothing_is_not_missed)
{
	open_it(1, 8 * MIB);
	until_all_is_up();
	host_ends();
	lm_stop(&w, 0);
	start_sm_anew();
	say(2, 8 * MIB, true);
	until_the_end();
	ck_assert_str_eq(top.missing, "");
}

/* The opening that a host got. */
static uint64_t stream_at(struct leaf *l)
{
	const struct msg *m;
	uint64_t stream = 0;

	while ((m = messages_next(&l->flows, MSG_EVENTS_OPEN)) != NULL)
		stream = m->events_open.stream;
	return stream;
}

TEST(a_false_host_makes_no_block_of_another_one_a_repeated_one)
{
	static uint8_t p[EVBLOCK_HEAD_BYTES + BODY];

	lm_start(&w, 1);
	world_run(&w, SEC);
	open_it(1, 8 * MIB);
	world_run(&w, 10 * MS);
	put_block(p, LIE);
	lm_send(&w.lm[1],
		&(struct msg){
			.type = MSG_EVENTS,
			.events = {
				"run7", stream_at(&w.lm[1]), 1, { p, sizeof(p) }, false, NULL } });
	for (int i = 0; i < 3000 && !top.lies; i++)
		turn_for(10 * MS);
	ck_assert_uint_eq(top.lies, 1);
	until_all_is_up();
	ck_assert_uint_eq(top.all, top.blocks);
}

TEST(bytes_that_are_no_blocks_cut_their_host)
{
	static uint8_t p[2 * (EVBLOCK_HEAD_BYTES + BODY)];
	const struct msg m = { .type = MSG_EVENTS,
			       .events = { "run7", 0, 1, { p, sizeof(p) }, false, NULL } };
	struct msg good_then_bad = m;

	open_it(1, 8 * MIB);
	world_run(&w, 10 * MS);
	good_then_bad.events.stream = stream_at(&w.lm[0]);
	put_block(p, 0);
	lm_send(&w.lm[0], &good_then_bad);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(w.lm[0].b.downs, 1);
	ck_assert_ptr_nonnull(strstr(w.lm[0].b.why, "no block at byte"));
	ck_assert_uint_eq(world_counts(&w).forged, 1);
	for (int i = 0; i < 50; i++)
		turn_for(10 * MS);
	ck_assert_uint_eq(top.blocks, 0);
}

TEST(the_end_of_a_subscription_reaches_its_hosts)
{
	const struct msg end = { .type = MSG_EVENTS_END, .events_end = { "run7", OWNER } };
	const struct msg *m;

	open_it(1, 8 * MIB);
	until_all_is_up();
	messages_done(&w.lm[0].flows);
	ck_assert_int_eq(top_send(&w, &end), 0);
	for (int i = 0; i < 300 && !w.lm[0].flows.n; i++)
		turn_for(10 * MS);
	m = messages_next(&w.lm[0].flows, MSG_EVENTS_END);
	ck_assert_ptr_nonnull(m);
	ck_assert_str_eq(m->events_end.sub, "run7");
	ck_assert_str_eq(m->events_end.identity, OWNER);
	/* A host that starts later has nothing to send. */
	lm_stop(&w, 0);
	messages_done(&w.lm[0].flows);
	lms_start(&w, 1);
	ck_assert_ptr_null(messages_next(&w.lm[0].flows, MSG_EVENTS_OPEN));
}

#define FORGET_NS (700 * SEC) /* a host that is away for longer is forgotten */

static void forget_the_host(void)
{
	lm_stop(&w, 0);
	host.stream = 0;
	world_run(&w, FORGET_NS);
	ck_assert_uint_eq(world_counts(&w).nodes, 0);
}

TEST(a_forgotten_host_is_missed_unless_it_had_ended)
{
	open_it(1, 8 * MIB);
	until_all_is_up();
	forget_the_host();
	say(2, 8 * MIB, true);
	until_the_end();
	ck_assert_str_eq(top.missing, "h1");
}

TEST(a_forgotten_host_that_had_ended_is_not_missed)
{
	open_it(1, 8 * MIB);
	until_all_is_up();
	host_ends();
	forget_the_host();
	say(2, 8 * MIB, true);
	until_the_end();
	ck_assert_str_eq(top.missing, "");
}

TEST(a_forgotten_host_that_is_back_sends_what_was_left)
{
	open_it(1, 8 * MIB);
	turn();
	turn();
	ck_assert_uint_ne(host.stream, 0);
	forget_the_host();
	lms_start(&w, 1);
	until_all_is_up();
	say(2, 8 * MIB, true);
	turn();
	host_looks();
	host_ends();
	until_the_end();
	ck_assert_str_eq(top.missing, "");
}

SUITE_WITH("kept", set_up, clean_up)
