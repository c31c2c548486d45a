/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures of the system about a process and its node as values of reads: exact, with their errors,
 * and missing where the system has none.
 */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/lm/measurement.h"

#include <math.h>

static void load_figure(const char *metric, const char *object)
{
	start = now();
	ck_assert_uint_eq(
		load(&(struct load){ .graph = graph_of(metric, object, ""), .every = SEC })->nentry,
		0);
}

static struct flow_token next_value(uint64_t read)
{
	world_run(&w, SEC);
	return value_of_read(read);
}

static void is_missing(struct flow_token t)
{
	ck_assert(isnan(t.value));
	ck_assert_uint_eq(t.k, 0);
	ck_assert_uint_eq(t.n, 1);
	ck_assert_uint_eq(t.flags, FLOW_MISSING | FLOW_PARTIAL);
}

static void is_exactly(struct flow_token t, double value)
{
	ck_assert_double_eq(t.value, value);
	ck_assert_double_eq(t.error, 0);
	ck_assert_uint_eq(t.k, 1);
	ck_assert_uint_eq(t.flags, 0);
}

/* --- of a process */

TEST(memory_is_what_it_is_now)
{
	struct fake_proc *p = fake_proc_find(&w.host, 100);

	p->resident = 4096000;
	load_figure("Memory_size", rank0);
	is_exactly(next_value(1), 4096000);
	p->resident = 1;
	is_exactly(next_value(2), 1);
	p->resident = -1;
	is_missing(next_value(3));
	p->resident = 512;
	is_exactly(next_value(4), 512);
	ck_assert_ptr_nonnull(
		strstr(entry_text(&world_ask(&w, OBSERVER, ":omig_status()")->entry[0]),
		       "[\"flow_reads\",4]"));
}

TEST(faults_and_switches_count_from_the_start)
{
	static const char *const metrics[] = { "Page_faults", "Context_switches" };
	struct fake_proc *p = fake_proc_find(&w.host, 100);
	int64_t *const counts[] = { &p->faults, &p->switches };

	for (size_t i = 0; i < ARRAY_LEN(metrics); i++) {
		p->faults = 1000;
		p->switches = 2000;
		load_figure(metrics[i], rank0);
		is_exactly(next_value(1), 0);
		*counts[i] += 7;
		is_exactly(next_value(2), 7);
		*counts[1 - i] += 100;
		is_exactly(next_value(3), 7);
		*counts[i] = -1;
		is_missing(next_value(4));
	}
}

TEST(calls_and_bytes_of_files_count_from_the_start)
{
	static struct host_figures own;
	const struct {
		const char *metric;
		int64_t *count;
	} io[] = {
		{ "Read_count", &own.read_calls },     { "Read_volume", &own.read_bytes },
		{ "Write_count", &own.write_calls },   { "Write_volume", &own.write_bytes },
		{ "Disk_read", &own.disk_read_bytes }, { "Disk_written", &own.disk_written_bytes },
	};

	fake_proc_find(&w.host, 100)->figures = &own;
	for (size_t i = 0; i < ARRAY_LEN(io); i++) {
		for (size_t k = 0; k < ARRAY_LEN(io); k++)
			*io[k].count = 1000;
		load_figure(io[i].metric, rank0);
		is_exactly(next_value(1), 0);
		for (size_t k = 0; k < ARRAY_LEN(io); k++)
			*io[k].count += k == i ? 4096 : 1;
		is_exactly(next_value(2), 4096);
		*io[i].count = -1; /* the kernel refuses, or does not count */
		is_missing(next_value(3));
	}
	fake_proc_find(&w.host, 100)->figures = NULL;
}

TEST(delays_are_differences_and_the_clock_is_what_it_is_now)
{
	static struct host_figures own;
	const struct {
		const char *metric;
		double *figure, first, error;
	} rows[] = {
		{ "Run_delay", &own.run_delay_s, 0, 0 },
		{ "Block_delay", &own.block_delay_s, 0, 0.02 },
		{ "Throttled_time", &own.throttled_s, 0, 0 },
		{ "Core_frequency", &own.frequency_hz, 40, 0 },
	};

	fake_proc_find(&w.host, 100)->figures = &own;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct flow_token t;

		own.run_delay_s = own.block_delay_s = own.throttled_s = own.frequency_hz = 40;
		load_figure(rows[i].metric, rank0);
		t = next_value(1);
		ck_assert_double_eq(t.value, rows[i].first);
		ck_assert_double_eq(t.error, rows[i].error);
		*rows[i].figure += 0.25;
		ck_assert_double_eq(next_value(2).value, rows[i].first + 0.25);
		*rows[i].figure = -1; /* not 0: the kernel does not count it */
		is_missing(next_value(3));
	}
	fake_proc_find(&w.host, 100)->figures = NULL;
}

