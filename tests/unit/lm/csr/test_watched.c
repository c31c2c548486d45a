/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads and processes that a conditional request watches, and reports about those that it cannot.
 */
#include "common/base/array.h"
#include "common/omis/text/status.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <fcntl.h>

static char thread[2][TOKEN_BYTES]; /* of rank 0: the one that calls, and another one */

/* A thread without calls starts in rank 0. */
static void add_thread(void)
{
	const struct msg_reply *r;

	fake_thread_add(fake_proc_find(&w.host, 100),
			99); /* a lower number than that of the first */
	world_run(&w, 10 * SEC);
	r = world_ask(&w, OBSERVER, with(":thread_get_info([@],128)", rank0));
	for (size_t i = 0; i < r->nentry; i++) {
		if (!strcmp(entry_text(&r->entry[i]), "100"))
			str_copy(thread[0], TOKEN_BYTES, r->entry[i].objects);
		if (!strcmp(entry_text(&r->entry[i]), "99"))
			str_copy(thread[1], TOKEN_BYTES, r->entry[i].objects);
	}
	ck_assert(thread[0][0] && thread[1][0]);
}

static void create_counter(const char *of)
{
	ck_assert_uint_eq(
		world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", of))->entry[0].status,
		STATUS_OK);
}

static const struct msg_entry *fault_of(const struct msg_arm_ack *ack)
{
	for (size_t i = 0; i < ack->nentry; i++)
		if (status_is_error(ack->entry[i].status))
			return &ack->entry[i];
	return NULL;
}

static void count_in(const char *objects)
{
	ck_assert_ptr_null(fault_of(arm(
		"thread_has_started_lib_call([@],\"MPI_Send\"): pa_counter_local_increment(pa_cl_1,1)",
		objects, 1, false)));
}

TEST(only_the_threads_that_are_named_count)
{
	char both[2 * TOKEN_BYTES];

	open_ranks();
	add_thread();
	create_counter(rank0);
	count_in(thread[1]);
	call(&seg, "MPI_Send", 8, 1);
	ck_assert_int_eq(read_counter("pa_cl_1"), 0);
	count_in(thread[0]);
	call(&seg, "MPI_Send", 8, 1);
	ck_assert_int_eq(read_counter("pa_cl_1"), 1);
	snprintf(both, sizeof(both), "%s,%s", thread[0], thread[1]);
	count_in(both);
	call(&seg, "MPI_Send", 8, 1);
	ck_assert_int_eq(read_counter("pa_cl_1"), 2);
	count_in(rank1); /* of another process */
	call(&seg, "MPI_Send", 8, 1);
	ck_assert_int_eq(read_counter("pa_cl_1"), 2);
	close_ranks();
}

/* The rank of another segment counts from 0 again, and earlier counts remain. */
TEST(a_counter_continues_after_an_exec)
{
	struct fake_segment next;

	open_ranks();
	create_counter(rank0);
	count_in(rank0);
	call(&seg, "MPI_Send", 8, 1);
	call(&seg, "MPI_Send", 8, 1);
	fake_segment_open(&next, 100, 0, 100);
	fake_proc_find(&w.host, 100)->memfd = next.fd;
	ck_assert_int_eq(registration_segment(w.lm->registration,
					      fcntl(next.fd, F_DUPFD_CLOEXEC, 3), 100, false),
			 0);
	world_run(&w, 20 * MS);
	ck_assert_int_eq(read_counter("pa_cl_1"), 2);
	call(&next, "MPI_Send", 8, 1);
	ck_assert_int_eq(read_counter("pa_cl_1"), 3);
	fake_segment_close(&next);
	close_ranks();
}

/* --- processes without libomig */

static char taken[TOKEN_BYTES];

static const struct msg_arm_ack *arm_taken(const char *const *modules)
{
	struct fake_proc *p = fake_proc_add(&w.host, 300, "plain");

	p->modules = modules;
	world_ask(&w, OBSERVER, ":omig_proc_take([n_7],300,\"plain\")");
	str_copy(taken, sizeof(taken), world_token(&w, 300));
	return arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", taken, 0, true);
}

/* One that has loaded no C library yet may load libomig too. */
TEST(a_process_without_libomig_is_named_with_the_remedy)
{
	static const struct {
		const char *modules[4];
		bool is_named;
	} rows[] = {
		{ { "/bin/plain", "/lib/libc.so.6" }, true },
		{ { "/bin/plain", "/lib/x86_64-linux-gnu/libc-2.31.so" }, true },
		{ { "/lib/ld-musl-x86_64.so.1", "/bin/plain" }, true },
		{ { "/bin/plain", "/lib/libc.so.6", "/opt/omig/lib/libomig.so" }, false },
		{ { "/bin/plain", "/opt/libomig.so.0", "/lib/libc.so.6" }, false },
		{ { "/bin/plain" }, false },
		{ { "/libc.so.d/plain", "/lib/mylibc.so" }, false },
		{ { "/bin/plain", "/home/libomig.so.d/lib.so", "/lib/libc.so.6" }, true },
		{ { "libc.so.6", "plain" }, true },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct msg_entry *fault;

		open_ranks();
		fault = fault_of(arm_taken(rows[i].modules));
		ck_assert_msg((fault != NULL) == rows[i].is_named, "%zu", i);
		if (fault) {
			ck_assert_uint_eq(fault->status, STATUS_PARAMETER_ERROR);
			ck_assert_str_eq(fault->objects, taken);
			ck_assert_ptr_nonnull(strstr(entry_text(fault), "omig run starts"));
		}
		close_ranks();
	}
}

SUITE("lm watched")
