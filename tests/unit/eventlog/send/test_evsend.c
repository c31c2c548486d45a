/* SPDX-License-Identifier: Apache-2.0 */
/* A sender, and a peer in the test that answers as a receiver does, or does not. */
#include "common/base/limits.h"
#include "eventlog/evwrite.h"
#include "eventlog/send/evsend.h"
#include "eventlog/send/evsend_hello.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <endian.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 30000

static struct evsend *sender;
static struct evwrite made;
static int listener, peer = -1;
static struct evurl url;

static uint16_t listen_here(int type)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);

	listener = socket(AF_INET, type, 0);
	ck_assert_int_ge(listener, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&at, n), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&at, &n), 0);
	if (type == SOCK_STREAM)
		ck_assert_int_eq(listen(listener, 8), 0);
	return ntohs(at.sin_port);
}

static void begin(int type)
{
	struct err e = { 0 };

	url = (struct evurl){ .kind = type == SOCK_STREAM ? EVURL_TCP : EVURL_UDP,
			      .host = "127.0.0.1",
			      .port = listen_here(type) };
	ck_assert_msg(!evsend_open(&url, &sender, &e), "%s", e.text);
}

static void set_up(void)
{
	evwrite_init(&made, 77, false, 0);
}

static void clean_up(void)
{
	evsend_close(sender, 0, NULL);
	sender = NULL;
	evwrite_done(&made);
	close(listener);
	if (peer >= 0)
		close(peer);
	peer = -1;
}

/* A block of one event; text has n bytes. */
static bool put(size_t n)
{
	static char text[EV_RECORD_MAX_BYTES];
	static const struct evfield field = { "s", EV_STRING };
	static const struct evtype type = { .name = "a", .nfield = 1, .field = &field };
	const struct evvalue value = { .kind = EV_STRING, .s = text, .n = (uint32_t)n };
	struct iovec block;

	buf_clear(&made.out);
	ck_assert_int_eq(evwrite_define(&made, 1, &type, NULL), 0);
	ck_assert_int_eq(
		evwrite_event(&made, 1, &(struct event){ .type = &type, .value = &value }, NULL),
		0);
	ck_assert_int_eq(evwrite_cut(&made, false, NULL), 0);
	block = (struct iovec){ made.out.p, made.out.n };
	return evsend_put(sender, &block, 1);
}

static void accept_peer(void)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };

	ck_assert_int_eq(poll(&p, 1, PATIENCE_MS), 1);
	peer = accept(listener, NULL, NULL);
	ck_assert_int_ge(peer, 0);
}

static void get(void *out, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t got = recv(peer, (char *)out + at, n - at, 0);

		ck_assert_int_gt(got, 0);
		at += (size_t)got;
	}
}

static void acknowledge(uint64_t bytes)
{
	bytes = htole64(bytes);
	ck_assert_int_eq(send(peer, &bytes, sizeof(bytes), MSG_NOSIGNAL), sizeof(bytes));
}

static void greet(void)
{
	char hello[sizeof(EVSEND_HELLO)] = "";

	accept_peer();
	get(hello, sizeof(hello) - 1);
	ck_assert_str_eq(hello, EVSEND_HELLO);
	acknowledge(0);
}

/* Returns the number of the next block in its stream. */
static uint64_t get_block(uint64_t *bytes)
{
	static uint8_t text[EVBLOCK_MAX_BYTES];
	struct evblock b;

	get(text, EVBLOCK_HEAD_BYTES);
	evblock_head(text, &b);
	get(text + EVBLOCK_HEAD_BYTES, b.bytes - EVBLOCK_HEAD_BYTES);
	ck_assert_int_eq(evblock_look(text, b.bytes, &b), EVBLOCK_GOOD);
	*bytes += b.bytes;
	return b.seq;
}

TEST(blocks_arrive_and_are_acknowledged)
{
	uint64_t bytes = 0;

	begin(SOCK_STREAM);
	ck_assert(put(10));
	greet();
	ck_assert_uint_eq(get_block(&bytes), 0);
	ck_assert(!evsend_flush(sender, 0));
	acknowledge(bytes);
	ck_assert(evsend_flush(sender, PATIENCE_MS * NSEC_PER_MSEC));
	ck_assert_uint_eq(evsend_close(sender, 0, NULL), 0);
	sender = NULL;
}

TEST(unacknowledged_blocks_are_resent)
{
	uint64_t bytes = 0, more = 0;

	begin(SOCK_STREAM);
	ck_assert(put(10) && put(20) && put(30));
	greet();
	ck_assert_uint_eq(get_block(&bytes), 0);
	acknowledge(bytes);
	ck_assert_uint_eq(get_block(&bytes), 1);
	acknowledge(bytes - 1); /* the last byte of the block is not there yet */
	ck_assert_uint_eq(get_block(&bytes), 2);
	close(peer);
	greet();
	ck_assert_uint_eq(get_block(&more), 1);
	ck_assert_uint_eq(get_block(&more), 2);
}

TEST(an_impossible_acknowledgement_ends_the_connection)
{
	uint64_t bytes = 0;

	begin(SOCK_STREAM);
	ck_assert(put(10));
	greet();
	get_block(&bytes);
	acknowledge(bytes + 1);
	close(peer);
	greet();
	ck_assert_uint_eq(get_block(&bytes), 0);
}

