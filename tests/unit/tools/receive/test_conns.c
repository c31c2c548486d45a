/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of a receiver over real sockets. The spool is a count of blocks. */
#include "eventlog/evwrite.h"
#include "tests/suite.h"
#include "tools/receive/receive_internal.h"

#include <endian.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE "DATE=20020329210355.443568 HOST=a PROG=b LVL=Info NL.EVNT=x.y V=5\n"
#define TURNS_MAX 10000 /* of a test that waits: then it has failed */

static struct receiver r;
static const struct receive_options options;
static uint64_t events; /* in blocks that were taken */
static bool has_failed; /* the spool takes nothing, and is not full */

int __wrap_receiver_block(struct receiver *to, const uint8_t *p, const struct evblock *head);
int __wrap_receiver_block(struct receiver *to, const uint8_t *p, const struct evblock *head)
{
	ck_assert_ptr_eq(to, &r);
	ck_assert_ptr_nonnull(p);
	if (has_failed)
		return -ERR_AGAIN;
	r.appended++;
	events += head->events;
	return 0;
}

static void on_flush(void *arg)
{
	conns_flush(arg);
}

static void set_up(void)
{
	r = (struct receiver){ .options = &options, .consumer = -1 };
	r.loop = loop_new();
	r.line = evline_new(EVWORDS_AUTO);
	list_init(&r.conns);
	map_init(&r.seen);
	r.flush = loop_timer_new(r.loop, on_flush, &r);
	ck_assert(r.loop && r.line && r.flush);
	events = 0;
	has_failed = false;
}

static void clean_up(void)
{
	conns_close(&r);
	ck_assert_uint_eq(r.nconns, 0);
	loop_timer_free(r.flush);
	map_done(&r.seen);
	free(r.line);
	loop_free(r.loop);
}

