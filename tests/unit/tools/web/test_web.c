/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "tests/suite.h"
#include "tools/web/internal.h"
#include "tools/web/web.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- heads */

static struct web_head head;
static char text[WEB_HEAD_MAX_BYTES + 1];

static int read_head(const char *s)
{
	size_t n = strlen(s);

	memcpy(text, s, n + 1);
	return web_head_read(text, n, &head);
}

TEST(a_plain_request_is_taken_apart)
{
	ck_assert_int_eq(read_head("GET /metrics?a=%2e HTTP/1.1\r\nhost:  localhost:1 \r\nAccept: "
				   "x;q=0.5\r\n\r\n"),
			 0);
	ck_assert_str_eq(head.path, "/metrics");
	ck_assert_str_eq(head.host, "localhost:1");
	ck_assert_str_eq(head.accept, "x;q=0.5");
	ck_assert(!head.is_head);
	ck_assert_int_eq(read_head("HEAD / HTTP/1.0\r\nHost: a\r\nContent-Length: 0\r\n\r\n"), 0);
	ck_assert(head.is_head);
}

TEST(malformed_http_requests_are_refused)
{
	static const struct {
		const char *head;
		int status;
	} bad[] = {
		{ "\r\n\r\n", 400 },
		{ "GET\r\n\r\n", 400 },
		{ "GET /\r\n\r\n", 400 },
		{ " / HTTP/1.1\r\n\r\n", 400 },
		{ "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
		{ "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
		{ "GET / HTTP/2\r\nHost: a\r\n\r\n", 505 },
		{ "GET / FTP/1\r\nHost: a\r\n\r\n", 400 },
		{ "PUT / HTTP/1.1\r\nHost: a\r\n\r\n", 405 },
		{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", 413 },
		{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: "
		  "1\r\n\r\n",
		  400 },
		{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 413 },
		{ "get / HTTP/1.1\r\nHost: a\r\n\r\n", 405 },
		{ "GET / HTTP/1.1\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: a\nb: c\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n", 400 },
		{ "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000000\r\n\r\n", 413 },
		{ "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 413 },
		{ "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 413 },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ck_assert_msg(read_head(bad[i].head) == bad[i].status, "%zu: %s", i, bad[i].head);
}

TEST(a_zero_in_a_head_is_refused)
{
	char zero[] = "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n";

	ck_assert_int_eq(web_head_read(zero, sizeof(zero) - 1, &head), 400);
}

/* Each cut, and each byte replaced: an answer and no fault. */
TEST(damaged_heads_are_survived)
{
	static const char good[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: "
				   "a;q=0.1,b\r\nOrigin: http://x\r\n\r\n";
	char copy[sizeof(good) + 1];

	for (size_t i = 0; i < sizeof(good) - 1; i++)
		for (int c = 0; c < 256; c++) {
			size_t n;

			memcpy(copy, good, sizeof(good));
			copy[i] = (char)c;
			n = web_head_end(copy, sizeof(good) - 1);
			if (n)
				web_head_read(copy, n, &head);
		}
	for (size_t n = 0; n < sizeof(good) - 1; n++)
		ck_assert_uint_eq(web_head_end(good, n), 0);
}

TEST(only_names_of_loopback_are_local)
{
	ck_assert(web_is_local_name("localhost"));
	ck_assert(web_is_local_name("LOCALHOST:80"));
	ck_assert(web_is_local_name("127.0.0.1:9717"));
	ck_assert(web_is_local_name("[::1]:9717"));
	ck_assert(web_is_local_name("127.0.0.2:9717"));
	ck_assert(web_is_local_name("127.255.0.9"));
	ck_assert(!web_is_local_name("127.0.0.2.evil:80"));
	ck_assert(!web_is_local_name("127.evil"));
	ck_assert(!web_is_local_name("127.0.0.256"));
	ck_assert(!web_is_local_name("128.0.0.1"));
	ck_assert(!web_is_local_name("[::1"));
	ck_assert(!web_is_local_name("[::1].evil"));
	ck_assert(!web_is_local_name("["));
	ck_assert(!web_is_local_name(""));
	ck_assert(!web_is_local_name("evil"));
	ck_assert(!web_is_local_name("localhost.evil"));
	ck_assert(!web_is_local_name("127.0.0.1.evil"));
	ck_assert(!web_is_local_name("localhost:evil"));
	ck_assert(!web_is_local_name("localhost:80@evil"));
	ck_assert(!web_is_local_name("localhost:99999"));
}

TEST(the_form_is_the_one_that_is_requested_most)
{
	static const char om[] = "application/openmetrics-text", plain[] = "text/plain";

	ck_assert(!web_prefers("", om, plain));
	ck_assert(!web_prefers("*/*", om, plain));
	ck_assert(!web_prefers("text/plain", om, plain));
	ck_assert(web_prefers("application/openmetrics-text", om, plain));
	ck_assert(web_prefers("application/openmetrics-text;version=1.0.0,application/"
			      "openmetrics-text;version=0.0.1;q=0.75,"
			      "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
			      om, plain));
	ck_assert(!web_prefers("application/openmetrics-text;q=0.2, text/plain;q=0.5", om, plain));
	ck_assert(!web_prefers("application/openmetrics-text;q=0", om, plain));
	ck_assert(!web_prefers("application/openmetrics-textual", om, plain));
}

/* --- a real port */

static void answer(void *arg, const struct web_request *q, struct web_answer *a)
{
	buf_printf(a->body, "asked for %s\n", q->path);
}

static struct web *open_web(const char *token)
{
	struct web_conf conf = { .address = "127.0.0.1", .token = token, .answer = answer };
	struct err e = { 0 };
	struct web *w = NULL;

	ck_assert_msg(web_open(&conf, &w, &e) == 0, "%s", e.text);
	return w;
}

static int dial(const struct web *w)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(web_port(w)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Reads until the other end closes. */
static const char *read_all(struct web *w, int fd)
{
	static char said[65536];
	size_t n = 0;
	ssize_t got;

	for (int i = 0; i < 50000; i++) {
		web_turn(w);
		got = recv(fd, said + n, sizeof(said) - 1 - n, MSG_DONTWAIT);
		if (got == 0)
			break;
		if (got > 0)
			n += (size_t)got;
		else
			usleep(1000);
	}
	said[n] = '\0';
	return said;
}

static const char *ask(struct web *w, const char *request)
{
	int fd = dial(w);
	const char *said;

	ck_assert_int_eq(send(fd, request, strlen(request), MSG_NOSIGNAL),
			 (ssize_t)strlen(request));
	said = read_all(w, fd);
	close(fd);
	return said;
}

#define starts_with(said, start) ck_assert_msg(!strncmp((said), (start), strlen(start)), "%s", said)

TEST(a_request_is_answered)
{
	struct web *w = open_web(NULL);
	const char *said = ask(w, "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n");

	starts_with(said, "HTTP/1.1 200 OK\r\n");
	ck_assert_ptr_nonnull(strstr(said, "Content-Length: 13\r\n"));
	ck_assert_ptr_nonnull(strstr(said, "\r\n\r\nasked for /x\n"));
	said = ask(w, "HEAD /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
	ck_assert_ptr_nonnull(strstr(said, "Content-Length: 13\r\n"));
	ck_assert_ptr_null(strstr(said, "asked"));
	web_close(w);
}

TEST(a_foreign_page_is_refused)
{
	struct web *w = open_web(NULL);

	starts_with(ask(w, "GET / HTTP/1.1\r\nHost: evil\r\n\r\n"), "HTTP/1.1 403 ");
	starts_with(ask(w, "GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil\r\n\r\n"),
		    "HTTP/1.1 403 ");
	starts_with(ask(w, "GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n"),
		    "HTTP/1.1 403 ");
	starts_with(
		ask(w,
		    "GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:3000\r\n\r\n"),
		"HTTP/1.1 200 ");
	web_close(w);
}

TEST(without_the_token_nothing_is_reported)
{
	struct web *w = open_web("0123456789abcdef");

	starts_with(ask(w, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "HTTP/1.1 401 ");
	starts_with(ask(w, "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
			   "0123456789abcdeX\r\n\r\n"),
		    "HTTP/1.1 401 ");
	starts_with(ask(w, "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic "
			   "0123456789abcdef\r\n\r\n"),
		    "HTTP/1.1 401 ");
	starts_with(ask(w, "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
			   "0123456789abcdef\r\n\r\n"),
		    "HTTP/1.1 200 ");
	web_close(w);
}

TEST(another_address_needs_a_token)
{
	struct web_conf conf = { .address = "0.0.0.0", .answer = answer };
	struct web *w = NULL;

	ck_assert_int_eq(web_open(&conf, &w, NULL), -ERR_DENIED);
	conf.token = "0123456789abcdef";
	ck_assert_int_eq(web_open(&conf, &w, NULL), 0);
	web_close(w);
	conf.address = "localhost";
	ck_assert_int_eq(web_open(&conf, &w, NULL), -ERR_INVALID);
}

/* A head of exactly so many bytes. */
static void ask_of_size(struct web *w, size_t size, const char *status)
{
	static char request[WEB_HEAD_MAX_BYTES + 64];
	static const char first[] = "GET / HTTP/1.1\r\nHost: localhost\r\nX: ";

	memset(request, 'x', sizeof(request));
	memcpy(request, first, sizeof(first) - 1);
	memcpy(request + size - 4, "\r\n\r\n", 5);
	starts_with(ask(w, request), status);
}

TEST(a_head_has_a_limit)
{
	struct web *w = open_web(NULL);

	ask_of_size(w, WEB_HEAD_MAX_BYTES - 1, "HTTP/1.1 200 ");
	ask_of_size(w, WEB_HEAD_MAX_BYTES, "HTTP/1.1 200 ");
	ask_of_size(w, WEB_HEAD_MAX_BYTES + 1, "HTTP/1.1 431 ");
	web_close(w);
}

TEST(silent_connections_make_room_and_the_others_live)
{
	struct web *w = open_web(NULL);
	struct web_stats s;
	int fd[WEB_CONNS_MAX];
	char c;

	for (int i = 0; i < WEB_CONNS_MAX; i++)
		fd[i] = dial(w);
	for (int i = 0; i < 50000; i++) {
		web_turn(w);
		web_get_stats(w, &s);
		if (s.open == WEB_CONNS_MAX)
			break;
		usleep(1000);
	}
	ck_assert_uint_eq(s.open, WEB_CONNS_MAX);
	ck_assert_int_gt(send(fd[1], "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL), 0);
	for (int i = 0; i < WEB_CONNS_MAX; i++)
		starts_with(ask(w, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "HTTP/1.1 200 ");
	ck_assert_int_eq(recv(fd[0], &c, 1, MSG_DONTWAIT), 0);
	fd[0] = dial(w);
	ck_assert_int_gt(send(fd[0], "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 35, MSG_NOSIGNAL),
			 0);
	starts_with(read_all(w, fd[0]), "HTTP/1.1 200 ");
	for (int i = 0; i < WEB_CONNS_MAX; i++)
		close(fd[i]);
	web_close(w);
}

static void wait_for_answers(struct web *w, uint64_t n)
{
	struct web_stats s = { 0 };

	for (int i = 0; i < 50000 && s.answered < n; i++) {
		web_turn(w);
		web_get_stats(w, &s);
		if (s.answered < n)
			usleep(100);
	}
	ck_assert_uint_eq(s.answered, n);
}

TEST(answered_connections_that_stay_open_make_room)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
	struct web *w = open_web(NULL);
	int fd[WEB_CONNS_MAX];

	for (int i = 0; i < WEB_CONNS_MAX; i++) {
		fd[i] = dial(w);
		ck_assert_int_gt(send(fd[i], request, sizeof(request) - 1, MSG_NOSIGNAL), 0);
	}
	wait_for_answers(w, WEB_CONNS_MAX);
	starts_with(ask(w, request), "HTTP/1.1 200 ");
	for (int i = 0; i < WEB_CONNS_MAX; i++)
		close(fd[i]);
	web_close(w);
}

/* --- posts and streams */

struct served {
	char body[64];
	size_t nbody;
	int gone, pieces;
};
static struct served served;

static void answer_page(void *arg, const struct web_request *q, struct web_answer *a)
{
	struct served *s = arg;

	s->nbody = q->nbody;
	memcpy(s->body, q->body ? q->body : "", q->nbody < 63 ? q->nbody : 63);
	if (!strcmp(q->path, "/stream"))
		a->viewer = s;
	if (!strcmp(q->path, "/busy")) {
		a->status = 429;
		buf_puts(a->body, "later");
	} else {
		buf_printf(a->body, "first of %s\n", q->bearer);
	}
}

static bool more(void *arg, void *viewer, struct buf *out)
{
	struct served *s = viewer;

	if (s->pieces == 3)
		return false;
	buf_printf(out, "piece %d\n", ++s->pieces);
	return true;
}

static void gone(void *arg, void *viewer)
{
	((struct served *)viewer)->gone++;
}

static struct web *open_page(void)
{
	struct web_conf conf = { .address = "127.0.0.1",
				 .answer = answer_page,
				 .arg = &served,
				 .page_headers = "X-Ours: 1\r\n",
				 .more = more,
				 .gone = gone };
	struct web *w = NULL;

	memset(&served, 0, sizeof(served));
	ck_assert_int_eq(web_open(&conf, &w, NULL), 0);
	return w;
}

#define POST "POST /x HTTP/1.1\r\nHost: localhost:1\r\n"
#define JSON "Content-Type: application/json\r\n"

TEST(a_post_of_json_has_its_body)
{
	struct web *w = open_page();
	const char *said = ask(w, POST JSON "Content-Length: 4\r\n\r\n[12]more");

	starts_with(said, "HTTP/1.1 200 ");
	ck_assert_ptr_nonnull(strstr(said, "X-Ours: 1\r\n"));
	ck_assert_uint_eq(served.nbody, 4);
	ck_assert_str_eq(served.body, "[12]");
	starts_with(ask(w, "POST /busy HTTP/1.1\r\nHost: localhost\r\n" JSON "\r\n"),
		    "HTTP/1.1 429 ");
	web_close(w);
}

TEST(a_body_that_comes_in_pieces_is_awaited)
{
	struct web *w = open_page();
	int fd = dial(w);
	static const char head_text[] = POST JSON "Content-Length: 6\r\n\r\nab";

	ck_assert_int_gt(send(fd, head_text, sizeof(head_text) - 1, MSG_NOSIGNAL), 0);
	for (int i = 0; i < 100; i++)
		web_turn(w);
	ck_assert_uint_eq(served.nbody, 0);
	ck_assert_int_eq(send(fd, "cdef", 4, MSG_NOSIGNAL), 4);
	starts_with(read_all(w, fd), "HTTP/1.1 200 ");
	ck_assert_str_eq(served.body, "abcdef");
	close(fd);
	web_close(w);
}

TEST(posts_of_other_pages_are_refused)
{
	static const struct {
		const char *request;
		const char *status;
	} of[] = {
		{ POST JSON "Origin: http://localhost:1\r\n\r\n", "HTTP/1.1 200 " },
		{ POST JSON "Origin: http://localhost:2\r\n\r\n", "HTTP/1.1 403 " },
		{ POST JSON "Origin: http://evil\r\n\r\n", "HTTP/1.1 403 " },
		{ POST JSON "Sec-Fetch-Site: same-origin\r\n\r\n", "HTTP/1.1 200 " },
		{ POST JSON "Sec-Fetch-Site: same-site\r\n\r\n", "HTTP/1.1 403 " },
		{ POST JSON "Sec-Fetch-Site: cross-site\r\n\r\n", "HTTP/1.1 403 " },
		{ POST "Content-Type: text/plain\r\n\r\n", "HTTP/1.1 415 " },
		{ POST "Content-Type: application/jsonp\r\n\r\n", "HTTP/1.1 415 " },
		{ POST "\r\n", "HTTP/1.1 415 " },
		{ POST JSON "Content-Length: 65537\r\n\r\n", "HTTP/1.1 413 " },
		{ "POST /x HTTP/1.1\r\nHost: evil\r\n" JSON "\r\n", "HTTP/1.1 403 " },
	};
	struct web *w = open_page(), *plain = open_web(NULL);

	for (size_t i = 0; i < ARRAY_LEN(of); i++)
		starts_with(ask(w, of[i].request), of[i].status);
	starts_with(ask(plain, POST JSON "\r\n"), "HTTP/1.1 405 ");
	web_close(plain);
	web_close(w);
}

TEST(a_stream_goes_on_until_it_ends)
{
	struct web *w = open_page();
	const char *said = ask(w, "GET /stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
				  "bearer me\r\n\r\n");

	starts_with(said, "HTTP/1.1 200 ");
	ck_assert_ptr_null(strstr(said, "Content-Length"));
	ck_assert_ptr_nonnull(strstr(said, "\r\n\r\nfirst of me\npiece 1\npiece 2\npiece 3\n"));
	ck_assert_int_eq(served.gone, 1);
	web_close(w);
}

TEST(the_head_of_a_stream_is_no_stream)
{
	struct web *w = open_page();
	const char *said = ask(w, "HEAD /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");

	starts_with(said, "HTTP/1.1 200 ");
	ck_assert_str_eq(strstr(said, "\r\n\r\n"), "\r\n\r\n");
	ck_assert_int_eq(served.gone, 1);
	ck_assert_int_eq(served.pieces, 0);
	web_close(w);
}

TEST(a_viewer_that_leaves_is_forgotten)
{
	struct web *w = open_page();
	int fd = dial(w);
	static const char request[] = "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n";

	ck_assert_int_gt(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL), 0);
	while (!served.pieces)
		web_turn(w);
	close(fd);
	for (int i = 0; i < 50000 && !served.gone; i++) {
		served.pieces = 1;
		web_turn(w);
		web_feed(w);
	}
	ck_assert_int_eq(served.gone, 1);
	web_close(w);
}

SUITE("web")
