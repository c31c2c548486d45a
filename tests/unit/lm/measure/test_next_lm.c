/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements on a host whose lm is killed, or ends, and whose next lm continues them. */
#include "common/base/file.h"
#include "tests/suite.h"
#include "tests/unit/lm/measurement.h"

#include <stdlib.h>
#include <unistd.h>

static char dir[64], baselines[96];
static struct buf left = BUF_INIT(1 << 16);

static void begin_with_bases(void)
{
	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(baselines, sizeof(baselines), "%s/bases", dir);
	world_crash_lm(&w);
	w.baselines = baselines;
	world_start_lm(&w);
	above_skip_all(&w.mainsm);
}

/* is_killed: files and the segment are as they were at that moment. */
static void next_lm(bool is_killed)
{
	uint32_t word = fake_segment_hook(&seg, "MPI_Send");

	buf_clear(&left);
	ck_assert_int_eq(file_read(baselines, 1 << 16, 0, &left, NULL), 0);
	world_crash_lm(&w);
	if (is_killed) {
		ck_assert_int_eq(file_write_atomic(baselines, left.p, left.n, NULL), 0);
		fake_segment_set_hook(&seg, "MPI_Send", word);
	}
	world_start_lm(&w);
	above_skip_all(&w.mainsm);
}

static void end_bases(void)
{
	unlink(baselines);
	rmdir(dir);
	buf_done(&left);
}

static void load_again(const char *graph)
{
	uint64_t read = (uint64_t)((now() - start) / SEC);

	load(&(struct load){ .graph = graph, .every = SEC, .read = read });
}

/* The next read of the measurement, loaded again as it was. */
static struct flow_token read_again(const char *metric, const char *object)
{
	struct flow_token t = { 0 };

	load_again(graph_of(metric, object, ""));
	world_run(&w, 2 * SEC);
	for (const struct msg_flow_batch *f = frame(); f; f = frame())
		t = token_of(f);
	return t;
}

static double sum_of_reads(void)
{
	double sum = 0;

	for (const struct msg_flow_batch *f = frame(); f; f = frame())
		sum += token_of(f).value;
	return sum;
}

TEST(a_count_since_the_start_continues_under_the_next_lm)
{
	struct flow_token t;

	call(&seg, "MPI_Send", 80, 1);
	begin_with_bases();
	load_metric("Send_count");
	call(&seg, "MPI_Send", 80, 1);
	call(&seg, "MPI_Send", 80, 1);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(1).value, 2);
	for (int i = 0; i < 2; i++) {
		next_lm(true);
		call(&seg, "MPI_Send", 80, 1);
		t = read_again("Send_count", rank0);
		ck_assert_double_eq(t.value, 3 + i);
		ck_assert_uint_eq(t.flags, 0);
	}
	/* An lm that ends orderly has switched counting off. */
	next_lm(false);
	t = read_again("Send_count", rank0);
	ck_assert_double_eq(t.value, 4);
	ck_assert_uint_eq(t.flags, FLOW_LOST);
	end_bases();
}

/* The system counts for all readers. */
TEST(a_total_of_the_node_continues_however_its_lm_has_ended)
{
	struct flow_token t;

	w.host.counts = 1000;
	begin_with_bases();
	start = now();
	load(&(struct load){ .graph = graph_of("Node_network_in", "n_7", ""), .every = SEC });
	w.host.counts = 1500;
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(1).value, 500);
	for (int i = 0; i < 2; i++) {
		next_lm(i == 0);
		w.host.counts += 100;
		t = read_again("Node_network_in", "n_7");
		ck_assert_double_eq(t.value, 600 + 100 * i);
		ck_assert_uint_eq(t.flags, 0);
	}
	end_bases();
}

/* The process has begun after the measurement: its whole life counts, once. */
static void check_increments(const char *metric, void (*do_some)(void))
{
	begin_with_bases();
	start = now() - 1000 * SEC;
	load_again(since_last(metric, rank0));
	do_some();
	world_run(&w, 2 * SEC);
	ck_assert_double_eq(sum_of_reads(), 10);
	for (int i = 0; i < 2; i++) {
		next_lm(i == 0);
		if (i == 1) /* mainsm's time is not known yet */
			timebase_init(&w.time, loop_now(w.loop), now());
		load_again(since_last(metric, rank0));
		do_some();
		world_run(&w, 2 * SEC);
		ck_assert_double_eq(sum_of_reads(), 10);
	}
	end_bases();
}

static void send_some(void)
{
	call(&seg, "MPI_Send", 10, 1);
}

static void compute_some(void)
{
	fake_proc_find(&w.host, 100)->used_s += 10;
}

TEST(records_read_by_an_earlier_lm_are_not_read_again)
{
	check_increments("Send_volume", send_some);
}

TEST(next_lm_reads_no_system_counter_twice)
{
	fake_proc_find(&w.host, 100)->used_s = -1.75; /* of all that it had used */
	check_increments("Compute_time", compute_some);
}

TEST(a_measurement_that_has_ended_leaves_nothing_to_continue_from)
{
	begin_with_bases();
	load_metric("Send_count");
	world_run(&w, 20 * MS);
	ck_assert_int_eq(access(baselines, F_OK), 0);
	above_send(&w.mainsm,
		   &(struct msg){ .type = MSG_FLOW_END, .flow_end = { .measurement = M } });
	world_run(&w, 20 * MS);
	ck_assert_int_ne(access(baselines, F_OK), 0);
	end_bases();
}

SUITE_WITH("readings next", set_up, clean_up)
