/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of real runs, as any peer may send them. */
#include "neko/algorithms/fd.h"
#include "neko/core/limits.h"
#include "neko/real/realwire.h"
#include "proto/frame.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct neko_world_ops no_ops;

TEST(datagrams_that_are_not_of_this_run_are_nothing)
{
	struct neko_world w = { 0 };
	struct neko_msg *m, *got;
	uint8_t bytes[REALWIRE_HEADER_BYTES + 5];
	uint32_t number;
	size_t n;

	ck_assert_int_eq(world_init(&w, &no_ops, 3, 1, NULL), 0);
	w.type_name[FD_HEARTBEAT] = "heartbeat";
	m = world_msg_new(&w, 1, 5);
	m->from = 2;
	m->type = FD_HEARTBEAT;
	m->sent_at = 77;
	memcpy(m->content, "hello", 5);
	m->sent_error = 12;
	n = realwire_datagram(bytes, 42, 3, 9, m);
	ck_assert_uint_eq(n, sizeof(bytes));
	got = realwire_message(&w, &(struct realwire_end){ 42, 3, 1 }, bytes_at(bytes, n), &number);
	ck_assert_ptr_nonnull(got);
	ck_assert(number == 9 && got->sent_error == 12);
	ck_assert(got->from == 2 && got->to == 3 && got->net == 1 && got->sent_at == 77 &&
		  got->n == 5);
	ck_assert_mem_eq(got->content, "hello", 5);
	world_msg_unref(&w, got);
	ck_assert_ptr_null(realwire_message(&w, &(struct realwire_end){ 43, 3, 1 },
					    bytes_at(bytes, n), &number));
	ck_assert_ptr_null(realwire_message(&w, &(struct realwire_end){ 42, 2, 1 },
					    bytes_at(bytes, n), &number));
	for (size_t i = 0; i < n; i++)
		ck_assert_ptr_null(realwire_message(&w, &(struct realwire_end){ 42, 3, 1 },
						    bytes_at(bytes, i), &number));
	bytes[8] = 4; /* from a process that is none */
	ck_assert_ptr_null(realwire_message(&w, &(struct realwire_end){ 42, 3, 1 },
					    bytes_at(bytes, n), &number));
	bytes[8] = 2;
	bytes[24] ^= 1; /* an undeclared type */
	ck_assert_ptr_null(realwire_message(&w, &(struct realwire_end){ 42, 3, 1 },
					    bytes_at(bytes, n), &number));
	world_msg_unref(&w, m);
	world_done(&w);
}

TEST(a_datagram_of_a_group_is_for_those_whose_number_it_has)
{
	static const uint32_t numbers[3] = { 8, 0, 1 };
	struct neko_world w = { 0 };
	uint8_t bytes[REALWIRE_HEADER_BYTES + sizeof(numbers) + 2];
	struct neko_msg *m, *got;
	uint32_t number;
	size_t n;

	ck_assert_int_eq(world_init(&w, &no_ops, 3, 1, NULL), 0);
	w.type_name[FD_HEARTBEAT] = "heartbeat";
	m = world_msg_new(&w, 1, 2);
	m->from = 2;
	m->type = FD_HEARTBEAT;
	memcpy(m->content, "hi", 2);
	n = realwire_group_datagram(bytes, 42, numbers, 3, m);
	ck_assert_uint_eq(n, sizeof(bytes));
	for (size_t i = 1; i <= 3; i++) {
		got = realwire_message(&w, &(struct realwire_end){ 42, (uint32_t)i, 1 },
				       bytes_at(bytes, n), &number);
		ck_assert_int_eq(got != NULL, numbers[i - 1] > 0);
		if (!got)
			continue;
		ck_assert_uint_eq(number, numbers[i - 1] - 1);
		ck_assert(got->from == 2 && got->to == i && got->n == 2);
		ck_assert_mem_eq(got->content, "hi", 2);
		world_msg_unref(&w, got);
	}
	for (size_t i = 0; i < n; i++)
		ck_assert_ptr_null(realwire_message(&w, &(struct realwire_end){ 42, 1, 1 },
						    bytes_at(bytes, i), &number));
	ck_assert_ptr_null(realwire_message(&w, &(struct realwire_end){ 41, 1, 1 },
					    bytes_at(bytes, n), &number));
	world_msg_unref(&w, m);
	world_done(&w);
}

struct heard {
	unsigned events, delays;
	struct neko_delay delay; /* the last one */
};

static void count_event(void *arg, const struct neko_event *v)
{
	struct heard *h = arg;

	ck_assert_str_eq(v->what, "heard");
	ck_assert(v->at == 5 && v->content == 0.25 && v->error == 3 && v->content_error == 4);
	ck_assert(v->n == 3 && memcmp(v->bytes, "a\0b", 3) == 0);
	h->events++;
}

