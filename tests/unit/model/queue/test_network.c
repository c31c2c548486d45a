/* SPDX-License-Identifier: Apache-2.0 */
/* Closed networks against formulas, textbooks and each other. */
#include "model/queue/network.h"
#include "tests/suite.h"

#include <math.h>

static struct network_result solve(const struct network *n, bool is_exact)
{
	struct network_result r;
	struct err e = { 0 };
	int rc;

	ck_assert_int_eq(network_result_init(n, &r), 0);
	rc = is_exact ? network_exact(n, &r, &e) : network_approximate(n, &r, &e);
	ck_assert_msg(!rc, "%s", e.text);
	return r;
}

/* The machine repair model M/M/m//N: probabilities by its birth and death rates. */
static double repair_throughput(unsigned clients, unsigned servers, double think, double service)
{
	double p = 1, all = 1, busy = 0;

	for (unsigned i = 0; i < clients; i++) {
		unsigned at_work = i + 1 < servers ? i + 1 : servers;

		p *= (clients - i) / think * service / at_work;
		all += p;
		busy += p * at_work;
	}
	return busy / all / service;
}

TEST(exact_analysis_is_that_of_the_machine_repair_model)
{
	for (unsigned servers = 1; servers < 6; servers++)
		for (unsigned clients = 1; clients < 40; clients += 3) {
			const struct station s = { .kind = STATION_SHARED, .servers = servers };
			const double think = 7, visits = 1, service = 2;
			const struct network n = { .classes = 1,
						   .stations = 1,
						   .population = &clients,
						   .think = &think,
						   .visits = &visits,
						   .service = &service,
						   .station = &s };
			struct network_result r = solve(&n, true);
			double x = repair_throughput(clients, servers, think, service);

			ck_assert_double_eq_tol(r.throughput[0], x, 1e-9 * x);
			network_result_done(&r);
		}
}

/* Balanced stations without thinking: throughput N / (N + K - 1) / D. */
TEST(balanced_networks_have_their_formula)
{
	const struct station s[] = { { .kind = STATION_SHARED, .servers = 1 },
				     { .kind = STATION_SHARED, .servers = 1 },
				     { .kind = STATION_SHARED, .servers = 1 } };
	const double think = 0, visits[] = { 1, 2, 4 }, service[] = { 4, 2, 1 };

	for (unsigned clients = 1; clients < 30; clients++) {
		const struct network n = { .classes = 1,
					   .stations = 3,
					   .population = &clients,
					   .think = &think,
					   .visits = visits,
					   .service = service,
					   .station = s };
		struct network_result r = solve(&n, true);
		double x = clients / (clients + 2.0) / 4;

		ck_assert_double_eq_tol(r.throughput[0], x, 1e-9 * x);
		network_result_done(&r);
	}
}

/* G(N) of a two-class network by summing over all states (Baskett and others, JACM 22, 1975). */
static double product_sum(const double d[2][2], const double think[2], int n0, int n1)
{
	double all = 0;

	for (int a = 0; a <= n0; a++)
		for (int b = 0; a + b <= n0; b++)
			for (int c = 0; c <= n1; c++)
				for (int f = 0; c + f <= n1; f++) {
					int z0 = n0 - a - b, z1 = n1 - c - f;

					all += exp(lgamma(a + c + 1) - lgamma(a + 1) -
						   lgamma(c + 1) + lgamma(b + f + 1) -
						   lgamma(b + 1) - lgamma(f + 1)) *
					       pow(d[0][0], a) * pow(d[0][1], b) * pow(d[1][0], c) *
					       pow(d[1][1], f) * pow(think[0], z0) /
					       tgamma(z0 + 1) * pow(think[1], z1) / tgamma(z1 + 1);
				}
	return all;
}

