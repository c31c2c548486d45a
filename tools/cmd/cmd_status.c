/* SPDX-License-Identifier: Apache-2.0 */
/* omig status, omig stop, omig version: the state of the monitor. */
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/cli/progress.h"
#include "tools/cmd/cmd.h"
#include "tools/view/health.h"
#include "tools/view/monitor.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/term/table.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PID_MAX_BYTES 24
#define STOP_LOOK_MS 200
#define STOP_MAX_MS 6000 /* a daemon ends in 5 s (DAEMON_STOP_MAX_NS) */

struct status_options {
	struct cmd_common common;
	bool verbose;
};

static size_t judge(const Omis_value *v, struct health_note note[MONITOR_NOTES_MAX])
{
	size_t n = health_notes(v, (double)clock_wall() / 1e9, omis_library_version(), note,
				MONITOR_NOTES_MAX);

	return n < MONITOR_NOTES_MAX ? n : MONITOR_NOTES_MAX;
}

static void show_head(const struct term *t, const Omis_value *tree, const Omis_object_result *o,
		      const Omis_value *v)
{
	char up[TABLE_NUMBER_BYTES], name[160];

	monitor_daemon(tree, value_text(v, 0), o->obj_list, name, sizeof(name));
	printf("%s", term_paint(t, TERM_BOLD));
	term_put_safe(stdout, name, strlen(name));
	printf("%s  version ", term_paint(t, TERM_PLAIN));
	term_put_safe(stdout, value_text(v, 1), strlen(value_text(v, 1)));
	printf("  up %s\n", table_duration(up, value_float(v, 2) / 1e9));
}

/* Figures with a unit in their names are scaled to a readable unit. */
static void show_counter(const char *name, double v)
{
	char text[TABLE_NUMBER_BYTES];
	size_t n = strlen(name);

	if (str_eq(name, "certificate_expires_ns"))
		printf("certificate_left = %s\n",
		       table_duration(text, (v - (double)clock_wall()) / 1e9));
	else if (n > 3 && str_eq(name + n - 3, "_ns"))
		printf("%.*s = %.6g ms\n", (int)(n - 3), name, v / 1e6);
	else if (n > 6 && str_eq(name + n - 6, "_bytes"))
		printf("%.*s = %s\n", (int)(n - 6), name, table_bytes(text, v));
	else
		printf("%s = %.12g\n", name, v);
}

static void show_daemon(const struct term *t, const Omis_value *tree, const Omis_object_result *o)
{
	Omis_value *v = o->result ? omis_value_parse(o->result, o->result_len) : NULL;
	const Omis_value *pair;

	show_head(t, tree, o, v);
	for (size_t i = 3; (pair = value_at(v, i)); i++) {
		char name[128];

		str_show(name, sizeof(name), value_text(pair, 0));
		fputs("    ", stdout);
		if (value_at(pair, 1) && value_at(pair, 1)->s) {
			printf("%s = ", name);
			term_put_safe(stdout, value_text(pair, 1), strlen(value_text(pair, 1)));
			putchar('\n');
		} else {
			show_counter(name, value_float(pair, 1));
		}
	}
	omis_value_free(v);
}

static void show_counters(const struct term *t, const Omis_value *tree, Omis_reply r)
{
	for (Omis_service_result s = r[0] && r[1] ? r[1] : NULL; s && s->obj_list; s++)
		if (s->status < OMIS_FIRST_ERROR && s->result)
			show_daemon(t, tree, s);
	show_missing(t, stdout, r);
}

/* The overall state is printed first; --verbose adds the counters. */
static void show_status(const struct status_options *w, const Omis_value *tree, Omis_reply r)
{
	struct buf out = BUF_INIT(1 << 20);
	struct monitor m;
	struct term t;

	term_open(&t, w->common.color);
	monitor_read(&m, tree, r, (double)clock_wall() / 1e9, omis_library_version());
	monitor_show(&t, &m, &out);
	fwrite(out.p, 1, out.n, stdout);
	buf_done(&out);
	if (w->verbose) {
		putchar('\n');
		show_counters(&t, tree, r);
	}
}

/* --- JSON: figures without conversion */

static void json_daemon(struct json *j, const Omis_object_result *o)
{
	Omis_value *v = o->result ? omis_value_parse(o->result, o->result_len) : NULL;
	struct health_note note[MONITOR_NOTES_MAX];
	const Omis_value *pair;
	size_t n = judge(v, note);

	json_key_str(j, "daemon", value_text(v, 0));
	json_key_str(j, "version", value_text(v, 1));
	json_key_double(j, "uptime_s", value_float(v, 2) / 1e9);
	json_key_object(j, "figures");
	for (size_t i = 3; (pair = value_at(v, i)); i++) {
		json_key(j, value_text(pair, 0));
		show_value_json(j, value_at(pair, 1));
	}
	json_object_end(j);
	json_key_array(j, "warnings");
	for (size_t i = 0; i < n; i++)
		json_str(j, note[i].text);
	json_array_end(j);
	omis_value_free(v);
}

static void put_problems(struct json *j, const struct monitor *m)
{
	json_key_array(j, "problems");
	for (size_t i = 0; i < m->nproblem && i < MONITOR_PROBLEMS_MAX; i++) {
		json_object(j);
		json_key_str(j, "where", m->problem[i].where);
		json_key_u64(j, "places", m->problem[i].places);
		json_key_str(j, "text", m->problem[i].text);
		json_key_str(j, "remedy", m->problem[i].remedy);
		json_object_end(j);
	}
	json_array_end(j);
}

