/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cmd/summary/run_summary.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/ring/chosen.h"
#include "tools/cmd/summary/collect.h"
#include "tools/launch/supervise.h"
#include "tools/profile/profile.h"
#include "tools/session/session.h"
#include "tools/summary/summary_text.h"
#include "tools/term/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Interval of readings: a twentieth of the time so far, so that a short run has slices and a long
 * one costs nothing. An lm forgets values a minute after its last process.
 */
#define EVERY_PART 20
#define EVERY_MIN_NS (1 * NSEC_PER_SEC)
#define EVERY_MAX_NS (20 * NSEC_PER_SEC)
#define SAMPLE_TIMEOUT_NS (1 * NSEC_PER_SEC) /* time-out of one reading while the program runs */
#define FINAL_NS (3 * NSEC_PER_SEC) /* hosts report the end of their ranks within it */
#define FINAL_NAP_NS (50 * NSEC_PER_MSEC)
#define UNSEEN_NS (1500 * NSEC_PER_MSEC) /* of a job without a process: it was too short */
/* of a reading with ranks, the first of which start all daemons */
#define COLD_NS (5 * NSEC_PER_SEC)
#define SUMMARY_EXIT_MAX_NS (10 * NSEC_PER_SEC) /* longest delay of the command's end */
#define WORDS_BYTES 256

struct collector {
	const struct run_summary *r;
	struct collect *c;
	nsec_t begun, read_at; /* read_at: the latest reading that was answered; 0: none was */
	nsec_t wall_begun;
	char why[WORDS_BYTES]; /* the latest reading failed; "" when it did not */
};

/* --- readings */

static bool has_bytes(const char *measured)
{
	return str_eq(measured, "volume") || str_eq(measured, "partner");
}

/* A reading is complete without sizes and call sites. */
static void ask_sizes(struct collector *of)
{
	static const char text[] = ":omig_calls_profile([],\"size\")";
	Omis_reply r = omis_request_n(text, sizeof(text) - 1, NULL, NULL, 0);

	if (r && r[0])
		collect_sizes(of->c, r[1]);
	omis_reply_free(r);
}

static void ask_sites(struct collector *of)
{
	static const char text[] = ":omig_calls_profile([],\"site\")";
	Omis_reply r = omis_request_n(text, sizeof(text) - 1, NULL, NULL, 0);
	struct profile p;

	if (r && r[0] && profile_read(&p, PROFILE_SITE, r[1], NULL)) {
		profile_sort(&p, PROFILE_BY_TIME);
		collect_places(of->c, &p);
		profile_ask_places(&p, SUMMARY_SITES_MAX);
		collect_sites(of->c, &p);
		profile_done(&p);
	}
	omis_reply_free(r);
}

static int ask(struct collector *of, const struct cmd_common *common)
{
	Omis_value *tree = NULL;
	Omis_reply reply = NULL;
	int rc = session_open(common);

	if (rc != CMD_OK)
		return rc;
	rc = session_ask_value(&tree, ":omig_tree()");
	if (rc == CMD_OK)
		rc = session_attach(of->r->job);
	if (rc == CMD_OK)
		rc = session_ask(&reply, ":proc_get_info([],%d) omig_calls_read([],2)",
				 COLLECT_PROC_FLAGS);
	if (rc == CMD_OK) {
		collect_tree(of->c, tree);
		if (!collect_reply(of->c, reply[1], reply[1] ? reply[2] : NULL, clock_mono()))
			rc = cmd_fail(CMD_FAILURE, "no memory for the summary");
	}
	if (rc == CMD_OK && has_bytes(of->r->measured))
		ask_sizes(of);
	if (rc == CMD_OK && of->r->has_sites)
		ask_sites(of);
	omis_reply_free(reply);
	omis_value_free(tree);
	session_close();
	return rc;
}

/* The connection lasts for one reading: mainsm's places for tools are limited. */
static void take_reading(struct collector *of)
{
	struct cmd_common common = CMD_COMMON_INIT;
	char words[WORDS_BYTES] = "";
	int rc;

	common.mainsm = of->r->mainsm;
	common.timeout_ns = SAMPLE_TIMEOUT_NS;
	cmd_hush(words, sizeof(words));
	rc = ask(of, &common);
	cmd_hush(NULL, 0);
	if (rc == CMD_OK)
		of->read_at = clock_mono();
	str_copy(of->why, sizeof(of->why), rc == CMD_OK ? "" : words);
}

static nsec_t until_next(const struct collector *of)
{
	nsec_t every = (clock_mono() - of->begun) / EVERY_PART;

	return every < EVERY_MIN_NS ? EVERY_MIN_NS : every > EVERY_MAX_NS ? EVERY_MAX_NS : every;
}

/*
 * Reads until `from` reports how the program ended. Returns -1 if this process's parent has ended,
 * too.
 */
