/* SPDX-License-Identifier: Apache-2.0 */
/* Peers that do not keep to the rules. */
#include "common/base/limits.h"
#include "tests/suite.h"
#include "tests/unit/common/link/world.h"

static struct world w;

static void open_up(void)
{
	world_open(&w, ROLE_LM);
	ck_assert_int_eq(mem_net_set_link(w.net, "top", "leaf", &(struct mem_link){ .delay = MS }),
			 0);
	ck_assert_ptr_nonnull(world_connect(&w, "lm"));
	loop_advance(w.loop, SEC / 2);
	ck_assert_uint_eq(w.a.ups, 1);
	ck_assert_uint_eq(w.b.ups, 1);
}

TEST(a_message_that_is_not_allowed_closes_the_link)
{
	const struct msg request = { .type = MSG_REQUEST, .request = { .id = 1 } };

	open_up();
	ck_assert_int_eq(link_send(w.a.link, &request), 0); /* an lm may not ask */
	loop_advance(w.loop, 10 * MS);
	ck_assert_uint_eq(w.b.msgs, 0);
	ck_assert_uint_eq(w.b.downs, 1);
	ck_assert_int_eq(w.b.why.code, ERR_PROTO);
	ck_assert_str_eq(w.b.why.text, "message request (10) is not allowed in state up");
	ck_assert_uint_eq(w.a.downs, 1);
	ck_assert_str_eq(w.a.why.text,
			 "refused by the peer: message request (10) is not allowed in state up");
	world_done(&w);
}

/* A peer that is not a link: sends anything. */
struct raw {
	struct chan *chan;
	struct buf got;
	bool is_closed;
};

static void raw_on_frame(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n)
{
	struct raw *r = arg;
	struct msg *m = NULL;

	ck_assert_int_eq(msg_get(type, p, n, &m, NULL), 0);
	buf_printf(&r->got, "%s %s;", msg_type_name(type), type == MSG_ERROR ? m->error.text : "");
	msg_free(m);
}

static void raw_on_event(void *arg, struct chan *c, enum chan_event ev, const struct err *why)
{
	struct raw *r = arg;

	r->is_closed |= ev == CHAN_CLOSED;
}

static void raw_open(struct raw *r)
{
	static const struct net_expect expect = { .roles = ROLE_BIT(ROLE_MAINSM) };
	const struct chan_handler h = { raw_on_frame, raw_on_event, r };

	*r = (struct raw){ .got = BUF_INIT(10000) };
	ck_assert_int_eq(
		net_dial(w.leaf,
			 &(struct net_target){ .host = "top", .port = w.port, .expect = &expect },
			 &h, &r->chan, NULL),
		0);
	loop_advance(w.loop, 100 * MS);
}

static void raw_done(struct raw *r)
{
	chan_close(r->chan, NULL);
	buf_done(&r->got);
}

TEST(nothing_but_hello_opens_a_link)
{
	for (unsigned type = 0; type < 40; type++) {
		const uint8_t frame[] = { 0, 0, 0, 1, (uint8_t)type };
		struct raw r;

		if (type == MSG_HELLO)
			continue;
		world_open(&w, ROLE_LM);
		raw_open(&r);
		ck_assert_int_eq(chan_send(r.chan, frame, sizeof(frame)), 0);
		loop_advance(w.loop, 100 * MS);
		ck_assert(r.is_closed);
		ck_assert_uint_eq(w.b.hellos + w.b.msgs, 0);
		if (type != MSG_BYE && type != MSG_ERROR)
			ck_assert_ptr_nonnull(
				strstr(buf_str(&r.got), "is not allowed in state greeting;"));
		raw_done(&r);
		world_done(&w);
	}
}

TEST(hello_comes_once)
{
	struct buf b = BUF_INIT(1000);
	struct raw r;

	world_open(&w, ROLE_LM);
	raw_open(&r);
	msg_hello_put(&b, &(struct msg_hello){ .version_min = MSG_VERSION_MIN,
					       .version_max = MSG_VERSION_MAX,
					       .role = "lm" });
	chan_send(r.chan, b.p, b.n);
	chan_send(r.chan, b.p, b.n);
	loop_advance(w.loop, 100 * MS);
	ck_assert_uint_eq(w.b.hellos, 1);
	ck_assert_uint_eq(w.b.downs, 1);
	ck_assert_str_eq(buf_str(&r.got),
			 "hello_ack ;ping ;error message hello (1) is not allowed in state up;");
	buf_done(&b);
	raw_done(&r);
	world_done(&w);
}

