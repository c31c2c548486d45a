/* SPDX-License-Identifier: Apache-2.0 */
/* Choice of processes without a segment to watch: by their environment and their parents. */
#include "common/ring/chosen.h"
#include "lm/attach/chosen.h"
#include "lm/proc/proc_internal.h"
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

#include <string.h>

#define CHOSEN_MAX 8

static struct world w;
static struct host_ops ops;
static struct host_chosen there[CHOSEN_MAX];
static size_t nthere, looks;

static int each_chosen(struct host *h, const char *caid, host_on_chosen_fn fn, void *arg)
{
	looks++;
	ck_assert_str_eq(caid, "testtest");
	for (size_t i = nthere; i-- > 0;) /* in reverse: the order is not specified */
		if (fake_proc_find((struct fake_host *)h, there[i].pid))
			fn(arg, &there[i]);
	return 0;
}

static void begin(void)
{
	world_open(&w);
	ops = *w.host.host.ops;
	ops.each_chosen = each_chosen;
	w.host.host.ops = &ops;
	nthere = looks = 0;
}

static void add(int32_t pid, int32_t parent, int32_t mark, const char *name)
{
	struct host_chosen *c = &there[nthere++];

	fake_proc_add(&w.host, pid, name)->parent = parent;
	*c = (struct host_chosen){ .pid = pid, .mark = mark, .job = "night" };
	str_copy(c->name, sizeof(c->name), name);
	snprintf(c->program, sizeof(c->program), "/usr/bin/%s", name);
}

#define TURNS_MAX 1000

static struct chosen *wake(void)
{
	struct chosen *c = chosen_new(&(struct chosen_conf){
		.loop = w.loop, .host = &w.host.host, .procs = w.lm->procs, .caid = "testtest" });

	ck_assert_ptr_nonnull(c);
	chosen_wake(c);
	world_run(&w, 2 * CHOSEN_SOON_NS);
	return c;
}

static const struct proc *watched(int32_t pid)
{
	return procs_find_pid(w.lm->procs, pid);
}

TEST(a_chosen_process_has_its_name_and_its_job)
{
	struct chosen *c;

	begin();
	add(100, 1, 100, "server");
	add(101, 100, 100, "a_program_with_a_long_name");
	c = wake();
	ck_assert_ptr_nonnull(watched(100));
	ck_assert_str_eq(watched(100)->own.job, "night");
	ck_assert_str_eq(watched(100)->own.program, "server");
	ck_assert_int_eq(watched(100)->own.rank, -1);
	ck_assert(proc_is_alone(watched(100)));
	ck_assert_str_eq(watched(101)->own.program, "/usr/bin/a_program_with_a_long_name");
	chosen_free(c);
	world_close(&w);
}

TEST(children_of_a_launcher_are_chosen_only_under_omig_exec)
{
	struct chosen *c;

	begin();
	add(100, 1, 100, "job.sh");
	add(101, 100, 100, "orterun");
	add(102, 101, 100, "sh");
	add(103, 102, 100, "a.out");
	add(104, 101, 104, "seq"); /* mpirun omig exec ./seq */
	c = wake();
	ck_assert_ptr_nonnull(watched(100));
	ck_assert_ptr_null(watched(101));
	ck_assert_ptr_null(watched(102));
	ck_assert_ptr_null(watched(103));
	ck_assert_ptr_nonnull(watched(104));
	chosen_free(c);
	world_close(&w);
}

TEST(after_exec_a_process_has_a_new_name_and_the_same_token)
{
	struct chosen *c;
	char token[TOKEN_BYTES];

	begin();
	add(100, 1, 100, "sh");
	c = wake();
	str_copy(token, sizeof(token), watched(100)->token.s);
	str_copy(there[0].name, sizeof(there[0].name), "server");
	/* A search that took long delays the next one. */
	for (int i = 0; i < TURNS_MAX && !str_eq(watched(100)->own.program, "server"); i++)
		world_run(&w, 2 * CHOSEN_MIN_NS);
	ck_assert_str_eq(watched(100)->own.program, "server");
	ck_assert_str_eq(watched(100)->token.s, token);
	chosen_free(c);
	world_close(&w);
}

TEST(polls_end_without_chosen_processes_and_begin_on_request)
{
	struct chosen *c;
	size_t before;
	int turns = 0;

	begin();
	c = wake();
	world_run(&w, CHOSEN_STAY_NS + 2 * CHOSEN_MIN_NS);
	before = looks;
	world_run(&w, CHOSEN_STAY_NS);
	ck_assert_uint_eq(looks, before);
	add(100, 1, 100, "late");
	chosen_wake(c);
	world_run(&w, 2 * CHOSEN_SOON_NS);
	ck_assert_ptr_nonnull(watched(100));
	before = looks;
	for (; turns < TURNS_MAX && looks <= before + 10; turns++)
		world_run(&w, 2 * CHOSEN_STAY_NS);
	ck_assert_uint_gt(looks, before + 10); /* as long as it exists */
	ck_assert_uint_le(looks, before + (size_t)turns * 2 * CHOSEN_STAY_NS / CHOSEN_MIN_NS + 10);
	chosen_free(c);
	world_close(&w);
}

TEST(parents_that_go_round_in_a_circle_end_the_search)
{
	struct chosen *c;

	begin();
	add(100, 101, 100, "a.out");
	add(101, 100, 100, "b.out");
	c = wake();
	ck_assert_ptr_nonnull(watched(100));
	ck_assert_ptr_nonnull(watched(101));
	chosen_free(c);
	world_close(&w);
}

TEST(launchers_are_known_by_their_names)
{
	ck_assert(chosen_is_launcher("mpirun"));
	ck_assert(chosen_is_launcher("/usr/bin/mpirun.openmpi"));
	ck_assert(chosen_is_launcher("/usr/bin/orterun"));
	ck_assert(chosen_is_launcher("hydra_pmi_proxy"));
	ck_assert(chosen_is_launcher("srun"));
	ck_assert(!chosen_is_launcher("./server"));
	ck_assert(!chosen_is_launcher("/opt/mpirun/bin/server"));
	ck_assert(!chosen_is_launcher(""));
}

SUITE("lm chosen")
