/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of proc_get_info and thread_get_info: a value for each flag, in the order of the flags.
 */
#include "common/base/array.h"
#include "common/omis/text/status.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#define ALL INT64_C(0x7fffffff)

static const struct host_figures numbers = {
	.age_s = 12.5,
	.priority = 20,
	.user_s = 3.25,
	.system_s = 0.5,
	.size = 8192000,
	.resident = 4096000,
	.resident_max = 5000000,
	.stack = 132000,
	.minor_faults = 11,
	.major_faults = 12,
	.swaps = 13,
	.uid = 501,
	.gid = 502,
	.read_blocks = 14,
	.write_blocks = 15,
	.voluntary = 16,
	.involuntary = 17,
};

static struct fake_proc *proc;

static void set_up(void)
{
	open_ranks();
	proc = fake_proc_find(&w.host, 100);
	proc->figures = &numbers;
	proc->state = 'R';
}

static const struct msg_reply *ask(const char *service, const char *object, int64_t flags)
{
	char text[128];

	snprintf(text, sizeof(text), ":%s([%s],%lld)", service, object, (long long)flags);
	return world_ask(&w, MANIPULATOR, text);
}

static const char *info(const char *object, int64_t flags)
{
	const struct msg_entry *e = reply_entry_of(ask("proc_get_info", object, flags), NULL);

	ck_assert_uint_eq(e->status, STATUS_OK);
	ck_assert_str_eq(e->objects, object);
	return entry_text(e);
}

/* By number of the flag. Its job is that of the fake segments. */
static const char *const of_flag[] = {
	"0",
	"[\"/bin/prog\",\"-x\"]",
	"501",
	"502",
	"[\"/bin/prog\",\"-x\"]",
	NULL, /* the environment: see test_proc.c */
	"u_0",
	"\"\"",
	"n_7",
	"100",
	"0",
	"3.75",
	"20",
	"0.5",
	"8192000",
	"4096000",
	"5000000",
	"-1",
	"11",
	"12",
	"13",
	"14",
	"15",
	"16",
	"17",
	"\"prog\"",
	"12.5",
	"-1.0",
	"\"job-1\"",
	"1",
	"-1.0",
};

TEST(each_flag_of_a_process_has_its_value)
{
	char all[1024] = "";

	for (unsigned i = 0; i < ARRAY_LEN(of_flag); i++) {
		if (!of_flag[i])
			continue;
		ck_assert_msg(str_eq(info(rank0, 1 << i), of_flag[i]), "%u: %s", i,
			      info(rank0, 1 << i));
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", *all ? "," : "",
			 of_flag[i]);
	}
	ck_assert_str_eq(info(rank0, ALL & ~(1 << 5)), all);
	ck_assert_str_eq(info(rank0, 0), "");
	ck_assert_str_eq(info(rank0, INT64_C(1) << 31), ""); /* a flag that is none */
}

TEST(unknown_figures_are_negative)
{
	struct host_figures some = numbers;

	proc->figures = &some;
	some.user_s = -1;
	ck_assert_str_eq(info(rank0, 1 << 11 | 1 << 13), "-1.0,0.5");
	some = numbers;
	some.system_s = -1;
	ck_assert_str_eq(info(rank0, 1 << 11 | 1 << 13), "-1.0,-1.0");
	some.swaps = some.read_blocks = some.stack = -1;
	ck_assert_str_eq(info(rank0, 7 << 19), "12,-1,-1");
}

TEST(states_are_those_of_the_kernel)
{
	static const struct {
		char state;
		const char *says;
	} rows[] = {
		{ 'R', "0" }, { 'S', "1" }, { 'D', "1" }, { 'I', "1" },
		{ 'Z', "3" }, { 'X', "3" }, { 'T', "4" }, { 't', "4" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		proc->state = rows[i].state;
		ck_assert_msg(str_eq(info(rank0, 1 << 10), rows[i].says), "%c: %s", rows[i].state,
			      info(rank0, 1 << 10));
	}
}

TEST(a_process_names_its_parent_when_that_is_watched)
{
	struct fake_proc *child = fake_proc_add(&w.host, 300, "child");
	char token[TOKEN_BYTES];

	child->parent = 100;
	world_ask(&w, OBSERVER, ":omig_proc_take([n_7],300,\"\")");
	str_copy(token, sizeof(token), world_token(&w, 300));
	ck_assert_str_eq(info(token, 1 << 6), rank0);
	ck_assert_str_eq(info(token, 1 << 0), "-1"); /* not a rank */
	ck_assert_str_eq(info(rank1, 1 << 0 | 1 << 6), "1,u_0");
}

TEST(of_a_process_that_has_ended_the_last_numbers_stay)
{
	double before, after;

	info(rank0, ALL & ~(1 << 5));
	world_run(&w, 5 * SEC);
	before = strtod(info(rank0, 1 << 26), NULL);
	fake_proc_end(proc, 0);
	world_run(&w, SEC);
	ck_assert_str_eq(info(rank0, 1 << 9 | 1 << 10 | 1 << 14), "100,3,8192000");
	ck_assert_str_eq(info(rank0, 1 << 1 | 1 << 5), "[],[]");
	after = strtod(info(rank0, 1 << 27), NULL);
	ck_assert_double_ge(after, 1);
	ck_assert_double_lt(after, 2);
	world_run(&w, 3 * SEC);
	ck_assert_double_ge(strtod(info(rank0, 1 << 27), NULL), after + 3);
	ck_assert_double_ge(strtod(info(rank0, 1 << 26), NULL), before);
}

/* --- threads */

static const struct msg_entry *thread_info(int64_t flags, size_t i)
{
	const struct msg_reply *r = ask("thread_get_info", rank0, flags);
	size_t n = 0;

	for (size_t k = 0; k < r->nentry; k++)
		if (r->entry[k].action == 1 && n++ == i)
			return &r->entry[k];
	ck_abort_msg("there is no thread %zu", i);
}

TEST(each_flag_of_a_thread_has_its_value)
{
	const char *const flag[] = { rank0, "0",   "\"\"", "u_0",  "\"\"", "132000",
				     "n_7", "100", "0",	   "3.75", "20",   "0.5" };
	char all[512] = "";

	for (unsigned i = 0; i < ARRAY_LEN(flag); i++) {
		const struct msg_entry *e = thread_info(1 << i, 0);

		ck_assert_int_eq(strncmp(e->objects, "t_7_", 4), 0);
		ck_assert_msg(str_eq(entry_text(e), flag[i]), "%u: %s", i, entry_text(e));
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", *all ? "," : "",
			 flag[i]);
	}
	ck_assert_str_eq(entry_text(thread_info((1 << 12) - 1, 0)), all);
	ck_assert_str_eq(entry_text(thread_info(0, 0)), "");
}

/* The kernel reports the stack of the first thread only. */
TEST(another_thread_has_a_state_of_its_own_and_no_stack)
{
	fake_thread_add(proc, 101);
	proc->thread_state[1] = 'S';
	world_run(&w, 10 * SEC);
	ck_assert_str_eq(entry_text(thread_info(1 << 5 | 1 << 7 | 1 << 8, 0)), "132000,100,0");
	ck_assert_str_eq(entry_text(thread_info(1 << 5 | 1 << 7 | 1 << 8, 1)), "-1,101,1");
}

SUITE_WITH("info", set_up, close_ranks)
