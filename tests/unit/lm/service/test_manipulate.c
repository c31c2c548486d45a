/* SPDX-License-Identifier: Apache-2.0 */
/* Signals and stops: rights, targets, and the lease. */
#include "common/omis/text/status.h"
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct world w;
static struct fake_segment seg;
static char rank[TOKEN_BYTES], dir[64], journal[128];

static void open_rank(void)
{
	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, rank);
}

static void close_rank(void)
{
	world_close(&w);
	fake_segment_close(&seg);
}

static const struct msg_entry *ask_as(uint32_t tool, const char *identity, const char *service,
				      const char *rest)
{
	char text[128];

	snprintf(text, sizeof(text), ":%s([%s]%s)", service, rank, rest);
	return reply_entry_of(world_ask_as(&w, tool, identity, text), NULL);
}

static unsigned ask(const char *identity, const char *service, const char *rest)
{
	return ask_as(1, identity, service, rest)->status;
}

static bool is_stopped(void)
{
	return fake_proc_find(&w.host, 100)->state == 'T';
}

static size_t signals(void)
{
	return fake_proc_find(&w.host, 100)->nsignal;
}

TEST(rights_are_checked_for_each_cell)
{
	static const struct {
		const char *identity;
		bool observes, manipulates;
	} who[] = {
		{ MANIPULATOR, true, true },
		{ OBSERVER, true, false },
		{ "omig:lm/site/leaf", false, false },
		{ "omig:sm/site/mid", false, false },
		{ "omig:mainsm//top", false, false },
		{ "tool-manipulate", false, false },
		{ "", false, false },
	};
	static const struct {
		const char *service, *rest;
		bool manipulates;
	} what[] = {
		{ "proc_get_info", ",512", false },  { "node_get_info", ",1", false },
		{ "thread_get_info", ",1", false },  { "omig_calls_enable", ",\"count\"", false },
		{ "omig_calls_read", "", false },    { "omig_calls_disable", "", false },
		{ "proc_send_signal", ",10", true }, { "thread_stop", "", true },
		{ "thread_continue", "", true },
	};

	open_rank();
	for (size_t i = 0; i < ARRAY_LEN(who); i++)
		for (size_t k = 0; k < ARRAY_LEN(what); k++) {
			size_t before = signals();
			bool may = what[k].manipulates ? who[i].manipulates : who[i].observes;
			unsigned status = ask(who[i].identity, what[k].service, what[k].rest);

			ck_assert_msg(status == (may ? STATUS_OK : STATUS_NO_PERMISSION),
				      "%s %s: %u", who[i].identity, what[k].service, status);
			ck_assert_uint_eq(signals() - before, may && what[k].manipulates ? 1 : 0);
		}
	close_rank();
}

TEST(a_claim_from_above_makes_no_right)
{
	struct msg m = { .type = MSG_REQUEST,
			 .request = { .id = 77, .identity = MANIPULATOR, .right = OMIS_OBSERVE } };
	char text[128];
	const struct msg *got;

	open_rank();
	snprintf(text, sizeof(text), ":proc_send_signal([%s],10)", rank);
	m.request.text = (struct bytes){ (const uint8_t *)text, strlen(text) };
	above_send(&w.mainsm, &m);
	world_run(&w, 20 * MS);
	got = above_next(&w.mainsm, MSG_REPLY);
	ck_assert_uint_eq(got->reply.entry[0].status, STATUS_NO_PERMISSION);
	ck_assert_uint_eq(signals(), 0);
	close_rank();
}

TEST(an_event_of_an_observer_cannot_stop_anything)
{
	struct msg m = { .type = MSG_ARM,
			 .arm = { .csr = "c_1",
				  .tool = 1,
				  .identity = OBSERVER,
				  .version = 3,
				  .local_prefix = 1 } };
	char text[256];
	const struct msg *got;

	open_rank();
	snprintf(text, sizeof(text),
		 "thread_has_started_lib_call([%s],\"MPI_Send\"): thread_stop([%s])", rank, rank);
	m.arm.text = (struct bytes){ (const uint8_t *)text, strlen(text) };
	above_send(&w.mainsm, &m);
	world_run(&w, 20 * MS);
	got = above_next(&w.mainsm, MSG_ARM_ACK);
	ck_assert_uint_eq(got->arm_ack.entry[0].status, STATUS_NO_PERMISSION);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	close_rank();
}