/* Returns the end of the peer. */
static int dial(void)
{
	int fd[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	conns_add(&r, fd[0]);
	return fd[1];
}

static void say(int fd, const void *p, size_t n)
{
	ck_assert_int_eq(send(fd, p, n, MSG_NOSIGNAL), (ssize_t)n);
}

static void turns(unsigned n)
{
	while (n--)
		ck_assert_int_eq(loop_turn(r.loop), 0);
}

#define until(EXPR)                                             \
	do {                                                    \
		unsigned left_ = TURNS_MAX;                     \
		while (!(EXPR) && left_--)                      \
			ck_assert_int_eq(loop_turn(r.loop), 0); \
		ck_assert_msg((EXPR), "never: %s", #EXPR);      \
	} while (0)

/* A block with one event; appended to b. */
static void put_block(struct buf *b, unsigned number)
{
	static const struct evfield field = { "n", EV_INT32 };
	static const struct evtype type = { .name = "e", .nfield = 1, .field = &field };
	struct evvalue v = { .kind = EV_INT32 };
	struct evwrite w;

	evwrite_init(&w, 5, false, 0);
	w.head.seq = number;
	w.head.first = number;
	ck_assert(!evwrite_define(&w, 1, &type, NULL));
	ck_assert(!evwrite_event(&w, 1, &(struct event){ .type = &type, .value = &v }, NULL));
	ck_assert(!evwrite_cut(&w, false, NULL));
	buf_put(b, w.out.p, w.out.n);
	evwrite_done(&w);
}

/* The last acknowledgement that has come; -1: none. */
static int64_t acknowledged(int fd)
{
	uint64_t bytes;
	int64_t last = -1;

	while (recv(fd, &bytes, sizeof(bytes), MSG_DONTWAIT) == sizeof(bytes))
		last = (int64_t)le64toh(bytes);
	return last;
}

/* --- room */

TEST(a_line_without_room_is_stored_when_there_is_room)
{
	int fd = dial();

	say(fd, LINE, sizeof(LINE) - 1);
	until(loop_timer_is_armed(r.flush));
	r.is_full = true;
	conns_flush(&r);
	ck_assert_uint_eq(events, 0);
	r.is_full = false;
	conns_turn(&r); /* as on_full() does; the program sends nothing more */
	ck_assert_uint_eq(events, 1);
	close(fd);
}

TEST(lines_behind_a_block_without_room_wait_in_the_socket)
{
	int fd = dial();

	say(fd, LINE, sizeof(LINE) - 1);
	until(loop_timer_is_armed(r.flush));
	r.is_full = true;
	conns_flush(&r);
	say(fd, LINE, sizeof(LINE) - 1);
	turns(3);
	r.is_full = false;
	conns_turn(&r);
	close(fd);
	until(!r.nconns);
	ck_assert_uint_eq(events, 2);
}

TEST(a_spool_that_fails_once_loses_nothing)
{
	int fd = dial();

	has_failed = true;
	say(fd, LINE, sizeof(LINE) - 1);
	close(fd);
	turns(5);
	ck_assert_uint_eq(r.nconns, 1); /* it waits with its event */
	has_failed = false;
	conns_turn(&r);
	ck_assert_uint_eq(events, 1);
	ck_assert_uint_eq(r.nconns, 0);
}

TEST(conns_wait_reports_unread_data_at_the_end)
{
	int fd = dial();

	say(fd, LINE, sizeof(LINE) - 1);
	turns(3);
	r.is_full = r.is_ending = true;
	conns_end(&r);
	ck_assert(conns_wait(&r));
	r.is_full = false;
	conns_turn(&r);
	ck_assert(!conns_wait(&r));
	ck_assert_uint_eq(events, 1);
	close(fd);
}

/* --- acknowledgements */

TEST(blocks_are_acknowledged_when_they_are_on_the_disk)
{
	struct buf b = BUF_INIT(1 << 16);
	int fd = dial();
	size_t one;

	put_block(&b, 0);
	one = b.n;
	put_block(&b, 1);
	say(fd, EVSEND_HELLO, sizeof(EVSEND_HELLO) - 1);
	until(inlet_acknowledges(list_entry(r.conns.next, struct conn, item)->inlet));
	ck_assert_int_eq(acknowledged(fd), 0);
	say(fd, b.p, b.n);
	until(r.appended == 2);
	turns(3);
	ck_assert_int_eq(acknowledged(fd), -1);
	r.settled = 1;
	conns_turn(&r);
	ck_assert_int_eq(acknowledged(fd), (int64_t)one);
	r.settled = 2;
	conns_turn(&r);
	ck_assert_int_eq(acknowledged(fd), (int64_t)b.n);
	buf_done(&b);
	close(fd);
}

TEST(a_connection_waits_beyond_the_limit_of_unsettled_blocks)
{
	struct buf b = BUF_INIT(1 << 20);
	int fd = dial();

	for (unsigned i = 0; i <= RECEIVE_UNSETTLED_MAX; i++)
		put_block(&b, i);
	say(fd, EVSEND_HELLO, sizeof(EVSEND_HELLO) - 1);
	for (size_t at = 0; at < b.n;) {
		ssize_t n = send(fd, b.p + at, b.n - at, MSG_NOSIGNAL | MSG_DONTWAIT);

		at += n > 0 ? (size_t)n : 0;
		turns(1);
	}
	turns(10);
	ck_assert_uint_eq(r.appended, RECEIVE_UNSETTLED_MAX);
	r.settled = 1;
	conns_turn(&r);
	ck_assert_uint_eq(r.appended, RECEIVE_UNSETTLED_MAX + 1);
	r.settled = r.appended;
	conns_turn(&r);
	ck_assert_int_eq(acknowledged(fd), (int64_t)b.n);
	buf_done(&b);
	close(fd);
}

/* --- ends within a record */

TEST(half_a_block_is_counted_and_not_stored)
{
	struct buf b = BUF_INIT(1 << 16);
	int fd = dial();

	put_block(&b, 0);
	say(fd, EVSEND_HELLO, sizeof(EVSEND_HELLO) - 1);
	say(fd, b.p, b.n - 1);
	close(fd);
	until(!r.nconns);
	ck_assert_uint_eq(r.appended, 0);
	ck_assert_uint_eq(r.counts.skipped_bytes, b.n - 1);
	buf_done(&b);
}

TEST(the_last_line_needs_no_end)
{
	int fd = dial();

	say(fd, LINE, sizeof(LINE) - 2);
	close(fd);
	until(!r.nconns);
	ck_assert_uint_eq(events, 1);
	ck_assert_uint_eq(r.counts.bad_lines, 0);
}

TEST(half_a_line_is_counted)
{
	int fd = dial();

	say(fd, LINE "DATE=2002", sizeof(LINE "DATE=2002") - 1);
	close(fd);
	until(!r.nconns);
	ck_assert_uint_eq(events, 1);
	ck_assert_uint_eq(r.counts.bad_lines, 1);
}

TEST(bytes_that_are_no_blocks_end_their_connection_only)
{
	static const char nonsense[] =
		EVSEND_HELLO "bytes that fill the head of a block, and some more behind it";
	int bad = dial(), good = dial();

	say(bad, nonsense, sizeof(nonsense) - 1);
	until(r.counts.broken == 1);
	ck_assert_uint_eq(r.nconns, 1);
	say(good, LINE, sizeof(LINE) - 1);
	close(good);
	until(!r.nconns);
	ck_assert_uint_eq(events, 1);
	close(bad);
}

/* A line of that many bytes, with its end, behind a good one. */
static void line_of(size_t bytes)
{
	char *line = malloc(bytes + 1);
	int fd = dial();

	ck_assert_ptr_nonnull(line);
	memset(line, 'x', bytes);
	line[bytes] = '\n';
	say(fd, LINE, sizeof(LINE) - 1);
	for (size_t at = 0; at < bytes + 1;) {
		ssize_t n = send(fd, line + at, bytes + 1 - at, MSG_NOSIGNAL | MSG_DONTWAIT);

		at += n > 0 ? (size_t)n : 0;
		turns(1);
	}
	say(fd, LINE, sizeof(LINE) - 1);
	close(fd);
	until(!r.nconns);
	free(line);
	ck_assert_uint_eq(events, 2);
	ck_assert_uint_eq(r.counts.bad_lines, 1);
}

static const size_t lengths[] = { EVLINE_MAX_BYTES - 1, EVLINE_MAX_BYTES, EVLINE_MAX_BYTES + 1,
				  4 * EVLINE_MAX_BYTES };

TEST_EACH(a_long_line_is_one_bad_line_whatever_its_length, i, ARRAY_LEN(lengths))
{
	line_of(lengths[i]);
}

/* --- many */

TEST(a_silent_connection_makes_room_for_another_one)
{
	int fd[RECEIVE_CONNS_MAX], last;

	for (size_t i = 0; i < RECEIVE_CONNS_MAX; i++)
		fd[i] = dial();
	ck_assert_uint_eq(r.nconns, RECEIVE_CONNS_MAX);
	ck_assert_uint_eq(r.counts.refused, 0);
	last = dial();
	ck_assert_uint_eq(r.nconns, RECEIVE_CONNS_MAX);
	ck_assert_uint_eq(r.counts.refused, 1);
	ck_assert_int_eq(recv(fd[0], &(char){ 0 }, 1, MSG_DONTWAIT), 0); /* the oldest */
	say(last, LINE, sizeof(LINE) - 1);
	close(last);
	until(events == 1);
	for (size_t i = 0; i < RECEIVE_CONNS_MAX; i++)
		close(fd[i]);
}

TEST(programs_that_send_keep_their_connections)
{
	int fd[RECEIVE_CONNS_MAX], last;

	for (size_t i = 0; i < RECEIVE_CONNS_MAX; i++) {
		fd[i] = dial();
		say(fd[i], LINE, sizeof(LINE) - 1);
	}
	turns(RECEIVE_CONNS_MAX);
	last = dial();
	ck_assert_int_eq(recv(last, &(char){ 0 }, 1, MSG_DONTWAIT), 0);
	ck_assert_uint_eq(r.counts.refused, 1);
	for (size_t i = 0; i < RECEIVE_CONNS_MAX; i++)
		close(fd[i]);
	until(!r.nconns);
	ck_assert_uint_eq(events, RECEIVE_CONNS_MAX);
	close(last);
}

TEST(a_flood_does_not_delay_another_program)
{
	static char flood[1 << 20];
	int loud = dial(), quiet = dial();

	fcntl(loud, F_SETFL, O_NONBLOCK);
	for (size_t at = 0; at + sizeof(LINE) < sizeof(flood); at += sizeof(LINE) - 1)
		memcpy(flood + at, LINE, sizeof(LINE) - 1);
	say(quiet, LINE, sizeof(LINE) - 1);
	close(quiet);
	for (unsigned i = 0; i < 8 && r.nconns == 2; i++) {
		while (send(loud, flood, sizeof(flood), MSG_NOSIGNAL) > 0)
			;
		turns(1);
	}
	ck_assert_uint_eq(r.nconns, 1); /* in a few turns, though the flood never ends */
	close(loud);
}

SUITE_WITH("tools/receive/conns", set_up, clean_up)
