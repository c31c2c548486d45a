/* SPDX-License-Identifier: Apache-2.0 */
/* The same layers as processes of the system, and the bytes between them. */
#include "common/base/array.h"
#include "neko/fd.h"
#include "neko/realwire.h"
#include "neko/run.h"
#include "tests/suite.h"

#include <string.h>

#define ATTEMPTS 20 /* of a run that a loaded machine may have kept from seeing what it should */

/* A run of a second or two; 60 s are for a machine that does something else most of the time. */
static struct run *real(const char *text, struct setup **s, struct run_figures *f)
{
	struct run_wish w = { .deadline = clock_mono() + 60 * NSEC_PER_SEC };
	struct err e = { 0 };
	struct run *r = NULL;

	ck_assert_msg(setup_parse(text, strlen(text), s, &e) == 0, "%s", e.text);
	ck_assert_msg(run_new(*s, &r, &e) == 0, "%s", e.text);
	ck_assert_msg(run_real(r, &w, f, &e) == 0, "%s", e.text);
	return r;
}

static const struct moments *moments_of(const struct run *r, const char *name)
{
	struct stat_result v[STAT_QUANTITIES_MAX];
	size_t n = run_results(r, v), i;

	for (i = 0; i < n; i++)
		if (strcmp(quantity_name(v[i].quantity), name) == 0)
			return quantity_moments(v[i].quantity);
	ck_abort_msg("there is no %s", name);
}

/* A heartbeat that is awaited at the moment when it is sent is always late: each one makes a mistake. */
START_TEST(layers_of_a_simulation_run_as_processes_and_their_handler_stops_them)
{
	static const char text[] =
		"process.num = 3\nprocess.1.initializer = heartbeat\nprocess.2-3.initializer = "
		"nfd-s\n"
		"network = n, other\nnetwork.n.delay = constant(1s)\nnetwork.other.delay = "
		"constant(1s)\n"
		"fd.eta = 5ms\nfd.delta = 0s\nfd.network = 2\nstat.stop = n >= 20\n";
	struct run_figures f;
	struct setup *s;
	struct run *r = real(text, &s, &f);

	ck_assert(f.is_real && f.is_stopped && !f.is_cut);
	ck_assert_uint_eq(f.missing, 0);
	ck_assert_uint_eq(f.stuck, 0);
	ck_assert_uint_ge(f.sent, 20);
	ck_assert_uint_ge(f.delivered, 10);
	ck_assert_uint_ge(moments_of(r, "T_M")->n, 20);
	ck_assert_uint_ge(moments_of(r, "delay")->n, 10);
	ck_assert_double_ge(moments_of(r, "delay")->min, 0);
	run_free(r);
	setup_free(s);
}
END_TEST

static bool is_detected(void)
{
	static const char text[] =
		"process.num = 2\nprocess.1.initializer = heartbeat\nprocess.2.initializer = phi\n"
		"process.1.crash = 200ms\nnetwork = n\nnetwork.n.delay = constant(1s)\n"
		"fd.eta = 5ms\nsimulation.until = 400ms\n";
	struct run_figures f;
	struct setup *s;
	struct run *r = real(text, &s, &f);
	bool is = moments_of(r, "T_D")->n == 1;

	ck_assert_uint_eq(f.missing, 0); /* it was to crash */
	ck_assert_uint_le(moments_of(r, "T_D")->n, 1);
	run_free(r);
	setup_free(s);
	return is;
}

START_TEST(a_process_that_is_killed_is_detected)
{
	unsigned i;

	for (i = 0; i < ATTEMPTS && !is_detected(); i++)
		;
	ck_assert_uint_lt(i, ATTEMPTS);
}
END_TEST

START_TEST(a_real_run_is_checked_as_a_simulated_one_is)
{
	static const char bad[] = "process.num = 2\nprocess.1.initializer = "
				  "heartbeat\nprocess.2.initializer = nfd-s\n"
				  "network = n\nnetwork.n.delay = constant(1s)\nsimulation.until = "
				  "1s\nfd.aeta = 1s\n";
	static const char large[] = "process.num = 300\nprocess.initializer = none\nnetwork = n\n"
				    "network.n.delay = constant(1s)\nsimulation.until = 1s\n";
	static const char *const text[] = { bad, large };
	static const int codes[] = { -ERR_NOTFOUND, -ERR_LIMIT };
	size_t i;

	for (i = 0; i < ARRAY_LEN(text); i++) {
		struct run_wish w = { 0 };
		struct setup *s = NULL;
		struct run_figures f;
		struct run *r = NULL;
		struct err e = { 0 };

		ck_assert_int_eq(setup_parse(text[i], strlen(text[i]), &s, &e), 0);
		ck_assert_int_eq(run_new(s, &r, &e), 0);
		ck_assert_int_eq(run_real(r, &w, &f, &e), codes[i]);
		run_free(r);
		setup_free(s);
	}
}
END_TEST

