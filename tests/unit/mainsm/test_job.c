/* SPDX-License-Identifier: Apache-2.0 */
/* Applications by name. */
#include "tests/suite.h"
#include "tests/unit/mainsm/world.h"

#include <stdio.h>
#include <string.h>

static struct world w;
static struct fake_branch a, b;
static struct above t, other;

static void set_up(void)
{
	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_open(&w, &b, ROLE_SM, "b", "sm-b");
	below_report(&a, 1, "h1");
	below_report(&b, 2, "h2");
	below_report_rank(&a, 1, "p_1_a00000", 0, "wind");
	below_report_rank(&b, 2, "p_2_a00000", 1, "wind");
	below_report_rank(&b, 2, "p_2_b00000", 0, "rain");
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	above_open(&w, &other, ROLE_TOOL_OBSERVE, "o");
}

static void clean_up(void)
{
	above_close(&t);
	above_close(&other);
	below_close(&a);
	below_close(&b);
	world_done(&w);
}

TEST(all_processes_of_a_job_are_attached_and_no_other)
{
	ck_assert_str_eq(entry_of(above_ask(&t, ":omig_job_attach(\"wind\")"), 1, 0)->value, "2");
	ck_assert_uint_eq(above_status(&t, ":proc_get_info([],1)"), STATUS_OK);
	ck_assert_ptr_nonnull(strstr(a.text, "[p_1_a00000]"));
	ck_assert_ptr_nonnull(strstr(b.text, "[p_2_a00000]"));
	ck_assert_uint_eq(above_status(&t, ":proc_get_info([p_2_b00000],1)"),
			  STATUS_UNKNOWN_OBJECT);
	/* The nodes of the job are attached, too; another tool has attached nothing. */
	ck_assert_uint_eq(above_status(&t, ":node_get_info([n_1,n_2],1)"), STATUS_OK);
	ck_assert_uint_eq(above_status(&other, ":proc_get_info([p_1_a00000],1)"),
			  STATUS_UNKNOWN_OBJECT);
}

TEST(one_job_after_the_other_adds_up)
{
	ck_assert_uint_eq(above_status(&t, ":omig_job_attach(\"wind\")"), STATUS_OK);
	ck_assert_uint_eq(above_status(&t, ":omig_job_attach(\"rain\")"), STATUS_OK);
	ck_assert_uint_eq(above_status(&t, ":proc_get_info([p_1_a00000,p_2_a00000,p_2_b00000],1)"),
			  STATUS_OK);
}