TEST(the_hosts_policy_refuses_all)
{
	open_rank();
	world_crash_lm(&w);
	w.may_manipulate = false;
	world_start_lm(&w);
	ck_assert_uint_eq(ask(MANIPULATOR, "thread_stop", ""), STATUS_NO_PERMISSION);
	ck_assert_uint_eq(ask(MANIPULATOR, "proc_get_info", ",512"), STATUS_OK);
	ck_assert_uint_eq(signals(), 0);
	close_rank();
}

TEST(numbers_that_are_no_signals_are_refused)
{
	static const char *const bad[] = { ",0", ",-9", ",65", ",4294967305",
					   ",9223372036854775807" };

	open_rank();
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ck_assert_uint_eq(ask(MANIPULATOR, "proc_send_signal", bad[i]),
				  STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(signals(), 0);
	close_rank();
}

/* Tokens of the rank's threads as reported upwards, with commas between. */
static unsigned thread_tokens(char *out, size_t size)
{
	unsigned n = 0;

	out[0] = 0;
	for (size_t i = 0; i < w.mainsm.got.n; i++) {
		const struct msg *m = w.mainsm.got.m[i];

		for (size_t k = 0; m->type == MSG_DIRECTORY && k < m->directory.nobject; k++) {
			const struct msg_object *o = &m->directory.object[k];
			size_t at = strlen(out);

			if (strcmp(o->parent, rank) != 0 || strstr(out, o->token))
				continue;
			snprintf(out + at, size - at, "%s%s", n ? "," : "", o->token);
			n++;
		}
	}
	return n;
}

TEST(single_requests_for_threads_of_a_process_are_all_answered)
{
	char threads[128], text[160];
	const struct msg_reply *r;

	open_rank();
	fake_thread_add(fake_proc_find(&w.host, 100), 101);
	world_run(&w, 3 * SEC);
	ck_assert_uint_eq(thread_tokens(threads, sizeof(threads)), 2);
	snprintf(text, sizeof(text), ":thread_stop([%s])", threads);
	r = world_ask_as(&w, 1, MANIPULATOR, text);
	ck_assert_uint_eq(r->coverage->asked, 2);
	ck_assert_uint_eq(r->coverage->answered, 2);
	ck_assert(is_stopped());
	close_rank();
}

TEST(stop_and_continue_may_be_repeated)
{
	open_rank();
	ck_assert_uint_eq(ask(MANIPULATOR, "thread_continue", ""), STATUS_OK);
	ck_assert_uint_eq(ask(MANIPULATOR, "thread_stop", ""), STATUS_OK);
	ck_assert_uint_eq(ask(MANIPULATOR, "thread_stop", ""), STATUS_OK);
	ck_assert(is_stopped());
	ck_assert_uint_eq(holds_count(w.lm->holds), 1);
	ck_assert_str_eq(entry_text(ask_as(1, OBSERVER, "proc_get_info", ",1024")), "4");
	ck_assert_uint_eq(ask(MANIPULATOR, "thread_continue", ""), STATUS_OK);
	ck_assert(!is_stopped());
	ck_assert_uint_eq(holds_count(w.lm->holds), 0);
	close_rank();
}

TEST(stop_refused_by_the_kernel_is_reported)
{
	open_rank();
	fake_proc_find(&w.host, 100)->refuse = ERR_DENIED;
	ck_assert_uint_eq(ask(MANIPULATOR, "thread_stop", ""), STATUS_NO_PERMISSION);
	ck_assert_uint_eq(holds_count(w.lm->holds), 0);
	close_rank();
}

TEST(a_tool_that_leaves_releases_its_stopped_processes)
{
	open_rank();
	ask_as(1, MANIPULATOR, "thread_stop", "");
	ask_as(2, MANIPULATOR, "thread_stop", "");
	above_send(&w.mainsm, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = 1 } });
	world_run(&w, 20 * MS);
	ck_assert(is_stopped()); /* the other one still holds it */
	above_send(&w.mainsm, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = 2 } });
	world_run(&w, 20 * MS);
	ck_assert(!is_stopped());
	close_rank();
}