TEST(a_message_that_takes_its_time_is_a_sign_of_life)
{
	struct msg m = { .type = MSG_ENROL };
	struct buf b = BUF_INIT(20000);
	uint8_t der[8000] = { 0 };
	struct raw r;

	world_open(&w, ROLE_LM);
	raw_open(&r);
	msg_hello_put(&b, &(struct msg_hello){ .version_min = MSG_VERSION_MIN,
					       .version_max = MSG_VERSION_MAX,
					       .role = "lm" });
	chan_send(r.chan, b.p, b.n);
	m.enrol.csr_der = (struct bytes){ der, sizeof(der) };
	buf_clear(&b);
	ck_assert_int_eq(msg_put(&b, &m), 0);
	/* A slow line: nine seconds for one message, and no room for an answer to a ping. */
	for (size_t i = 0; i < 9; i++) {
		chan_send(r.chan, b.p + i * (b.n / 9), i < 8 ? b.n / 9 : b.n - 8 * (b.n / 9));
		loop_advance(w.loop, SEC);
	}
	ck_assert_uint_eq(w.b.downs, 0);
	ck_assert_uint_eq(w.b.msgs, 1);
	loop_advance(w.loop, 6 * SEC);
	ck_assert_uint_eq(w.b.downs, 1);
	buf_done(&b);
	raw_done(&r);
	world_done(&w);
}

TEST(a_silent_peer_is_closed_after_two_seconds)
{
	struct raw r;

	world_open(&w, ROLE_LM);
	raw_open(&r);
	loop_advance(w.loop, HELLO_MAX_NS - 200 * MS);
	ck_assert(!r.is_closed);
	loop_advance(w.loop, 200 * MS);
	ck_assert(r.is_closed);
	ck_assert_uint_eq(w.b.gones, 1);
	ck_assert_uint_eq(w.b.downs, 0);
	raw_done(&r);
	world_done(&w);
}

TEST(a_frame_that_does_not_decode_closes_the_link_with_its_place)
{
	static const uint8_t bad[] = { 0, 0, 0, 5, MSG_BYE, 0x0a, 0x02, 0xc0, 0xaf };
	struct buf b = BUF_INIT(1000);
	struct raw r;

	world_open(&w, ROLE_LM);
	raw_open(&r);
	msg_hello_put(&b, &(struct msg_hello){ .version_min = MSG_VERSION_MIN,
					       .version_max = MSG_VERSION_MAX,
					       .role = "lm" });
	chan_send(r.chan, b.p, b.n);
	chan_send(r.chan, bad, sizeof(bad));
	loop_advance(w.loop, 100 * MS);
	ck_assert_ptr_nonnull(strstr(buf_str(&r.got), "error BAD_FIELD bye.reason: not UTF-8;"));
	ck_assert_str_eq(w.b.why.text, "BAD_FIELD bye.reason: not UTF-8");
	ck_assert(r.is_closed);
	buf_done(&b);
	raw_done(&r);
	world_done(&w);
}

TEST(a_length_that_cannot_be_is_answered_with_it)
{
	static const uint8_t bad[2][5] = { { 0, 0, 0, 0, 0 }, { 0xff, 0xff, 0xff, 0xff, 0 } };
	static const char *const says[2] = { "error BAD_LENGTH 0;",
					     "error BAD_LENGTH 4294967295;" };

	for (size_t i = 0; i < 2; i++) {
		struct raw r;

		world_open(&w, ROLE_LM);
		raw_open(&r);
		chan_send(r.chan, bad[i], sizeof(bad[i]));
		loop_advance(w.loop, 100 * MS);
		ck_assert_str_eq(buf_str(&r.got), says[i]);
		ck_assert(r.is_closed);
		ck_assert_uint_eq(w.b.gones, 1);
		raw_done(&r);
		world_done(&w);
	}
}

TEST(a_fault_is_the_peers_and_leaving_is_none)
{
	const struct msg request = { .type = MSG_REQUEST, .request = { .id = 1 } };

	open_up();
	ck_assert_int_eq(link_send(w.a.link, &request), 0);
	loop_advance(w.loop, 10 * MS);
	ck_assert_str_eq(w.b.fault, "message request (10) is not allowed in state up");
	world_done(&w);
	open_up();
	link_close(w.a.link, "the end");
	w.a.link = NULL;
	loop_advance(w.loop, 10 * MS);
	ck_assert_uint_eq(w.b.downs, 1);
	ck_assert_str_eq(w.b.fault, "");
	world_done(&w);
}

static void ack_wrongly(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n)
{
	struct buf *got = arg;
	struct buf b = BUF_INIT(1000);

	if (type == MSG_HELLO) {
		msg_hello_ack_put(&b, &(struct msg_hello_ack){ .version = 9 });
		chan_send(c, b.p, b.n);
	}
	buf_printf(got, "%s;", msg_type_name(type));
	buf_done(&b);
}

static void ignore_event(void *arg, struct chan *c, enum chan_event ev, const struct err *why)
{
}

TEST(an_ack_with_a_version_that_was_not_offered_is_refused)
{
	struct buf got = BUF_INIT(1000);
	const struct chan_handler h = { ack_wrongly, ignore_event, &got };

	world_open(&w, ROLE_LM);
	w.raw_handler = &h;
	world_connect(&w, "lm");
	loop_advance(w.loop, 90 * MS);
	ck_assert_uint_eq(w.a.ups, 0);
	ck_assert_str_eq(w.a.why.text, "HELLO_ACK chooses protocol 9 that was not offered");
	ck_assert_str_eq(buf_str(&got), "hello;error;");
	chan_close(w.raw, NULL);
	w.raw_handler = NULL;
	buf_done(&got);
	world_done(&w);
}

SUITE("link_peer")
