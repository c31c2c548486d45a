/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared lines compared with known results: formulas and bounds of their inventors. The figures are
 * printed.
 */
#include "neko/simulated/medium.h"
#include "neko/run/run.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "common/base/array.h"
#include "tests/unit/neko/run/run_text.h"

#include <math.h>
#include <string.h>

#define MS INT64_C(1000000)
#define US INT64_C(1000)

static struct medium *made(const struct medium_conf *c, uint32_t n)
{
	struct medium *m = NULL;
	struct err e = { 0 };

	ck_assert_msg(medium_new(c, n, 7, &m, &e) == 0, "%s", e.text);
	return m;
}

static struct medium_conf usual(const char *name)
{
	struct medium_conf c = { 0 };

	ck_assert(medium_usual(name, &c));
	return c;
}

static void forget(void *arg, void *what)
{
	++*(unsigned *)arg;
}

static void unmake(struct medium *m)
{
	unsigned n = 0;

	medium_free(m, forget, &n);
}

/*
 * All stations always have another frame: two at first, then one for each sent. Until `until`;
 * returns frames sent.
 */
static uint64_t saturate(struct medium *m, uint32_t n, size_t bytes, nsec_t until)
{
	struct medium_frame f;
	uint64_t sent = 0;

	for (uint32_t i = 0; i < 2 * n; i++)
		ck_assert_int_eq(medium_put(m, 0, i % n + 1, bytes, &sent), 0);
	while (medium_next(m) < until) {
		nsec_t now = medium_next(m);

		if (!medium_step(m, &f))
			continue;
		sent += !f.is_given_up;
		ck_assert_ptr_eq(f.what, &sent);
		ck_assert_int_eq(medium_put(m, now, f.station, bytes, &sent), 0);
	}
	return sent;
}

/*
 * Metcalfe and Boggs (CACM 19(7), 1976), for k stations that all have frames. A slot is a success
 * with the chance A = (1 - 1/k)^(k-1). A frame waits W = (1 - A)/A slots, and E = P / (P + W T).
 * That is for stations without memory of the last sender. Backoff gives the last sender an
 * advantage (capture: Ramakrishnan and Yang, LCN 1994). So the line is at least as efficient, as
 * Boggs, Mogul and Kent (SIGCOMM 1988) have measured.
 */
TEST(ethernet_is_at_least_as_efficient_as_metcalfe_and_boggs_say)
{
	static const size_t bytes[] = { 1024 - 26, 512 - 26, 64 - 26 };
	struct medium_conf c = usual("ethernet");

	c.gap = 0; /* the formula has none */
	for (size_t i = 0; i < 3; i++)
		for (uint32_t k = 2; k <= 64; k *= 2) {
			struct medium *m = made(&c, k);
			double took = 8.0 * ((double)bytes[i] + 26) / 1e7,
			       a = pow(1 - 1.0 / k, k - 1.0), w = (1 - a) / a,
			       theory = took / (took + w * 51.2e-6);
			double seen = (double)saturate(m, k, bytes[i], 3000 * MS) * took / 3;

			printf("# ethernet, %u stations, %zu bytes: %.3f, by formula %.3f\n", k,
			       bytes[i] + 26, seen, theory);
			ck_assert_msg(seen > 0.95 * theory && seen <= 1, "%u stations: %g, not %g",
				      k, seen, theory);
			unmake(m);
		}
}

/*
 * Two that begin at once collide for sure, again with the chance 1/2, then 1/4, and so on. That
 * makes 1 + 1/2 + 1/2 1/4 + ... = 1.6416 collisions.
 */
TEST(two_ethernet_stations_collide_with_the_backoff_rate)
{
	struct medium_conf c = usual("ethernet");
	double theory = 1, chance = 1, seen;
	uint64_t collisions = 0;
	unsigned n = 10000;

	for (unsigned i = 1; i < 10; i++) {
		chance /= (double)(1u << i);
		theory += chance;
	}
	for (unsigned i = 0; i < n; i++) {
		struct medium *m = NULL;
		struct medium_frame f;

		ck_assert_int_eq(medium_new(&c, 2, i, &m, NULL), 0);
		ck_assert_int_eq(medium_put(m, 0, 1, 100, &f), 0);
		ck_assert_int_eq(medium_put(m, 0, 2, 100, &f), 0);
		while (medium_next(m) != INT64_MAX)
			medium_step(m, &f);
		collisions += medium_counts(m)->collisions;
		ck_assert_uint_eq(medium_counts(m)->frames, 2);
		unmake(m);
	}
	seen = (double)collisions / n;
	printf("# ethernet, two at once: %.4f collisions, by formula %.4f\n", seen, theory);
	/* Six times their deviation of 0.8. */
	ck_assert_msg(fabs(seen - theory) < 6 * 0.8 / sqrt(n), "%g, not %g", seen, theory);
}

