/* SPDX-License-Identifier: Apache-2.0 */
/* omig attach, omig detach: programs that were started unwatched. */
#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "tools/cmd/attach/ranks.h"
#include "tools/cmd/cmd.h"
#include "tools/launch/launch.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/term/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WAIT_DEFAULT_NS (5 * NSEC_PER_SEC)
/* time in which a started lm must connect; it needs some 0.3 s */
#define LM_START_NS (5 * NSEC_PER_SEC)
#define TURN_US (100 * 1000)
/* one lm-trace attaches the ranks of a host, some 30 ms each, more where processors are scarce */
#define ATTACH_TIMEOUT_NS (60 * NSEC_PER_SEC)

struct attach_options {
	struct cmd_common common;
	nsec_t wait;
	bool detaches;
	char *const *target;
	size_t ntarget;
};

static const char *words_of(const struct rank *r)
{
	return r->watched == STARTED_WATCHED ? "watched from the start"
	       : r->watched == ATTACHED	     ? "attached"
					     : "unwatched";
}

static void put_state(struct table *t, const struct rank *r)
{
	char since[TABLE_NUMBER_BYTES];

	if (r->watched == ATTACHED && r->attached_s >= 0)
		table_cell(t, "attached %s ago", table_duration(since, r->attached_s));
	else
		table_cell(t, "%s", words_of(r));
}

static void show_table(const struct ranks *s)
{
	static const char *const heads[] = {
		"PID", "NODE", "RANK", "OF", "JOB", "PROGRAM", "STATE"
	};
	struct table *t = table_new(ARRAY_LEN(heads), heads, "rlrrlll");

	for (size_t i = 0; t && i < s->n; i++) {
		const struct rank *r = &s->v[i];

		table_cell(t, "%lld", (long long)r->pid);
		table_cell(t, "%s", r->node);
		table_cell(t, "%lld", (long long)r->rank);
		table_cell(t, r->size < 0 ? "-" : "%lld", (long long)r->size);
		table_cell(t, "%s", r->job);
		table_cell(t, "%s", str_base_name(r->program));
		put_state(t, r);
	}
	if (t)
		table_show(t, 0);
}

static void rank_json(struct json *j, const struct rank *r, bool with_state)
{
	json_object(j);
	json_key_i64(j, "pid", r->pid);
	json_key_str(j, "node", r->node);
	json_key_i64(j, "rank", r->rank);
	json_key_str(j, "job", r->job);
	json_key_str(j, "program", r->program);
	json_key_str(j, "state", with_state ? r->state : words_of(r));
	json_key(j, "attached_s");
	if (r->attached_s >= 0)
		json_double(j, r->attached_s);
	else
		json_null(j);
	if (with_state) {
		json_key_i64(j, "stopped_ns", r->stopped_ns);
		json_key_str(j, "why", r->why ? r->why : "");
	}
	json_object_end(j);
}

static int show_json(const struct ranks *s, bool with_state)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	json_key(j, "ranks");
	json_array(j);
	for (size_t i = 0; i < s->n; i++)
		if (!with_state || s->v[i].is_chosen)
			rank_json(j, &s->v[i], with_state);
	json_array_end(j);
	json_object_end(j);
	return show_doc_close(&d);
}

static int show_list(const struct attach_options *w, const struct ranks *s)
{
	size_t free_ones = 0;

	for (size_t i = 0; i < s->n; i++)
		free_ones += s->v[i].watched == UNWATCHED;
	if (w->common.json)
		return show_json(s, false);
	if (!s->n)
		printf("no ranks of yours run on the nodes that are known\n");
	else if (!free_ones)
		printf("all %zu ranks are watched\n", s->n);
	else
		printf("%zu of %zu ranks run unwatched: omig attach PID|JOB watches them\n",
		       free_ones, s->n);
	if (s->n)
		show_table(s);
	return CMD_OK;
}

/* --- attaching */

static struct rank *find(struct ranks *s, const char *node, int64_t pid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].pid == pid && str_eq(s->v[i].node, node))
			return &s->v[i];
	return NULL;
}

static void take_states(struct ranks *s, const Omis_object_result *o)
{
	Omis_value *v = o->result && o->status < OMIS_FIRST_ERROR
				? omis_value_parse(o->result, o->result_len)
				: NULL;
	const Omis_value *one;

	for (size_t i = 0; v && (one = value_at(v, i)); i++) {
		struct rank *r = find(s, o->obj_list, value_int(one, 0));

		if (!r)
			continue;
		str_copy(r->state, sizeof(r->state), value_text(one, 1));
		if (value_int(one, 4) > r->stopped_ns)
			r->stopped_ns = value_int(one, 4);
		free(r->why);
		r->why = str_dup(value_text(one, 5));
	}
	omis_value_free(v);
}