static void count_delay(void *arg, const struct neko_delay *d)
{
	struct heard *h = arg;

	h->delay = *d;
	h->delays++;
}

static void list_kept(void *arg, const struct neko_event *v)
{
	snprintf(arg, REALWIRE_WHAT_BYTES, "%s", v->what);
}

static void keep_nothing(void *arg, const struct neko_delay *d)
{
}

TEST(whole_blocks_are_read_and_others_refused)
{
	struct realwire_block b = { .until = 9,
				    .sent = 3,
				    .delivered = 2,
				    .count = 2,
				    .ndelay = 1,
				    .stuck = 1,
				    .is_last = true,
				    .offset = -5,
				    .error = 11,
				    .drift = 1.5,
				    .stop_at = 12 },
			      got;
	struct neko_event v = { 1, 5, "heard", 0.25, 3, 4, "a\0b", 3 };
	struct neko_delay d = { 6, 7, 1, 2, 8, 40, 3, 2, 5 };
	struct heard heard = { 0 };
	const struct realwire_hearer h = { count_event, count_delay, &heard };
	struct buf out = BUF_INIT(1000);
	size_t mark = realwire_block(&out, &b), n;
	uint8_t *p;

	realwire_event(&out, &v);
	realwire_event(&out, &v);
	realwire_delay(&out, &d);
	ck_assert_int_eq(frame_end(&out, mark), 0);
	p = out.p + FRAME_HEADER_BYTES;
	n = out.n - FRAME_HEADER_BYTES;
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(realwire_read(p, i, &got, &h), -ERR_PROTO);
	heard = (struct heard){ 0 };
	ck_assert_int_eq(realwire_read(p, n, &got, &h), 0);
	ck_assert(heard.events == 2 && heard.delays == 1);
	ck_assert(heard.delay.sent_at == 6 && heard.delay.delay == 7 && heard.delay.from == 1 &&
		  heard.delay.to == 2 && heard.delay.number == 8 && heard.delay.net == 2);
	ck_assert(heard.delay.bytes == 40 && heard.delay.error == 3 && heard.delay.type == 5);
	ck_assert(got.until == 9 && got.sent == 3 && got.stuck == 1 && got.is_last);
	ck_assert(got.offset == -5 && got.error == 11 && got.drift == 1.5 && got.stop_at == 12);
	p[24]++; /* one event too many */
	ck_assert_int_eq(realwire_read(p, n, &got, &h), -ERR_PROTO);
	p[24] -= 2; /* one less */
	ck_assert_int_eq(realwire_read(p, n, &got, &h), -ERR_PROTO);
	buf_done(&out);
}

static const char *read_one(const struct neko_event *v, const struct neko_delay *d)
{
	static char what[REALWIRE_WHAT_BYTES];
	const struct realwire_hearer h = { list_kept, keep_nothing, what };
	const struct realwire_block b = { .count = v ? 1 : 0, .ndelay = d ? 1 : 0 };
	struct realwire_block got;
	struct buf out = BUF_INIT(1000);
	size_t mark = realwire_block(&out, &b);
	int rc;

	if (v)
		realwire_event(&out, v);
	if (d)
		realwire_delay(&out, d);
	ck_assert_int_eq(frame_end(&out, mark), 0);
	what[0] = 0;
	rc = realwire_read(out.p + FRAME_HEADER_BYTES, out.n - FRAME_HEADER_BYTES, &got, &h);
	ck_assert(!rc || rc == -ERR_PROTO);
	buf_done(&out);
	return rc ? "refused" : what;
}

TEST(a_received_block_has_bounded_times_and_printable_text)
{
	const struct neko_event good = { .at = NEKO_TIME_MAX,
					 .what = "h\xc3\xb6rt",
					 .error = NEKO_TIME_MAX };
	const struct neko_delay late = { 6, 7, 1, 2, 8, 40, 3, 2, 5 };
	struct neko_event v = good;
	struct neko_delay d = late;

	ck_assert_str_eq(read_one(&v, NULL), "h\xc3\xb6rt");
	v.what = "a\x1b[2J\xff";
	ck_assert_str_eq(read_one(&v, NULL), "a?[2J?");
	v.error++;
	ck_assert_str_eq(read_one(&v, NULL), "refused");
	v = good;
	v.content_error = INT64_MAX;
	ck_assert_str_eq(read_one(&v, NULL), "refused");
	v = good;
	v.at++;
	ck_assert_str_eq(read_one(&v, NULL), "refused");
	ck_assert_str_eq(read_one(NULL, &d), "");
	d.delay = NEKO_DELAY_LOST; /* the report of a sender */
	ck_assert_str_eq(read_one(NULL, &d), "");
	d.delay = NEKO_DELAY_UNKNOWN;
	ck_assert_str_eq(read_one(NULL, &d), "refused");
	d = late;
	d.type = NEKO_TYPES_MAX;
	ck_assert_str_eq(read_one(NULL, &d), "refused");
	d = late;
	d.sent_at = INT64_MAX;
	ck_assert_str_eq(read_one(NULL, &d), "refused");
}

