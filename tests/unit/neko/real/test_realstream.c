/* SPDX-License-Identifier: Apache-2.0 */
/* Streams between processes of a run, and strangers that dial them. */
#include "neko/real/realstream.h"
#include "proto/frame.h"
#include "common/base/array.h"
#include "tests/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEY 42
#define PROCESSES 2
#define TURNS_MAX 3000 /* of ten ms: what a loaded machine may take */
#define LONG_NS (3600 * NSEC_PER_SEC)

struct end {
	pthread_mutex_t lock;
	struct realstream *stream;
	char heard[64];
};

static void keep(void *arg, uint32_t from, const uint8_t *p, size_t n)
{
	struct end *v = arg;

	snprintf(v->heard, sizeof(v->heard), "%u: %.*s", from, (int)n, (const char *)p);
}

static void begin_end(struct end *v, uint32_t id, nsec_t patience, struct sockaddr_in *a)
{
	const struct realstream_conf c = { .m = PROCESSES,
					   .id = id,
					   .address = INADDR_LOOPBACK,
					   .patience = patience,
					   .lock = &v->lock,
					   .on_datagram = keep,
					   .arg = v };
	uint16_t port;

	*v = (struct end){ .lock = PTHREAD_MUTEX_INITIALIZER };
	ck_assert_int_eq(realstream_open(&c, &v->stream, &port, NULL), 0);
	*a = (struct sockaddr_in){ .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				   .sin_port = htons(port) };
}

static void turn(struct end *v)
{
	struct pollfd f[64];
	size_t n = realstream_npoll(PROCESSES);

	ck_assert_uint_le(n, 64);
	realstream_polls(v->stream, f);
	poll(f, n, 10);
	realstream_turn(v->stream, f);
}

static void end_end(struct end *v)
{
	realstream_close(v->stream);
	pthread_mutex_destroy(&v->lock);
}

static int dial(const struct sockaddr_in *a)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (const void *)a, sizeof(*a)), 0);
	return fd;
}

static void say(int fd, const void *p, size_t n)
{
	ck_assert_int_eq(send(fd, p, n, MSG_NOSIGNAL), (ssize_t)n);
}

static void say_frame(int fd, uint8_t type, const void *p, size_t bytes)
{
	struct buf b = BUF_INIT(1000);
	size_t mark = frame_begin(&b, type);

	buf_put(&b, p, bytes);
	ck_assert_int_eq(frame_end(&b, mark), 0);
	say(fd, b.p, b.n);
	buf_done(&b);
}

static void say_hello(int fd, uint64_t key, uint32_t from, uint32_t to)
{
	uint8_t p[16];

	memcpy(p, &key, 8);
	memcpy(p + 8, &from, 4);
	memcpy(p + 12, &to, 4);
	say_frame(fd, 2, p, sizeof(p));
}

/* True: it was closed, false: it is still open after `turns` turns. */
static bool is_closed(struct end *v, int fd, unsigned turns)
{
	char c;
	ssize_t n;

	do {
		turn(v);
		n = recv(fd, &c, 1, MSG_DONTWAIT);
		ck_assert_int_le(n, 0);
	} while (n < 0 && errno == EAGAIN && turns-- > 1);
	return n == 0 || errno != EAGAIN;
}

static bool hears(struct end *v, const char *what)
{
	for (unsigned i = 0; i < TURNS_MAX && strcmp(v->heard, what) != 0; i++)
		turn(v);
	return strcmp(v->heard, what) == 0;
}

TEST(silent_connections_keep_no_process_out)
{
	struct sockaddr_in a[PROCESSES];
	int fd[3 * (REALSTREAM_STRANGERS + PROCESSES)];
	struct end one, two;
	size_t n = ARRAY_LEN(fd);

	begin_end(&one, 1, LONG_NS, &a[0]);
	begin_end(&two, 2, LONG_NS, &a[1]);
	for (size_t i = 0; i < n; i++) {
		fd[i] = dial(&a[1]);
		turn(&two);
	}
	realstream_meet(two.stream, KEY, a);
	ck_assert(is_closed(&two, fd[0], TURNS_MAX)); /* the oldest */
	realstream_meet(one.stream, KEY, a);
	realstream_send(one.stream, 2, (const uint8_t *)"hello", 5);
	for (size_t i = 0; i < TURNS_MAX && !two.heard[0]; i++) {
		turn(&one);
		turn(&two);
	}
	ck_assert_str_eq(two.heard, "1: hello");
	ck_assert(!is_closed(&two, fd[n - 1], 1));
	for (size_t i = 0; i < n; i++)
		close(fd[i]);
	end_end(&one);
	end_end(&two);
}

TEST(a_slow_unknown_connection_is_closed)
{
	struct sockaddr_in a[PROCESSES];
	struct end two;
	int fd;

	begin_end(&two, 2, NSEC_PER_MSEC, &a[1]);
	a[0] = a[1];
	realstream_meet(two.stream, KEY, a);
	fd = dial(&a[1]);
	ck_assert(is_closed(&two, fd, TURNS_MAX));
	close(fd);
	end_end(&two);
}

TEST(a_connection_has_the_key_of_the_run_and_a_process_has_one)
{
	static const struct {
		uint64_t key;
		uint32_t from, to;
	} bad[] = { { KEY + 1, 1, 2 }, { KEY, 0, 2 }, { KEY, 3, 2 }, { KEY, 1, 1 } };
	struct sockaddr_in a[PROCESSES];
	struct end two;
	int fd, again;

	begin_end(&two, 2, LONG_NS, &a[1]);
	a[0] = a[1];
	realstream_meet(two.stream, KEY, a);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		fd = dial(&a[1]);
		say_hello(fd, bad[i].key, bad[i].from, bad[i].to);
		ck_assert_msg(is_closed(&two, fd, TURNS_MAX), "row %zu", i);
		close(fd);
	}
	fd = dial(&a[1]);
	say_hello(fd, KEY, 1, 2);
	say_frame(fd, 1, "first", 5);
	ck_assert(hears(&two, "1: first"));
	again = dial(&a[1]);
	say_hello(again, KEY, 1, 2);
	ck_assert(is_closed(&two, again, TURNS_MAX));
	say_frame(fd, 1, "second", 6);
	ck_assert(hears(&two, "1: second"));
	close(fd);
	close(again);
	end_end(&two);
}

/* A message before the identification, more bytes than that takes, and a hello after it. */
TEST(an_invalid_message_ends_a_stream)
{
	static const uint8_t large[4] = { 0, 1, 0, 0 };
	struct sockaddr_in a[PROCESSES];
	struct end two;

	begin_end(&two, 2, LONG_NS, &a[1]);
	a[0] = a[1];
	realstream_meet(two.stream, KEY, a);
	for (unsigned i = 0; i < 3; i++) {
		int fd = dial(&a[1]);

		if (i == 0)
			say_frame(fd, 1, "hello", 5);
		else if (i == 1)
			say(fd, large, sizeof(large));
		else
			say_hello(fd, KEY, 1, 2);
		if (i == 2)
			say_hello(fd, KEY, 1, 2);
		ck_assert_msg(is_closed(&two, fd, TURNS_MAX), "row %u", i);
		close(fd);
	}
	ck_assert_str_eq(two.heard, "");
	end_end(&two);
}

SUITE("realstream")