/* --- bytes */

static const struct neko_world_ops no_ops;

START_TEST(datagrams_that_are_not_of_this_run_are_nothing)
{
	struct neko_world w = { 0 };
	struct neko_msg *m, *got;
	uint8_t bytes[REALWIRE_HEADER_BYTES + 5];
	size_t n, i;

	ck_assert_int_eq(world_init(&w, &no_ops, 3, 1, NULL), 0);
	w.type_name[FD_HEARTBEAT] = "heartbeat";
	m = world_msg_new(&w, 1, 5);
	m->from = 2;
	m->type = FD_HEARTBEAT;
	m->sent_at = 77;
	memcpy(m->content, "hello", 5);
	n = realwire_datagram(bytes, 42, 3, m);
	ck_assert_uint_eq(n, sizeof(bytes));
	got = realwire_message(&w, 42, 3, 1, bytes, n);
	ck_assert_ptr_nonnull(got);
	ck_assert(got->from == 2 && got->to == 3 && got->net == 1 && got->sent_at == 77 &&
		  got->n == 5);
	ck_assert_mem_eq(got->content, "hello", 5);
	world_msg_unref(&w, got);
	ck_assert_ptr_null(realwire_message(&w, 43, 3, 1, bytes, n));
	ck_assert_ptr_null(realwire_message(&w, 42, 2, 1, bytes, n));
	for (i = 0; i < n; i++)
		ck_assert_ptr_null(realwire_message(&w, 42, 3, 1, bytes, i));
	bytes[8] = 4; /* from a process that is none */
	ck_assert_ptr_null(realwire_message(&w, 42, 3, 1, bytes, n));
	bytes[8] = 2;
	bytes[24] ^= 1; /* a type that nobody declared */
	ck_assert_ptr_null(realwire_message(&w, 42, 3, 1, bytes, n));
	world_msg_unref(&w, m);
	world_done(&w);
}
END_TEST

static void count_event(void *arg, const struct neko_event *v)
{
	unsigned *n = arg;

	ck_assert_str_eq(v->what, "heard");
	ck_assert(v->at == 5 && v->content == 0.25);
	++*n;
}

START_TEST(blocks_are_read_when_they_are_whole_and_refused_when_they_are_none)
{
	struct realwire_block b = { .until = 9,
				    .sent = 3,
				    .delivered = 2,
				    .count = 2,
				    .stuck = 1,
				    .is_last = true },
			      got;
	struct neko_event v = { 1, 5, "heard", 0.25 };
	struct buf out = BUF_INIT(1000);
	size_t used, i;
	unsigned n = 0;

	realwire_block(&out, &b);
	realwire_event(&out, &v);
	realwire_event(&out, &v);
	realwire_end(&out, 0);
	for (i = 0; i < out.n; i++) {
		ck_assert_int_eq(realwire_read(out.p, i, &used, &got, count_event, &n), 0);
		ck_assert(used == 0 && n == 0);
	}
	ck_assert_int_eq(realwire_read(out.p, out.n, &used, &got, count_event, &n), 0);
	ck_assert(used == out.n && n == 2 && got.until == 9 && got.sent == 3 && got.stuck == 1 &&
		  got.is_last);
	ck_assert(!got.wants_stop);
	out.p[28]++; /* one event more than there are */
	ck_assert_int_eq(realwire_read(out.p, out.n, &used, &got, count_event, &n), -ERR_PROTO);
	out.p[28] -= 2; /* one less */
	ck_assert_int_eq(realwire_read(out.p, out.n, &used, &got, count_event, &n), -ERR_PROTO);
	out.p[3] = 0xff; /* longer than any */
	ck_assert_int_eq(realwire_read(out.p, out.n, &used, &got, count_event, &n), -ERR_PROTO);
	buf_done(&out);
}
END_TEST

SUITE("real", layers_of_a_simulation_run_as_processes_and_their_handler_stops_them,
      a_process_that_is_killed_is_detected, a_real_run_is_checked_as_a_simulated_one_is,
      datagrams_that_are_not_of_this_run_are_nothing,
      blocks_are_read_when_they_are_whole_and_refused_when_they_are_none)