TEST(a_single_station_of_an_ethernet_never_waits)
{
	struct medium_conf c = usual("ethernet");
	struct medium *m = made(&c, 3);
	/* 100 + 26 bytes at 10 Mbit/s, and the gap. */
	nsec_t each = 100800 + 9600;

	/* Before a frame half a slot passes without another station: it is a part of it. */
	ck_assert_uint_eq(saturate(m, 1, 100, 1000 * each), 1000);
	ck_assert_uint_eq(medium_counts(m)->collisions, 0);
	unmake(m);
}

/* A frame shorter than a slot would end before a collision is detected. */
TEST(a_short_frame_is_filled_up)
{
	struct medium_conf c = usual("ethernet");
	struct medium *m = made(&c, 2);
	struct medium_frame f;

	ck_assert_int_eq(medium_put(m, 0, 1, 1, &f), 0);
	while (!medium_step(m, &f))
		;
	ck_assert_int_eq(medium_next(m), INT64_MAX);
	ck_assert_int_eq(medium_put(m, 51200, 1, 1, &f), 0);
	ck_assert_int_eq(medium_next(m), 51200 + 9600);
	unmake(m);
}

/* With as many stations as a backoff of 1024 slots cannot part some frames are given up. */
TEST(after_sixteen_collisions_a_frame_is_given_up)
{
	struct medium_conf c = usual("ethernet");
	struct medium *m = made(&c, 2000);

	saturate(m, 2000, 46, 500 * MS);
	ck_assert_uint_gt(medium_counts(m)->given_up, 0);
	unmake(m);
}

/* --- CSMA-DCR */

/*
 * The maximum of collisions and empty slots in a search of q leaves with k senders, its first
 * collision included.
 */
static unsigned worst(unsigned k, unsigned q)
{
	unsigned most = 0;

	if (k == 0)
		return 1;
	if (k == 1)
		return 0;
	for (unsigned left = k > q / 2 ? k - q / 2 : 0; left <= k && left <= q / 2; left++) {
		unsigned n = worst(left, q / 2) + worst(k - left, q / 2);

		most = n > most ? n : most;
	}
	return 1 + most;
}

static uint64_t slots_of(const uint32_t *stations, unsigned k, uint32_t q)
{
	struct medium_conf c = usual("csma_dcr");
	struct medium *m = made(&c, q);
	struct medium_frame f;
	unsigned sent = 0;
	uint64_t slots;

	for (unsigned i = 0; i < k; i++)
		ck_assert_int_eq(medium_put(m, 0, stations[i], 100, &f), 0);
	while (medium_next(m) != INT64_MAX)
		sent += medium_step(m, &f);
	ck_assert_uint_eq(sent, k);
	ck_assert_uint_eq(medium_counts(m)->epochs, 1);
	slots = medium_counts(m)->epoch_slots_most;
	ck_assert_uint_eq(slots, medium_counts(m)->collisions + medium_counts(m)->empty);
	unmake(m);
	return slots;
}

TEST(a_collision_of_csma_dcr_is_resolved_within_its_bound)
{
	static const uint32_t last_two[] = { 15, 16 }, first_two[] = { 1, 2 }, halves[] = { 1, 9 };
	uint32_t most[9] = { 0 };

	ck_assert_uint_eq(worst(2, 16), 2 * 4 - 1); /* 2 log2 q - 1 */
	ck_assert_uint_eq(slots_of(last_two, 2, 16), 7);
	ck_assert_uint_eq(slots_of(first_two, 2, 16), 7);
	ck_assert_uint_eq(slots_of(halves, 2, 16), 1);
	/* Each set of eight stations, and the worst of each size reaches the bound. */
	for (uint32_t set = 1; set < 1u << 8; set++) {
		uint32_t who[8];
		unsigned n = 0;
		uint64_t slots;

		for (unsigned k = 0; k < 8; k++)
			if (set >> k & 1)
				who[n++] = k + 1;
		if (n < 2)
			continue;
		slots = slots_of(who, n, 8);
		ck_assert_uint_le(slots, worst(n, 8));
		if (slots > most[n])
			most[n] = (uint32_t)slots;
	}
	for (unsigned k = 2; k <= 8; k++) {
		printf("# csma_dcr, %u of 8 collide: %u slots at the most, bound %u\n", k, most[k],
		       worst(k, 8));
		ck_assert_uint_eq(most[k], worst(k, 8));
	}
}