TEST(a_job_that_is_not_there_is_an_unknown_object)
{
	ck_assert_uint_eq(above_status(&t, ":omig_job_attach(\"snow\")"), STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(above_status(&t, ":omig_job_attach(\"win\")"), STATUS_UNKNOWN_OBJECT);
}

static const char *found(const char *word)
{
	static char text[800], value[700];
	const struct reply_entry *e;

	snprintf(text, sizeof(text), ":omig_job_find(\"%s\")", word);
	e = entry_of(above_ask(&t, text), 1, 0);
	snprintf(value, sizeof(value), "%s", e->value);
	snprintf(text, sizeof(text), "%u %s", e->status, value);
	return text;
}

/* A process of that program and job, which runs or has ended. */
static void add(const char *token, const char *job, const char *program, uint32_t state)
{
	struct msg_object o = below_object(token, "n_1", "");

	o.name = program;
	o.job = job;
	o.state = state;
	ck_assert_int_eq(
		link_send(a.link, &(struct msg){ .type = MSG_DIRECTORY,
						 .directory = { false, 1, &o, 1, false } }),
		0);
	world_run(&w, 50 * MS);
}

TEST(a_job_is_found_by_name_step_and_program)
{
	char several[400];

	add("p_1_c00000", "4711.0", "heat", MSG_STATE_RUN);
	add("p_1_d00000", "4711.0", "heat", MSG_STATE_RUN);
	add("p_1_e00000", "47110", "wave", MSG_STATE_RUN);
	add("p_1_f00000", "old", "heat", MSG_STATE_ENDED);
	ck_assert_str_eq(found("wind"), "0 \"wind\"");
	ck_assert_str_eq(found("4711"), "0 \"4711.0\"");
	ck_assert_str_eq(found("wave"), "0 \"47110\"");
	ck_assert_str_eq(found("snow"), "0 \"\"");
	ck_assert_str_eq(found(""), "0 \"\"");
	/* Running jobs are preferred to ended jobs, and an exact name to both. */
	ck_assert_str_eq(found("heat"), "0 \"4711.0\"");
	add("p_1_g00000", "heat.2", "heat", MSG_STATE_RUN);
	snprintf(several, sizeof(several),
		 "%d 'heat' fits several jobs, choose one of them: 4711.0, heat.2",
		 STATUS_PARAMETER_ERROR);
	ck_assert_str_eq(found("heat"), several);
	add("p_1_h00000", "heat", "x", MSG_STATE_ENDED);
	ck_assert_str_eq(found("heat"), "0 \"heat\"");
}

TEST(a_job_that_has_ended_is_found_when_no_other_fits)
{
	add("p_1_c00000", "old", "heat", MSG_STATE_ENDED);
	ck_assert_str_eq(found("heat"), "0 \"old\"");
	ck_assert_str_eq(found("old"), "0 \"old\"");
}

/* Returns the value of the reply to request `id`; "": no reply within that time. */
static const char *found_within(uint64_t id, nsec_t time)
{
	world_run(&w, time);
	return t.last && t.last->id == id ? entry_of(t.last, 1, 0)->value : "";
}

TEST(a_job_that_has_just_started_is_waited_for)
{
	struct above admin;
	uint64_t id;

	above_open(&w, &admin, ROLE_TOOL_ADMIN, "a");
	ck_assert_uint_eq(above_status(&admin, ":omig_job_token(\"snow\")"), STATUS_OK);
	ck_assert_str_eq(found("hail"), "0 \"\"");
	id = above_send(&t, ":omig_job_find(\"snow\")", 0);
	ck_assert_str_eq(found_within(id, 500 * MS), "");
	add("p_1_c00000", "snow", "heat", MSG_STATE_ENDED);
	ck_assert_str_eq(found_within(id, 50 * MS), "\"snow\"");
	ck_assert_str_eq(found("snow"), "0 \"snow\"");
	above_close(&admin);
}

TEST(a_job_without_processes_is_awaited_up_to_the_deadline)
{
	struct above admin;
	uint64_t id;

	above_open(&w, &admin, ROLE_TOOL_ADMIN, "a");
	ck_assert_uint_eq(above_status(&admin, ":omig_job_token(\"snow\")"), STATUS_OK);
	id = above_send(&t, ":omig_job_find(\"snow\")", 2000 * MS);
	ck_assert_str_eq(found_within(id, 1400 * MS), "");
	ck_assert_str_eq(found_within(id, 500 * MS), "\"\"");
	/* Ten seconds after the start the request does not wait for the job. */
	world_run(&w, 10000 * MS);
	ck_assert_str_eq(found("snow"), "0 \"\"");
	above_close(&admin);
}

TEST(of_a_tool_that_has_left_no_question_waits)
{
	struct above admin, third;

	above_open(&w, &admin, ROLE_TOOL_ADMIN, "a");
	above_open(&w, &third, ROLE_TOOL_OBSERVE, "u");
	ck_assert_uint_eq(above_status(&admin, ":omig_job_token(\"snow\")"), STATUS_OK);
	above_send(&third, ":omig_job_find(\"snow\")", 0);
	world_run(&w, 50 * MS);
	above_close(&third);
	add("p_1_c00000", "snow", "heat", MSG_STATE_RUN);
	ck_assert_str_eq(found("snow"), "0 \"snow\"");
	above_close(&admin);
}

TEST(of_many_jobs_that_fit_the_first_are_named)
{
	char token[24], job[24];

	for (int i = 0; i < 20; i++) {
		snprintf(token, sizeof(token), "p_1_x%05d", i);
		snprintf(job, sizeof(job), "j%02d", i);
		add(token, job, "many", MSG_STATE_RUN);
	}
	ck_assert_ptr_nonnull(
		strstr(found("many"), ": j00, j01, j02, j03, j04, j05, j06, j07, ..."));
}

SUITE_WITH("jobs", set_up, clean_up)