static bool show_json(const Omis_value *tree, Omis_reply r)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);
	struct monitor m;

	monitor_read(&m, tree, r, (double)clock_wall() / 1e9, omis_library_version());
	json_object(j);
	json_key_bool(j, "well", !m.nproblem);
	put_problems(j, &m);
	json_key_array(j, "daemons");
	for (Omis_service_result s = r[0] && r[1] ? r[1] : NULL; s && s->obj_list; s++) {
		json_object(j);
		json_key_str(j, "object", s->obj_list);
		if (s->status < OMIS_FIRST_ERROR) {
			json_daemon(j, s);
		} else {
			json_key_str(j, "error", omis_strerror(s->status));
		}
		json_object_end(j);
	}
	json_array_end(j);
	show_coverage_json(j, r);
	json_object_end(j);
	return show_doc_close(&d) == CMD_OK;
}

static int status(const struct status_options *w)
{
	Omis_value *tree = NULL;
	Omis_reply r;
	int rc = session_open(&w->common);

	if (rc != CMD_OK)
		return rc;
	rc = session_attach_all();
	if (rc == CMD_OK)
		rc = session_ask_value(&tree, ":omig_tree()");
	if (rc == CMD_OK)
		rc = session_ask(&r, ":omig_status()");
	if (rc == CMD_OK) {
		rc = session_exit_status(r);
		if (!w->common.json)
			show_status(w, tree, r);
		else if (!show_json(tree, r))
			rc = CMD_FAILURE;
		omis_reply_free(r);
	}
	omis_value_free(tree);
	session_close();
	return rc;
}

int cmd_status(int argc, char **argv)
{
	struct status_options w = { .common = CMD_COMMON_INIT };
	const struct opt table[] = {
		CMD_OPTIONS(&w.common),
		OPTION("verbose", 'v', NULL, "also all counters of each daemon", OPT_FLAG,
		       &w.verbose),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig status",
		.usage = "[OPTION...]",
		.summary = "shows the health and the activity of the monitor itself",
		.details =
			"The first line is \"all well\", or a line with WARN and a remedy for each cause:\n"
			"certificates that end within 14 days, lost events, lag, queues, another version,\n"
			"hosts that do not reply. --json has the same as problems, and all counters.",
		.table = table,
	};
	int exit_status = cmd_parse(&spec, argc, argv, NULL);

	return exit_status >= 0 ? exit_status : status(&w);
}

/*
 * Returns a hold of the mainsm of this user's state directory. -1: another mainsm is meant, or
 * there is none.
 */
static int hold_own_mainsm(const struct cmd_common *c)
{
	const char *given = getenv("OMIG_MAINSM");
	char dir[FILE_PATH_BYTES], path[FILE_PATH_BYTES];
	char text[PID_MAX_BYTES] = "";
	struct buf b = BUF_INIT(sizeof(text));
	int64_t pid;

	if (!c->mainsm && !(given && *given) && !file_state_dir_find(dir, NULL) &&
	    !file_join(path, sizeof(path), dir, "mainsm/mainsm.lock", NULL) &&
	    !file_read(path, sizeof(text) - 1, FILE_SECRET, &b, NULL))
		str_copy(text, sizeof(text), buf_str(&b));
	buf_done(&b);
	text[strcspn(text, "\n")] = 0;
	return str_to_i64(text, 1, INT32_MAX, &pid) ? -1
						    : (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
}

/* Waits until the process has ended, so that the caller can start the next one. */
static void wait_for_end(int held, bool is_quiet)
{
	nsec_t until = clock_mono() + STOP_MAX_MS * NSEC_PER_MSEC;
	struct pollfd p = { .fd = held, .events = POLLIN };
	struct progress line;

	progress_begin(&line, is_quiet);
	while (!poll(&p, 1, STOP_LOOK_MS) && clock_mono() < until)
		if (progress_is_due(&line))
			progress_show(&line, "omig: waiting for mainsm to end, %.0f s of %d s",
				      progress_seconds(&line), STOP_MAX_MS / 1000);
	progress_end(&line);
}

int cmd_stop(int argc, char **argv)
{
	struct cmd_common c = CMD_COMMON_INIT;
	const struct opt table[] = { CMD_OPTIONS(&c), { 0 } };
	const struct opt_spec spec = {
		.program = "omig stop",
		.usage = "[OPTION...]",
		.summary = "ends mainsm and all daemons below it; programs run on, unwatched",
		.table = table,
	};
	Omis_reply r;
	int held, status = cmd_parse(&spec, argc, argv, NULL);

	if (status >= 0)
		return status;
	status = session_open(&c);
	if (status != CMD_OK)
		return status;
	held = hold_own_mainsm(&c);
	status = session_ask(&r, ":omig_shutdown()");
	if (status == CMD_OK && c.json && !show_reply_json(r))
		status = CMD_FAILURE;
	omis_reply_free(r);
	session_close();
	if (status == CMD_OK && held >= 0)
		wait_for_end(held, c.json);
	if (held >= 0)
		close(held);
	return status;
}

int cmd_version(int argc, char **argv)
{
	bool json = false;
	const struct opt table[] = {
		OPTION("json", 'j', NULL, "write JSON", OPT_FLAG, &json),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig version",
		.usage = "[OPTION...]",
		.summary = "version and features of this omig",
		.table = table,
	};
	int status = cmd_parse(&spec, argc, argv, NULL);

	if (status >= 0)
		return status;
	if (json)
		printf("{\"name\":\"omig\",\"version\":\"%s\",\"omis\":\"2.0\","
		       "\"mpi\":[\"openmpi\",\"mpich\"]}\n",
		       omis_library_version());
	else
		printf("omig %s\nOMIS 2.0; TLS 1.3; Open MPI and MPICH by one library\n",
		       omis_library_version());
	return CMD_OK;
}