TEST(a_lease_ends_without_a_parent)
{
	open_rank();
	ask(MANIPULATOR, "thread_stop", "");
	link_close(w.mainsm.up.link, "gone");
	w.mainsm.up.link = NULL;
	w.mainsm.refuse = "not now";
	world_run(&w, STOP_LEASH_NS - 500 * MS);
	ck_assert(is_stopped());
	world_run(&w, SEC);
	ck_assert(!is_stopped());
	w.mainsm.refuse = NULL;
	world_run(&w, 15 * SEC);
	close_rank();
}

TEST(an_order_to_release_ends_all_stops)
{
	open_rank();
	ask_as(1, MANIPULATOR, "thread_stop", "");
	ask_as(2, MANIPULATOR, "thread_stop", "");
	above_send(&w.mainsm, &(struct msg){ .type = MSG_LET_GO });
	world_run(&w, 20 * MS);
	ck_assert(!is_stopped());
	close_rank();
}

TEST(a_short_break_of_the_link_releases_nothing)
{
	open_rank();
	ask(MANIPULATOR, "thread_stop", "");
	link_close(w.mainsm.up.link, "gone");
	w.mainsm.up.link = NULL;
	world_run(&w, 3 * SEC);
	ck_assert_ptr_nonnull(w.mainsm.up.link);
	world_run(&w, 10 * SEC);
	ck_assert(is_stopped());
	close_rank();
}

TEST(a_restarted_mainsm_releases_the_stops)
{
	open_rank();
	ask(MANIPULATOR, "thread_stop", "");
	w.mainsm.up.epoch++;
	link_close(w.mainsm.up.link, "gone");
	w.mainsm.up.link = NULL;
	world_run(&w, 3 * SEC);
	ck_assert_ptr_nonnull(w.mainsm.up.link);
	ck_assert(!is_stopped());
	close_rank();
}

TEST(an_lm_that_starts_again_continues_what_was_stopped)
{
	world_open(&w);
	world_crash_lm(&w);
	w.journal = journal;
	world_start_lm(&w);
	world_add_rank(&w, &seg, 100, 0, rank);
	ask(MANIPULATOR, "thread_stop", "");
	ck_assert_int_eq(access(journal, F_OK), 0);
	/* A crash: nothing is released. The effect of lm_free() on the process is undone. */
	fake_proc_find(&w.host, 100)->refuse = ERR_DENIED;
	ck_assert_int_eq(rename(journal, "journal.kept"), 0);
	world_crash_lm(&w);
	ck_assert_int_eq(rename("journal.kept", journal), 0);
	fake_proc_find(&w.host, 100)->refuse = 0;
	ck_assert(is_stopped());
	world_start_lm(&w);
	ck_assert(!is_stopped());
	ck_assert_int_ne(access(journal, F_OK), 0);
	close_rank();
}

/* The journal names the processes that a new lm has to continue, and nothing else. */
TEST(stops_by_others_are_not_in_the_journal)
{
	world_open(&w);
	world_crash_lm(&w);
	w.journal = journal;
	world_start_lm(&w);
	world_add_rank(&w, &seg, 100, 0, rank);
	fake_proc_find(&w.host, 100)->state = 'T';
	ask(MANIPULATOR, "thread_suspend", "");
	ck_assert_int_ne(access(journal, F_OK), 0);
	fake_proc_find(&w.host, 100)->state = 'S';
	ask(MANIPULATOR, "thread_suspend", "");
	ck_assert_int_eq(access(journal, F_OK), 0);
	close_rank();
}

static unsigned syncs;

/* In the place of libc's. */
int fsync(int fd)
{
	syncs++;
	return 0;
}