TEST(frames_that_are_cut_are_refused)
{
	struct realwire_start s = { .m = 3,
				    .id = 2,
				    .seed = 7,
				    .address = 0x7f000001,
				    .silence = 5,
				    .text = "a = b",
				    .ntext = 5 },
			      sg;
	struct realwire_ready r = { 2, { 1000, 65535 } }, rg;
	struct realwire_gone g = { -1, 8, "went \x1b[31maway" }, gg;
	struct sockaddr_in a[2] = { 0 }, ag[2];
	struct buf b = BUF_INIT(10000);
	uint64_t key;

	ck_assert_int_eq(realwire_put_start(&b, &s), 0);
	ck_assert_int_eq(realwire_get_start(b.p + 5, b.n - 5, &sg), 0);
	ck_assert(sg.m == 3 && sg.id == 2 && sg.seed == 7 && sg.silence == 5 && sg.ntext == 5);
	ck_assert_mem_eq(sg.text, "a = b", 5);
	b.p[5 + 2] = 1; /* 65539 processes */
	ck_assert_int_eq(realwire_get_start(b.p + 5, b.n - 5, &sg), -ERR_PROTO);
	b.p[5 + 2] = 0;
	for (size_t i = 0; i < 29; i++)
		ck_assert_int_eq(realwire_get_start(b.p + 5, i, &sg), -ERR_PROTO);
	buf_clear(&b);
	ck_assert_int_eq(realwire_put_ready(&b, &r), 0);
	ck_assert_int_eq(realwire_get_ready(b.p + 5, b.n - 5, &rg), 0);
	ck_assert(rg.n == 2 && rg.port[0] == 1000 && rg.port[1] == 65535);
	ck_assert_int_eq(realwire_get_ready(b.p + 5, 3, &rg), -ERR_PROTO);
	buf_clear(&b);
	a[1].sin_port = htons(7);
	ck_assert_int_eq(realwire_put_peers(&b, 99, a, 2), 0);
	ck_assert_int_eq(realwire_get_peers(b.p + 5, b.n - 5, &key, ag, 2), 0);
	ck_assert(key == 99 && ag[1].sin_port == htons(7));
	ck_assert_int_eq(realwire_get_peers(b.p + 5, b.n - 6, &key, ag, 2), -ERR_PROTO);
	buf_clear(&b);
	ck_assert_int_eq(realwire_put_gone(&b, &g), 0);
	ck_assert_int_eq(realwire_get_gone(b.p + 5, b.n - 5, &gg), 0);
	ck_assert(gg.at == -1 && gg.error == 8);
	ck_assert_str_eq(gg.why, "went ?[31maway");
	ck_assert_int_eq(realwire_get_gone(b.p + 5, 15, &gg), -ERR_PROTO);
	buf_clear(&b);
	g = (struct realwire_gone){ 5, INT64_MAX, "" };
	ck_assert_int_eq(realwire_put_gone(&b, &g), 0);
	ck_assert_int_eq(realwire_get_gone(b.p + 5, b.n - 5, &gg), -ERR_PROTO);
	buf_done(&b);
}

/* A process that refuses its configuration ends before it has read all of its master's messages. */
TEST(data_of_an_ended_process_are_read_to_the_end)
{
	struct buf words = BUF_INIT(1000), other = BUF_INIT(1000);
	struct frame_in in = { 0 };
	struct frame f;
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	ck_assert_int_eq(realwire_put_words(&words, REALWIRE_FAILED, "no"), 0);
	ck_assert_int_eq(realwire_put_times(&other, REALWIRE_STOP, NULL, 0), 0);
	ck_assert_int_eq(realwire_send(pair[0], &other), 0);
	ck_assert_int_eq(realwire_send(pair[1], &words), 0);
	close(pair[1]);
	ck_assert_int_eq(realwire_send(pair[0], &other), -ERR_CLOSED);
	frame_in_init(&in, FRAME_MAX_BYTES);
	ck_assert_int_eq(realwire_recv(pair[0], &in, MSG_DONTWAIT), 0);
	ck_assert_int_eq(frame_in_next(&in, &f, NULL), 1);
	ck_assert_uint_eq(f.type, REALWIRE_FAILED);
	ck_assert_int_eq(realwire_recv(pair[0], &in, MSG_DONTWAIT), -ERR_CLOSED);
	frame_in_done(&in);
	close(pair[0]);
	buf_done(&words);
	buf_done(&other);
}

SUITE("realwire")