/*
 * Sixteen that always have frames: each epoch has 15 collisions, 16 frames, and waits are at most
 * two epochs.
 */
TEST(csma_dcr_under_load_is_fair_and_exact)
{
	struct medium_conf c = usual("csma_dcr");
	struct medium *m = made(&c, 16);
	nsec_t frame = 8 * (1000 + 26) * 100, epoch = 16 * (frame + c.gap) + 15 * c.slot;
	uint64_t sent = saturate(m, 16, 1000, 1000 * epoch);

	ck_assert_msg(sent >= 999 * 16 && sent <= 1000 * 16, "%llu frames",
		      (unsigned long long)sent);
	ck_assert_uint_eq(medium_counts(m)->empty, 0);
	ck_assert_uint_eq(medium_counts(m)->epoch_slots_most, 15);
	unmake(m);
}

/* --- FDDI */

/*
 * Jain (Performance Analysis of FDDI Token Ring Networks, SIGCOMM 1990): n stations that always
 * have frames, a ring of the latency D and the target T: n (T - D) / (n T + D). The token is never
 * longer under way than 2 T, on average T at the most (Johnson 1987).
 */
TEST(the_token_keeps_its_time_and_the_ring_its_efficiency)
{
	static const struct {
		uint32_t n;
		nsec_t ttrt, hop;
	} ring[] = {
		{ 20, 8 * MS, 5 * US },	   { 100, 8 * MS, 10 * US }, { 5, 4 * MS, 100 * US },
		{ 50, 20 * MS, 100 * US }, { 1, 4 * MS, 50 * US },   { 200, 8 * MS, 20 * US }
	};

	for (size_t i = 0; i < ARRAY_LEN(ring); i++) {
		struct medium_conf c = usual("fddi");
		double n = ring[i].n, t = (double)ring[i].ttrt / 1e9,
		       d = n * (double)ring[i].hop / 1e9, theory = n * (t - d) / (n * t + d), seen;
		const struct medium_counts *counts;
		struct medium *m;

		c.ttrt = ring[i].ttrt;
		c.hop = ring[i].hop;
		m = made(&c, ring[i].n);
		seen = (double)saturate(m, ring[i].n, 100 - 28, 4000 * MS) * 8e-6 / 4;
		counts = medium_counts(m);
		printf("# fddi, %u stations, ttrt %lld us, ring %.0f us: %.4f, by formula %.4f; "
		       "rotation %.3f ttrt, at the most %.3f\n",
		       ring[i].n, (long long)(ring[i].ttrt / US), d * 1e6, seen, theory,
		       (double)counts->rotation_sum / (double)counts->rotations / (double)c.ttrt,
		       (double)counts->rotation_most / (double)c.ttrt);
		ck_assert_msg(fabs(seen - theory) < 0.01 * theory, "%g, not %g", seen, theory);
		ck_assert_int_le(counts->rotation_most, 2 * c.ttrt);
		ck_assert_int_le(counts->rotation_sum / (nsec_t)counts->rotations, c.ttrt);
		unmake(m);
	}
}

/* Synchronous frames go with each token, whatever the load of others. */
TEST(synchronous_frames_wait_at_most_two_rotations)
{
	struct medium_conf c = usual("fddi");
	struct medium *m;
	struct medium_frame f;
	nsec_t last = 0, most = 0;
	int number = 0;

	c.sync = 300 * US;
	m = made(&c, 20);
	for (uint32_t i = 1; i <= 20; i++)
		ck_assert_int_eq(medium_put(m, 0, i, 972, &number), 0);
	while (medium_next(m) < 5000 * MS) {
		nsec_t now = medium_next(m);

		if (!medium_step(m, &f))
			continue;
		ck_assert_int_eq(medium_put(m, now, f.station, 972, &number), 0);
		if (f.station != 13)
			continue;
		most = now - last > most ? now - last : most;
		last = now;
	}
	ck_assert_int_le(most, 2 * c.ttrt);
	ck_assert_int_le(medium_counts(m)->rotation_most, 2 * c.ttrt);
	unmake(m);
}