TEST(a_stop_does_not_wait_for_a_disk)
{
	world_open(&w);
	world_crash_lm(&w);
	w.journal = journal;
	world_start_lm(&w);
	world_add_rank(&w, &seg, 100, 0, rank);
	ask(MANIPULATOR, "thread_stop", "");
	ck_assert_int_eq(access(journal, F_OK), 0);
	ask(MANIPULATOR, "thread_continue", "");
	ck_assert_int_ne(access(journal, F_OK), 0);
	ck_assert_uint_eq(syncs, 0);
	close_rank();
}

static int open_stops(struct holds **out)
{
	const struct holds_conf c = { .loop = w.loop,
				      .host = &w.host.host,
				      .procs = w.lm->procs,
				      .journal = journal,
				      .epoch = 2 };

	return holds_open(&c, out, NULL);
}

TEST(a_journal_of_another_boot_or_process_continues_nothing)
{
	static const char *const line[] = {
		"100 1 boot-1\n", "100 1001 boot-0\n", "1 1001 boot-1\n",
		"0 0 boot-1\n",	  "-5 1001 boot-1\n",  "x\n",
		"100\n",
	};

	open_rank();
	for (size_t i = 0; i < ARRAY_LEN(line); i++) {
		struct holds *s;
		FILE *f = fopen(journal, "w");

		ck_assert_ptr_nonnull(f);
		fputs(line[i], f);
		fclose(f);
		chmod(journal, 0600);
		ck_assert_int_eq(open_stops(&s), 0);
		holds_free(s);
	}
	ck_assert_uint_eq(signals(), 0);
	close_rank();
}

TEST(a_journal_that_cannot_be_read_is_not_thrown_away)
{
	struct holds *s = NULL;
	FILE *f;

	open_rank();
	f = fopen(journal, "w");
	ck_assert_ptr_nonnull(f);
	fputs("100 1001 boot-1\n", f);
	fclose(f);
	chmod(journal, 0644);
	ck_assert_int_eq(open_stops(&s), -ERR_DENIED);
	ck_assert_ptr_null(s);
	ck_assert_int_eq(access(journal, F_OK), 0);
	close_rank();
}

TEST(a_stop_by_signal_is_on_the_leash_too)
{
	open_rank();
	ck_assert_uint_eq(ask(MANIPULATOR, "proc_send_signal", ",19"), STATUS_OK);
	ck_assert(is_stopped());
	ck_assert_uint_eq(holds_count(w.lm->holds), 1);
	ck_assert_uint_eq(ask(MANIPULATOR, "proc_send_signal", ",18"), STATUS_OK);
	ck_assert(!is_stopped());
	ck_assert_uint_eq(holds_count(w.lm->holds), 0);
	ask_as(2, MANIPULATOR, "proc_send_signal", ",19");
	above_send(&w.mainsm, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = 2 } });
	world_run(&w, 20 * MS);
	ck_assert(!is_stopped());
	close_rank();
}

TEST(a_rank_that_ends_while_stopped_leaves_no_trace)
{
	open_rank();
	ask(MANIPULATOR, "thread_stop", "");
	fake_proc_end(fake_proc_find(&w.host, 100), SIGKILL);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(holds_count(w.lm->holds), 0);
	close_rank();
}

TEST(a_stop_by_others_is_seen)
{
	open_rank();
	fake_proc_find(&w.host, 100)->state = 'T';
	world_run(&w, 3 * SEC);
	ck_assert_uint_eq(procs_find_pid(w.lm->procs, 100)->state, MSG_STATE_STOPPED);
	fake_proc_find(&w.host, 100)->state = 'R';
	world_run(&w, 3 * SEC);
	ck_assert_uint_eq(procs_find_pid(w.lm->procs, 100)->state, MSG_STATE_RUN);
	close_rank();
}

static void enter_dir(void)
{
	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	snprintf(journal, sizeof(journal), "%s/stops", dir);
}

static void leave_dir(void)
{
	unlink(journal);
	rmdir(dir);
}

SUITE_WITH("lm manipulation", enter_dir, leave_dir)