static int follow(struct collector *of, int from)
{
	struct pollfd p = { .fd = from, .events = POLLIN };
	int status = -1;

	for (;;) {
		int n = poll(&p, 1, (int)(until_next(of) / NSEC_PER_MSEC));

		if (n > 0)
			return read(from, &status, sizeof(status)) == sizeof(status) ? status : -1;
		if (n == 0)
			take_reading(of);
	}
}

/* The ends of ranks reach their lms at once, and lms that just start a little later. */
static void take_final(struct collector *of, nsec_t end)
{
	const struct timespec nap = { .tv_nsec = FINAL_NAP_NS };
	nsec_t unseen = chosen_is_launcher(of->r->command) ? COLD_NS : UNSEEN_NS;

	for (;;) {
		nsec_t late;

		take_reading(of);
		late = clock_mono() - end;
		if (collect_is_complete(of->c) ||
		    late > (collect_has_any(of->c) ? FINAL_NS : unseen))
			return;
		nanosleep(&nap, NULL);
	}
}

/* --- the summary */

static bool fill(struct collector *of, struct summary *s, nsec_t end, int status)
{
	const struct run_summary *r = of->r;

	str_copy(s->omig, sizeof(s->omig), OMIG_VERSION);
	collect_name(s->job, r->job);
	collect_name(s->command, r->command);
	collect_name(s->measured, r->measured);
	s->begun_ns = of->wall_begun;
	s->seconds = (double)(end - of->begun) / 1e9;
	s->exit_status = status;
	if (of->why[0] && of->read_at)
		summary_note(s, "nothing could be read for the last %.1f s: %s",
			     (double)(end - of->read_at) / 1e9, of->why);
	else if (of->why[0])
		summary_note(s, "nothing could be read: %s", of->why);
	return collect_end(of->c, s, str_eq(r->measured, "partner"));
}

static int write_file(const struct summary *s, const char *path)
{
	struct buf out = BUF_INIT(SUMMARY_FILE_MAX_BYTES);
	int rc = summary_write(s, &out)
			 ? cmd_fail(CMD_FAILURE, "the summary is too large for a file")
			 : outfile_write(path, &out);

	buf_done(&out);
	return rc;
}

static int write_all(const struct summary *s, const char *path)
{
	const struct summary_text_options w = { .prefix = "omig: " };
	struct buf out = BUF_INIT(SUMMARY_FILE_MAX_BYTES);
	int rc = summary_text(s, &w, &out) ? cmd_fail(CMD_FAILURE, "no memory for the summary")
					   : CMD_OK;

	if (rc == CMD_OK)
		fwrite(out.p, 1, out.n, stderr);
	buf_done(&out);
	if (!path)
		return rc;
	rc = write_file(s, path);
	if (rc == CMD_OK)
		fprintf(stderr, "omig: details: omig show %s\n", path);
	return rc;
}

static int collect_job(const struct run_summary *r, int from)
{
	struct collector of = { .r = r, .begun = clock_mono(), .wall_begun = clock_wall() };
	struct summary s = { 0 };
	int status, rc;
	nsec_t end;

	of.c = collect_new(r->job, of.begun);
	if (!of.c)
		return cmd_fail(CMD_FAILURE, "no memory for the summary");
	status = follow(&of, from);
	end = clock_mono();
	take_final(&of, end);
	rc = fill(&of, &s, end, status) ? write_all(&s, r->path)
					: cmd_fail(CMD_FAILURE, "no memory for the summary");
	summary_done(&s);
	collect_free(of.c);
	return rc;
}

/* --- processes */

/*
 * Closes ends of pipes that others wait for. All signals are blocked: the keyboard's are for the
 * program, whose end it shows.
 */
static void be_collector(const struct run_summary *r, int from)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	_exit(collect_job(r, from));
}

/* *out: where the program's end is written. */
static pid_t start_collector(const struct run_summary *r, int *out)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		be_collector(r, ends[0]);
	}
	close(ends[0]);
	if (pid < 0)
		close(ends[1]);
	*out = ends[1];
	return pid;
}

/* Blocks for SUMMARY_EXIT_MAX_NS at most. */
static void end_collector(pid_t pid, int to, int status)
{
	if (write(to, &status, sizeof(status)) < 0)
		cmd_warn("no summary: %s", strerror(errno));
	close(to);
	if (supervise_end_child(pid, SUMMARY_EXIT_MAX_NS) < 0)
		cmd_warn("no summary: it was not complete within %d s",
			 (int)(SUMMARY_EXIT_MAX_NS / NSEC_PER_SEC));
}

void run_summary(const struct run_summary *r, int (*become)(void *arg), void *arg)
{
	struct supervised s = { 0 };
	int to = -1, status;
	pid_t collector;

	supervise_begin(&s);
	collector = start_collector(r, &to);
	if (supervise_start(&s, become, arg)) {
		cmd_warn("no summary: %s", strerror(errno));
		if (collector > 0) {
			kill(collector, SIGKILL);
			waitpid(collector, NULL, 0);
			close(to);
		}
		return;
	}
	status = supervise_wait(&s);
	if (collector > 0)
		end_collector(collector, to, status);
	else
		cmd_warn("no summary: no process for it");
	supervise_end(status);
}