/* A ring that was idle for an hour: the token is at its computed place. */
TEST(a_quiet_ring_costs_nothing)
{
	struct medium_conf c = usual("fddi");
	struct medium *m = made(&c, 10);
	struct medium_frame f;
	nsec_t hour = 3600 * INT64_C(1000000000), at;
	unsigned steps = 0;

	ck_assert_int_eq(medium_next(m), INT64_MAX);
	ck_assert_int_eq(medium_put(m, hour + 123, 5, 72, &f), 0);
	at = medium_next(m);
	ck_assert(at >= hour + 123 && at < hour + 123 + c.hop);
	for (; !medium_step(m, &f); steps++)
		at = medium_next(m);
	ck_assert(steps <= 11 && at <= hour + 123 + 10 * c.hop + 8000);
	ck_assert_int_eq(medium_way(m, 5, 2), 7 * c.hop);
	ck_assert_int_eq(medium_way(m, 5, 5), 10 * c.hop);
	unmake(m);
}

/* --- in a run */

#define RUN(medium)                                                                            \
	"process.num = 4\nprocess.initializer = broadcast\nnetwork = lan\nnetwork.lan.medium " \
	"= " medium "\nbroadcast.every = 10ms\nbroadcast.until = 2s\nsimulation.until = 15s\n"

TEST(algorithms_run_over_each_of_them_and_the_same_from_a_seed)
{
	static const char *const text[] = {
		RUN("ethernet"), RUN("csma_dcr") "network.lan.loss = 0.1\n",
		RUN("fddi") "network.lan.partition = 1s..2s: 1 | 2-4\n"
	};

	for (size_t i = 0; i < 3; i++) {
		struct run_counts one, two;
		struct err e = { 0 };

		ck_assert_msg(run_text(text[i], &one, &e) == 0, "%s", e.text);
		ck_assert_msg(!one.broken, "row %zu", i);
		ck_assert_int_eq(run_text(text[i], &two, &e), 0);
		ck_assert_uint_eq(one.hash, two.hash);
		ck_assert_uint_gt(one.delivered, 2000);
		ck_assert(i == 0 ? one.delivered == one.sent : one.delivered < one.sent);
	}
}

TEST(invalid_setting_of_a_shared_line_is_reported)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ RUN("tokenring"), "there is no 'tokenring': ethernet, csma_dcr, fddi" },
		{ RUN("ethernet") "network.lan.delay = constant(1ms)\n",
		  "the medium of a shared line determines its delay" },
		{ RUN("ethernet") "network.lan.ttrt = 1ms\n", "this run does not use" },
		{ RUN("ethernet") "network.lan.duplicate = 0.1\n",
		  "does not duplicate, reorder or resend" },
		{ RUN("ethernet") "network.lan.slot = 0s\n", "slot of 2 ns to" },
		{ RUN("ethernet") "network.lan.slot = 30000000s\n", "slot of 2 ns to" },
		{ RUN("fddi") "network.lan.ttrt = 3us\n", "raise ttrt" },
		{ RUN("fddi") "network.lan.sync = 3ms\n", "more than ttrt" },
		{ RUN("fddi") "network.lan.rate = 0.5\n", "a rate in bits/s" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct run_counts f;
		struct err e = { 0 };

		ck_assert_msg(run_text(bad[i].text, &f, &e) < 0, "row %zu", i);
		ck_assert_msg(strstr(e.text, bad[i].says), "row %zu says: %s", i, e.text);
	}
}

TEST(without_memory_a_run_over_a_line_reports_that)
{
	ALLOC_SWEEP (k) {
		struct run_counts f;
		struct err e = { 0 };
		int rc = run_text("process.num = 3\nprocess.initializer = heartbeat\nnetwork = a\n"
				  "network.a.medium = fddi\nsimulation.until = 3s\n",
				  &f, &e);

		alloc_sweep_pause();
		ck_assert(!rc || e.text[0]);
	}
}

SUITE("medium")