static bool is_pending(const struct rank *r)
{
	return str_eq(r->state, "pending") || str_eq(r->state, "entering");
}

/* Sends a request to a node, for all chosen ranks, or only for those whose attach is pending. */
static int ask_node(struct ranks *s, const char *service, const char *node, bool all)
{
	struct buf text = BUF_INIT(1 << 20);
	const char *comma = "";
	Omis_reply r = NULL;
	int rc;

	buf_printf(&text, ":%s([%s],[", service, node);
	for (size_t i = 0; i < s->n; i++) {
		if (!s->v[i].is_chosen || !str_eq(s->v[i].node, node) ||
		    (!all && !is_pending(&s->v[i])))
			continue;
		buf_printf(&text, "%s%lld", comma, (long long)s->v[i].pid);
		comma = ",";
	}
	buf_puts(&text, "])");
	rc = comma[0] ? session_ask(&r, "%s", buf_str(&text)) : CMD_OK;
	buf_done(&text);
	if (rc != CMD_OK || !r)
		return rc;
	rc = session_exit_status(r);
	for (size_t i = 0; r[1] && r[1][i].obj_list; i++)
		take_states(s, &r[1][i]);
	if (rc != CMD_OK)
		cmd_fail(rc, "%s: %s", node,
			 r[1] && r[1][0].obj_list && r[1][0].result ? r[1][0].result : "no reply");
	omis_reply_free(r);
	return rc;
}

static int ask_all(struct ranks *s, const char *service, bool all)
{
	int rc = CMD_OK;

	for (size_t i = 0; rc == CMD_OK && i < s->n; i++) {
		size_t k = 0;

		if (!s->v[i].is_chosen)
			continue;
		while (k < i && !(s->v[k].is_chosen && str_eq(s->v[k].node, s->v[i].node)))
			k++;
		if (k == i)
			rc = ask_node(s, service, s->v[i].node, all);
	}
	return rc;
}

static bool has_pending(const struct ranks *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].is_chosen && is_pending(&s->v[i]))
			return true;
	return false;
}

static int wait_for_them(struct ranks *s, nsec_t most)
{
	nsec_t end = clock_mono() + most;
	int rc = CMD_OK;

	while (rc == CMD_OK && has_pending(s) && clock_mono() < end) {
		usleep(TURN_US);
		rc = ask_all(s, "omig_attached", false);
	}
	return rc;
}

/* --- words */

static const char *explain(const struct rank *r)
{
	if (str_eq(r->state, "pending") && (!r->why || !r->why[0]))
		return "is in no new call of MPI yet: libomig enters at its next one";
	if (str_eq(r->state, "entering"))
		return "loads libomig";
	return r->why && r->why[0] ? r->why : "gave no reason";
}

static void show_rest(const struct ranks *s, const char *wanted)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct rank *r = &s->v[i];

		if (!r->is_chosen || str_eq(r->state, wanted))
			continue;
		if (r->rank >= 0)
			printf("rank %lld, ", (long long)r->rank);
		printf("process %lld at %s: %s: %s\n", (long long)r->pid, r->node,
		       r->state[0] ? r->state : "no reply", explain(r));
	}
}

static int show_result(const struct attach_options *w, const struct ranks *s)
{
	const char *wanted = w->detaches ? "detached" : "watched";
	size_t n = 0, done = 0;
	nsec_t stopped = 0;

	for (size_t i = 0; i < s->n; i++) {
		n += s->v[i].is_chosen;
		done += s->v[i].is_chosen && str_eq(s->v[i].state, wanted);
		if (s->v[i].is_chosen && s->v[i].stopped_ns > stopped)
			stopped = s->v[i].stopped_ns;
	}
	if (w->common.json) {
		int rc = show_json(s, true);

		return rc != CMD_OK ? rc : done == n ? CMD_OK : done ? CMD_PARTIAL : CMD_FAILURE;
	}
	printf("%zu of %zu %s %s; none was stopped longer than %.1f ms\n", done, n,
	       n == 1 ? "process is" : "processes are", wanted, (double)stopped / NSEC_PER_MSEC);
	show_rest(s, wanted);
	return done == n ? CMD_OK : done || has_pending(s) ? CMD_PARTIAL : CMD_FAILURE;
}

/* --- the command */

static int fail_without(const struct ranks_choice *c)
{
	if (!c->launcher[0])
		return cmd_fail(CMD_NOTFOUND,
				"%s is neither a process nor a running job: omig attach lists them",
				c->missing);
	return cmd_fail(CMD_NOTFOUND,
			"process %s is %s, and no node that is known has ranks of its job: run "
			"omig attach on a host of these once, which starts an lm there",
			c->missing, c->launcher);
}