TEST(the_share_of_a_processor_is_of_the_time_since_the_last_read)
{
	struct fake_proc *p = fake_proc_find(&w.host, 100);
	struct flow_token t;

	load_figure("CPU_usage", rank0);
	next_value(1);
	p->used_s += 0.5;
	t = next_value(2);
	ck_assert_double_eq_tol(t.value, 50, 1e-6);
	ck_assert_double_eq_tol(t.error, 4, 1e-6); /* four steps of 10 ms in a second */
	p->used_s += 2; /* of two processors */
	ck_assert_double_eq_tol(next_value(3).value, 200, 1e-6);
	ck_assert_double_eq_tol(next_value(4).value, 0, 1e-6);
}

/* --- of the node */

/* Each of them is unknown once, the others being known. */
TEST(figures_unknown_to_the_system_are_missing)
{
	struct host_now state = { .load1 = 1.5,
				  .available_pages = 10,
				  .free_swap_pages = 20,
				  .cpu_some = 30,
				  .memory_some = 40,
				  .io_some = 50 };
	const struct {
		const char *metric;
		double value, *share;
		int64_t *pages;
	} rows[] = {
		{ "Node_load", 1.5, &state.load1, NULL },
		{ "Node_memory_free", 40960, NULL, &state.available_pages },
		{ "Node_swap_free", 81920, NULL, &state.free_swap_pages },
		{ "Node_cpu_pressure", 30, &state.cpu_some, NULL },
		{ "Node_memory_pressure", 40, &state.memory_some, NULL },
		{ "Node_io_pressure", 50, &state.io_some, NULL },
	};

	w.host.state = &state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct host_now before = state;

		load_figure(rows[i].metric, "n_7");
		is_exactly(next_value(1), rows[i].value);
		if (rows[i].share)
			*rows[i].share = -1;
		else
			*rows[i].pages = -1;
		is_missing(next_value(2));
		state = before;
		is_exactly(next_value(3), rows[i].value);
		if (rows[i].share)
			*rows[i].share = 0;
		else
			*rows[i].pages = 0;
		is_exactly(next_value(4), 0);
		state = before;
	}
}

TEST(bytes_of_links_and_disks_are_their_own_counts)
{
	static const struct {
		const char *metric;
		enum host_count count;
	} rows[] = {
		{ "Node_network_in", HOST_BYTES_RECEIVED },
		{ "Node_network_out", HOST_BYTES_SENT },
		{ "Node_disk_read", HOST_DISK_BYTES_READ },
		{ "Node_disk_written", HOST_DISK_BYTES_WRITTEN },
	};
	int64_t count[HOST_NCOUNTS] = { 0 };

	w.host.count = count;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		load_figure(rows[i].metric, "n_7");
		is_exactly(next_value(1), 0);
		for (int k = 0; k < HOST_NCOUNTS; k++)
			count[k] += k == (int)rows[i].count ? 11 : 1000;
		is_exactly(next_value(2), 11);
		count[rows[i].count] = -1;
		is_missing(next_value(3));
		count[rows[i].count] = 0;
	}
}

struct ticks {
	int64_t user, kernel, idle, wait, steal;
};

static void spend(int64_t *count, struct ticks t)
{
	count[HOST_CPU_USER] += t.user;
	count[HOST_CPU_SYSTEM] += t.kernel;
	count[HOST_CPU_IDLE] += t.idle;
	count[HOST_CPU_IOWAIT] += t.wait;
	count[HOST_CPU_STEAL] += t.steal;
}

/* Four processors: in a second 400 ticks. */
TEST(the_share_of_the_processors_is_that_of_all_their_ticks)
{
	int64_t count[HOST_NCOUNTS] = { 0 };
	struct flow_token t;

	w.host.count = count;
	spend(count, (struct ticks){ 5000, 1000, 90000, 300, 20 });
	load_figure("Node_cpu_usage", "n_7");
	next_value(1);
	spend(count, (struct ticks){ 80, 20, 250, 40, 10 });
	t = next_value(2);
	ck_assert_double_eq_tol(t.value, 25, 1e-9);
	ck_assert_double_eq_tol(t.error, 0.5, 1e-9); /* two ticks of 400 */
	spend(count, (struct ticks){ 300, 100, 0, 0, 0 });
	ck_assert_double_eq_tol(next_value(3).value, 100, 1e-9);
	spend(count, (struct ticks){ 0, 0, 0, 0, 400 });
	ck_assert_double_eq_tol(next_value(4).value, 0, 1e-9);
	is_missing(next_value(5)); /* no tick has passed */
	spend(count, (struct ticks){ 100, 0, 100, 0, 0 });
	ck_assert_double_eq_tol(next_value(6).value, 50, 1e-9);
}

