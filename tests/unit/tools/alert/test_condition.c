/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of alerts, as people write them, and the commands that they start. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tools/alert/condition.h"
#include "tools/alert/hook.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEC NSEC_PER_SEC

static struct condition parse(const char *text)
{
	struct condition c;
	struct err e = { 0 };

	ck_assert_msg(!condition_parse(text, &c, &e), "%s: %s", text, e.text);
	return c;
}

TEST(conditions_are_understood)
{
	struct condition c = parse("imbalance > 30 % for 1m");

	ck_assert_int_eq(c.kind, CONDITION_IMBALANCE);
	ck_assert_str_eq(c.op, ">");
	ck_assert_double_eq(c.threshold, 30);
	ck_assert_int_eq(c.for_ns, 60 * SEC);
	c = parse("  Send_volume>=1.5GB/s   for 90s");
	ck_assert_int_eq(c.kind, CONDITION_METRIC);
	ck_assert_str_eq(c.text, "Send_volume");
	ck_assert_str_eq(c.op, ">=");
	ck_assert_double_eq(c.threshold, 1.5e9);
	ck_assert(c.per_second);
	c = parse("Collective_count / Barrier_count < 2");
	ck_assert_int_eq(c.kind, CONDITION_EXPRESSION);
	ck_assert(!condition_is_above(&c));
	ck_assert_double_eq(parse("Barrier_delay > 20 %").threshold, 0.2);
	ck_assert_double_eq(parse("rss > 2 GiB").threshold, 2147483648.0);
	ck_assert(parse("MPI_Send_count > 10 /s").per_second);
	ck_assert_int_eq(parse("hang for 5m").for_ns, 300 * SEC);
	ck_assert_int_eq(parse("silent").kind, CONDITION_SILENT);
}

TEST(mistakes_have_their_place_and_the_nearest_name)
{
	static const struct {
		const char *text;
		unsigned col;
		const char *words;
	} bad[] = {
		{ "imbalanse > 30 %", 1, "did you mean 'imbalance'?" },
		{ "Send_volum > 1 GB", 1, "did you mean 'Send_volume'?" },
		{ "Send_volume / Recieve_volume > 2", 15, "did you mean 'Receive_volume'?" },
		{ "mpi", 4, "a comparison is expected" },
		{ "mpi >", 6, "a number is expected" },
		{ "mpi > nan", 7, "a number is expected" },
		{ "mpi > 3 parsec", 9, "is not a unit" },
		{ "mpi > 3 % fur 1m", 11, "'for TIME'" },
		{ "mpi > 3 % for ever", 15, "is not a time" },
		{ "hang > 3", 6, "'for TIME'" },
		{ "> 3", 1, "a metric is expected" },
		{ "", 1, "a comparison is expected" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct condition c;
		struct err e = { 0 };

		ck_assert_int_eq(condition_parse(bad[i].text, &c, &e), -ERR_PARSE);
		ck_assert_msg(strstr(e.text, bad[i].words), "%s: %s", bad[i].text, e.text);
		ck_assert_msg(e.col == bad[i].col, "%s: %u", bad[i].text, e.col);
	}
}

TEST(an_expression_becomes_a_metric_of_each_process)
{
	const struct condition c = parse("Send_volume / Memory_size > 2");
	struct buf b = BUF_INIT(4096);
	const char *name;

	condition_metric(&c, SEC, &b, &name);
	ck_assert_str_eq(name, "Alert");
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "MAX((Send_volume(p, t) / Memory_size(p, NOW))"));
	buf_done(&b);
}

TEST(values_have_the_unit_of_the_condition)
{
	char text[CONDITION_VALUE_BYTES];
	const struct condition c = parse("Send_volume > 1 GB/s");

	ck_assert_str_eq(condition_value(&c, 2.5e9, text), "2.5 GB/s");
	ck_assert_str_eq(condition_value(&c, (double)NAN, text), "unknown");
}

static void wait_for(const struct hook *h)
{
	int status = -1;

	ck_assert_int_gt(h->running, 0);
	ck_assert_int_eq(waitpid(h->running, &status, 0), h->running);
	ck_assert_int_eq(status, 0);
}

/* A command that does not end delays only the last one after it. */
TEST(a_command_runs_alone_and_the_last_state_is_not_missed)
{
	const char *word[HOOK_WORDS] = { "firing", "c", "j", "1", "", "text" };
	struct hook h = { .command = "exec sleep 1000" };
	struct err e = { 0 };
	pid_t first;

	ck_assert_int_eq(hook_start(&h, word, &e), 0);
	first = h.running;
	ck_assert_int_gt(first, 0);
	word[HOOK_STATE] = "cleared";
	ck_assert_int_eq(hook_start(&h, word, &e), 0);
	ck_assert_int_eq(hook_reap(&h, &e), 0);
	ck_assert_int_eq(h.running, first);
	word[HOOK_STATE] = "ended";
	ck_assert_int_eq(hook_start(&h, word, &e), -ERR_AGAIN); /* instead of cleared */
	h.command = "read line; test \"$line\" = text -a \"$OMIG_ALERT_STATE\" = ended";
	kill(first, SIGKILL);
	waitpid(first, NULL, 0);
	ck_assert_int_eq(hook_reap(&h, &e), 0);
	ck_assert_int_ne(h.running, first);
	wait_for(&h);
	ck_assert_int_eq(hook_reap(&h, &e), 0);
	ck_assert_int_eq(h.running, 0);
	hook_end(&h);
	ck_assert_int_eq(h.running, 0);
}

TEST(the_end_starts_the_state_that_still_waits)
{
	const char *word[HOOK_WORDS] = { "firing", "c", "j", "1", "", "text" };
	struct hook h = { .command = "test \"$OMIG_ALERT_STATE\" != firing || sleep 0.2" };
	struct err e = { 0 };

	ck_assert_int_eq(hook_start(&h, word, &e), 0);
	word[HOOK_STATE] = "ended";
	ck_assert_int_eq(hook_start(&h, word, &e), 0);
	hook_end(&h);
	wait_for(&h);
}

SUITE("alert")