/* An lm that has just been started needs a moment to connect. */
static int find_targets(const struct attach_options *w, struct ranks *s)
{
	nsec_t end = clock_mono() + LM_START_NS;
	struct ranks_choice c = { 0 };
	int rc;

	for (;;) {
		rc = ranks_read(s);
		if (rc == CMD_OK)
			rc = ranks_choose(s, w->target, w->ntarget, &c);
		if (rc != CMD_OK)
			return rc;
		if (!w->ntarget ? s->here[0] != 0 : !c.missing)
			return CMD_OK;
		if (clock_mono() > end || (w->ntarget && s->here[0]))
			break;
		usleep(TURN_US);
	}
	return !w->ntarget ? CMD_OK : fail_without(&c);
}

static int do_it(const struct attach_options *w, struct ranks *s)
{
	int rc = find_targets(w, s);

	if (rc != CMD_OK)
		return rc;
	if (!w->ntarget)
		return show_list(w, s);
	rc = ask_all(s, w->detaches ? "omig_detach" : "omig_attach", true);
	if (rc == CMD_OK && !w->detaches)
		rc = wait_for_them(s, w->wait);
	return rc != CMD_OK ? rc : show_result(w, s);
}

/* Programs of this host need its lm. */
static int need_lm(const struct attach_options *w)
{
	struct launch *l = calloc(1, sizeof(*l));
	struct err e = { 0 };
	int rc;

	if (!l)
		return cmd_fail(CMD_FAILURE, "out of memory");
	l->mainsm = w->common.mainsm;
	rc = launch_find_files(l, &e);
	if (!rc)
		rc = launch_need_mainsm(l, &e);
	if (!rc)
		rc = launch_need_place(l, &e);
	if (!rc)
		launch_start_lm(l);
	free(l);
	return rc ? cmd_fail(CMD_UNREACHABLE, "%s", e.text) : CMD_OK;
}

static int run(struct attach_options *w)
{
	struct ranks s = { 0 };
	int rc = w->detaches ? CMD_OK : need_lm(w);

	if (w->common.timeout_ns == CMD_COMMON_INIT.timeout_ns && !getenv("OMIG_TIMEOUT"))
		w->common.timeout_ns = ATTACH_TIMEOUT_NS;
	if (rc == CMD_OK)
		rc = session_open(&w->common);
	if (rc != CMD_OK)
		return rc;
	rc = do_it(w, &s);
	ranks_done(&s);
	session_close();
	return rc;
}

int cmd_attach(int argc, char **argv)
{
	struct attach_options w = { .common = CMD_COMMON_INIT, .wait = WAIT_DEFAULT_NS };
	const struct opt table[] = {
		CMD_OPTIONS(&w.common),
		OPTION_RANGE("wait", 'w', "TIME",
			     "how long to wait for ranks to call MPI (default 5s)", OPT_NSEC,
			     &w.wait, 0, 3600 * NSEC_PER_SEC),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig attach",
		.usage = "[OPTION...] [PID|JOB]...",
		.summary = "watches programs that were started unwatched; without one, lists them",
		.details =
			"PID is a process of this host, or the mpirun of a job; JOB a job or program of any host.\n"
			"libomig enters each process at its next call of MPI. Exit status 6 when some have made no call\n"
			"yet: they are watched from their next call on. omig detach is the opposite.",
		.table = table,
	};
	int first, exit_status = cmd_parse(&spec, argc, argv, &first);

	if (exit_status >= 0)
		return exit_status;
	w.target = argv + first;
	w.ntarget = (size_t)(argc - first);
	return run(&w);
}

int cmd_detach(int argc, char **argv)
{
	struct attach_options w = { .common = CMD_COMMON_INIT, .detaches = true };
	const struct opt table[] = { CMD_OPTIONS(&w.common), { 0 } };
	const struct opt_spec spec = {
		.program = "omig detach",
		.usage = "[OPTION...] PID|JOB...",
		.summary = "removes libomig from the calls of programs that omig attach has "
			   "attached",
		.details =
			"Their calls lead to the MPI library again. libomig stays in memory without being called.",
		.table = table,
	};
	int first, exit_status = cmd_parse(&spec, argc, argv, &first);

	if (exit_status >= 0)
		return exit_status;
	if (first >= argc)
		return cmd_usage(&spec, "which process or job?");
	w.target = argv + first;
	w.ntarget = (size_t)(argc - first);
	return run(&w);
}