TEST(a_peer_that_is_no_receiver_gets_no_block)
{
	char hello[64];
	uint64_t bytes = 0;

	begin(SOCK_STREAM);
	ck_assert(put(10));
	accept_peer();
	get(hello, sizeof(EVSEND_HELLO) - 1);
	ck_assert_int_eq(send(peer, "SSH-2.0-x", 9, MSG_NOSIGNAL), 9);
	ck_assert_int_le(recv(peer, hello, sizeof(hello), 0), 0); /* the end of the connection */
	close(peer);
	greet();
	ck_assert_uint_eq(get_block(&bytes), 0);
}

TEST(without_room_a_block_is_refused_and_later_ones_fit_again)
{
	uint64_t bytes = 0;
	unsigned n = 0, again = 0;

	begin(SOCK_STREAM);
	while (put(60000))
		n++;
	ck_assert_uint_gt(n, 100);
	ck_assert_uint_lt(n * UINT64_C(60000), EVSEND_ROOM_BYTES);
	greet();
	for (unsigned i = 0; i < n; i++)
		ck_assert_uint_eq(get_block(&bytes), i);
	acknowledge(bytes);
	ck_assert(evsend_flush(sender, PATIENCE_MS * NSEC_PER_MSEC));
	while (again < n && put(60000))
		again++;
	ck_assert_uint_eq(again, n);
}

TEST(a_close_counts_the_events_that_were_not_acknowledged)
{
	begin(SOCK_STREAM);
	ck_assert(put(10) && put(10));
	ck_assert_uint_eq(evsend_close(sender, NSEC_PER_MSEC, NULL), 2);
	sender = NULL;
}

TEST(a_block_is_a_datagram)
{
	uint64_t bytes = 0;
	uint8_t text[4096];
	struct evblock b;

	begin(SOCK_DGRAM);
	ck_assert(put(100) && put(200));
	ck_assert(evsend_flush(sender, PATIENCE_MS * NSEC_PER_MSEC));
	for (uint64_t i = 0; i < 2; i++) {
		ssize_t n = recv(listener, text, sizeof(text), 0);

		ck_assert_int_gt(n, 0);
		ck_assert_int_eq(evblock_look(text, (size_t)n, &b), EVBLOCK_GOOD);
		ck_assert_uint_eq(b.seq, i);
		ck_assert_uint_eq(b.bytes, (size_t)n);
	}
	(void)bytes;
}

TEST(a_message_of_syslog_is_an_event)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char text[4096];
	struct err e = { 0 };
	ssize_t n;

	snprintf(at.sun_path, sizeof(at.sun_path), "/tmp/omig-syslog-%d", (int)getpid());
	url = (struct evurl){ .kind = EVURL_SYSLOG };
	snprintf(url.host, sizeof(url.host), "%s", at.sun_path);
	ck_assert_msg(!evsend_open(&url, &sender, &e), "%s", e.text);
	ck_assert(put(3) && put(4)); /* they wait until the socket is there */
	listener = socket(AF_UNIX, SOCK_DGRAM, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	for (int i = 0; i < 2; i++) {
		n = recv(listener, text, sizeof(text) - 1, 0);
		ck_assert_int_gt(n, 0);
		text[n] = '\0';
		ck_assert_msg(strstr(text, "<14>") == text && strstr(text, "NL.EVNT=a s="), "%s",
			      text);
	}
	ck_assert(evsend_flush(sender, PATIENCE_MS * NSEC_PER_MSEC));
	unlink(at.sun_path);
}

TEST(another_host_gets_messages_of_rfc_5424)
{
	char text[4096] = "";
	struct err e = { 0 };

	url = (struct evurl){ .kind = EVURL_SYSLOG,
			      .host = "127.0.0.1",
			      .port = listen_here(SOCK_DGRAM) };
	ck_assert_msg(!evsend_open(&url, &sender, &e), "%s", e.text);
	ck_assert(put(3));
	ck_assert_int_gt(recv(listener, text, sizeof(text) - 1, 0), 0);
	ck_assert_msg(strstr(text, "<14>1 1970-01-01T00:00:00.000000Z - - - - - DATE=") == text,
		      "%s", text);
}

TEST(a_child_process_sends_only_its_own)
{
	uint64_t bytes = 0;
	pid_t pid;
	int status;

	begin(SOCK_STREAM);
	ck_assert(put(10));
	pid = fork();
	if (!pid) {
		evsend_in_child(sender);
		evwrite_done(&made);
		evwrite_init(&made, 78, false, 0);
		_exit(!put(10) || evsend_close(sender, PATIENCE_MS * NSEC_PER_MSEC, NULL));
	}
	for (int i = 0; i < 2; i++) { /* the parent and the child, in any order */
		greet();
		bytes = 0;
		ck_assert_uint_eq(get_block(&bytes), 0);
		acknowledge(bytes);
		if (i == 0 && waitpid(pid, &status, WNOHANG) == pid)
			ck_assert_int_eq(status, 0);
	}
	ck_assert(evsend_flush(sender, PATIENCE_MS * NSEC_PER_MSEC));
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
}

SUITE_WITH("eventlog/send evsend", set_up, clean_up)