TEST(time_stolen_from_the_processors_counts_from_the_start)
{
	int64_t count[HOST_NCOUNTS] = { 0 };

	w.host.count = count;
	count[HOST_CPU_STEAL] = 5000;
	load_figure("Node_steal", "n_7");
	ck_assert_double_eq(next_value(1).value, 0);
	count[HOST_CPU_STEAL] += 130;
	ck_assert_double_eq_tol(next_value(2).value, 1.3, 1e-9);
	count[HOST_CPU_STEAL] = -1;
	is_missing(next_value(3));
}

/* Two of four processors are busy, one of them with rank 0. */
TEST(foreign_processors_are_busy_ones_without_watched_processes)
{
	int64_t count[HOST_NCOUNTS] = { 0 };
	struct fake_proc *p = fake_proc_find(&w.host, 100);
	struct flow_token t;

	w.host.count = count;
	load_figure("Node_foreign_cpu", "n_7");
	next_value(1);
	spend(count, (struct ticks){ 150, 50, 200, 0, 0 });
	p->used_s += 1;
	t = next_value(2);
	ck_assert_double_eq_tol(t.value, 1, 1e-6);
	ck_assert_double_gt(t.error, 0.02);
	ck_assert_double_lt(t.error, 0.1);
	spend(count, (struct ticks){ 100, 0, 300, 0, 0 });
	p->used_s += 1;
	ck_assert_double_eq_tol(next_value(3).value, 0, 1e-6);
	spend(count, (struct ticks){ 300, 0, 100, 0, 0 });
	ck_assert_double_eq_tol(next_value(4).value, 3, 1e-6);
	count[HOST_CPU_USER] = -1;
	is_missing(next_value(5));
}

/* Its last part may have been used after it was seen last. */
TEST(the_end_of_a_watched_process_widens_the_bound_of_foreign_processors)
{
	int64_t count[HOST_NCOUNTS] = { 0 };
	struct flow_token t;

	w.host.count = count;
	load_figure("Node_foreign_cpu", "n_7");
	next_value(1);
	spend(count, (struct ticks){ 100, 0, 300, 0, 0 });
	fake_proc_find(&w.host, 200)->used_s += 0.5;
	fake_proc_end(fake_proc_find(&w.host, 200), 0);
	t = next_value(2);
	ck_assert_double_ge(t.value + 1e-6, 0.5);
	ck_assert_double_le(t.value - t.error, 0.5);
	spend(count, (struct ticks){ 100, 0, 300, 0, 0 });
	t = next_value(3);
	ck_assert_double_eq_tol(t.value, 1, 1e-6);
	ck_assert_double_lt(t.error, 0.1);
}

/* Old kernels have neither wait nor steal; without idle nothing is known. */
TEST(the_share_of_the_processors_needs_their_idle_time)
{
	int64_t count[HOST_NCOUNTS] = { 0 };

	w.host.count = count;
	count[HOST_CPU_IOWAIT] = count[HOST_CPU_STEAL] = -1;
	load_figure("Node_cpu_usage", "n_7");
	next_value(1);
	count[HOST_CPU_USER] += 30;
	count[HOST_CPU_IDLE] += 70;
	ck_assert_double_eq_tol(next_value(2).value, 30, 1e-9);
	count[HOST_CPU_IDLE] = -1;
	is_missing(next_value(3));
}

/* A process that has ended retains its sums, and has no state. */
TEST(of_a_process_that_has_ended_only_totals_stay)
{
	static const struct {
		const char *metric;
		bool stays;
	} rows[] = { { "Page_faults", true }, { "Memory_size", false } };
	struct fake_proc *p = fake_proc_find(&w.host, 100);

	p->resident = 4096;
	load_figure(rows[0].metric, rank0);
	p->faults += 3;
	is_exactly(next_value(1), 3);
	fake_proc_end(p, 0);
	ck_assert_double_eq(next_value(2).value, 3);
	load_figure(rows[1].metric, rank1);
	p = fake_proc_find(&w.host, 200);
	p->resident = 8192;
	is_exactly(next_value(1), 8192);
	fake_proc_end(p, 0);
	ck_assert(isnan(next_value(2).value));
}

SUITE_WITH("figures", set_up, clean_up)