TEST(two_classes_are_those_of_the_product_form)
{
	const struct station s[] = { { .kind = STATION_SHARED, .servers = 1 },
				     { .kind = STATION_SHARED, .servers = 1 } };
	const double d[2][2] = { { 1, 2 }, { 3, 0.5 } }, think[] = { 4, 2.5 };
	const double visits[] = { 1, 1, 1, 1 }, service[] = { 1, 2, 3, 0.5 };

	for (unsigned a = 1; a < 6; a++)
		for (unsigned b = 1; b < 6; b++) {
			const unsigned clients[] = { a, b };
			const struct network n = { .classes = 2,
						   .stations = 2,
						   .population = clients,
						   .think = think,
						   .visits = visits,
						   .service = service,
						   .station = s };
			struct network_result r = solve(&n, true);
			double g = product_sum(d, think, (int)a, (int)b);
			double x0 = product_sum(d, think, (int)a - 1, (int)b) / g;
			double x1 = product_sum(d, think, (int)a, (int)b - 1) / g;

			ck_assert_double_eq_tol(r.throughput[0], x0, 1e-9 * x0);
			ck_assert_double_eq_tol(r.throughput[1], x1, 1e-9 * x1);
			network_result_done(&r);
		}
}

/* One customer of a class among 19 of another one is the worst case: 2.3 %. */
TEST(the_approximation_is_close_to_the_exact_analysis)
{
	const struct station s[] = { { .kind = STATION_SHARED, .servers = 1 },
				     { .kind = STATION_FCFS, .servers = 1 },
				     { .kind = STATION_DELAY, .servers = 1 } };
	const double think[] = { 10, 0 }, visits[] = { 1, 2, 1, 2, 1, 1 };
	const double service[] = { 1, 0.5, 3, 1.5, 0.5, 2 };

	for (unsigned a = 1; a < 20; a += 3)
		for (unsigned b = 1; b < 20; b += 3) {
			const unsigned clients[] = { a, b };
			const struct network n = { .classes = 2,
						   .stations = 3,
						   .population = clients,
						   .think = think,
						   .visits = visits,
						   .service = service,
						   .station = s };
			struct network_result x = solve(&n, true), y = solve(&n, false);

			for (int c = 0; c < 2; c++)
				ck_assert_double_eq_tol(y.throughput[c], x.throughput[c],
							0.025 * x.throughput[c]);
			network_result_done(&x);
			network_result_done(&y);
		}
}

TEST(bounds_contain_the_exact_throughput)
{
	const struct station s[] = { { .kind = STATION_SHARED, .servers = 1 },
				     { .kind = STATION_SHARED, .servers = 1 },
				     { .kind = STATION_DELAY, .servers = 1 } };
	const double think = 5, visits[] = { 1, 1, 1 }, service[] = { 1, 3, 2 };

	for (unsigned clients = 1; clients < 40; clients++) {
		const struct network n = { .classes = 1,
					   .stations = 3,
					   .population = &clients,
					   .think = &think,
					   .visits = visits,
					   .service = service,
					   .station = s };
		struct network_result r = solve(&n, true);
		double x = r.throughput[0];
		struct network_bounds b;

		network_bounds(&n, &b);
		ck_assert(b.low <= x + 1e-9 && x <= b.high + 1e-9);
		ck_assert(b.balanced_low <= x + 1e-9 && x <= b.balanced_high + 1e-9);
		ck_assert(b.low <= b.balanced_low + 1e-9 && b.balanced_high <= b.high + 1e-9);
		network_result_done(&r);
	}
}

TEST(what_is_no_network_is_refused)
{
	const struct station s = { .kind = STATION_SHARED, .servers = 1 };
	const unsigned clients = 3;
	double think = 0, visits = 1, service = 0;
	const struct network n = { .classes = 1,
				   .stations = 1,
				   .population = &clients,
				   .think = &think,
				   .visits = &visits,
				   .service = &service,
				   .station = &s };
	struct err e = { 0 };

	ck_assert_int_eq(network_check(&n, &e), -ERR_INVALID);
	service = NAN;
	ck_assert_int_eq(network_check(&n, &e), -ERR_INVALID);
	service = 1;
	think = -1;
	ck_assert_int_eq(network_check(&n, &e), -ERR_INVALID);
	think = 0;
	ck_assert_int_eq(network_check(&n, &e), 0);
}

SUITE("network")
