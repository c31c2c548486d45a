/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/daemon/notify.h"
#include "eventlog/evgap.h"
#include "tools/events/destination.h"
#include "tools/receive/receive_internal.h"
#include "tools/term/say.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define COMMIT_NS (20 * NSEC_PER_MSEC) /* longest delay of an acknowledgement by the disk */
#define COMMIT_BYTES (1u << 20)
#define REPORT_NS NSEC_PER_SEC

/* --- blocks on their way to the spool */

/* False: the block, or the lost ones that it replaces, was received before. */
static bool is_new(struct receiver *r, const uint8_t *p, const struct evblock *head,
		   struct evgap *range)
{
	evgap_of(p, head, range);
	return range->end_seq > (uint64_t)(uintptr_t)map_find(&r->seen, range->stream);
}

/*
 * Without room or memory the streams are forgotten: then only the destination recognises repeated
 * blocks.
 */
static void remember(struct receiver *r, const struct evgap *range)
{
	if (r->seen.n >= RECEIVE_STREAMS_MAX) {
		map_done(&r->seen);
		map_init(&r->seen);
	}
	map_put(&r->seen, range->stream, (void *)(uintptr_t)range->end_seq, NULL);
}

int receiver_block(struct receiver *r, const uint8_t *p, const struct evblock *head)
{
	struct evgap range;
	int rc;

	if (!is_new(r, p, head, &range)) {
		r->counts.repeated += head->events;
		return 0;
	}
	rc = spooler_append(r->spooler, p, head);
	if (rc && rc != -ERR_LIMIT)
		return -ERR_AGAIN;
	r->appended++;
	r->counts.events += head->events;
	remember(r, &range);
	return 0;
}

void receiver_wake(struct receiver *r)
{
	if (!loop_timer_is_armed(r->flush))
		loop_timer_arm(r->flush, RECEIVE_FLUSH_NS);
}

void receiver_count(struct receiver *r, const struct inlet_report *report)
{
	if (report->bad_lines && !r->why[0])
		str_copy(r->why, sizeof(r->why), report->why);
	r->counts.bad_lines += report->bad_lines;
	r->counts.skipped_bytes += report->skipped_bytes;
}

/* --- from the spool to the destination */

static bool is_done(const struct receiver *r)
{
	return r->settled >= r->appended && r->empty_at >= r->appended &&
	       !delivery_is_busy(r->delivery) && !conns_wait(r);
}

static void look_for_end(struct receiver *r)
{
	if (r->is_ending && is_done(r))
		loop_stop(r->loop);
}

static void on_settled(void *arg, uint64_t appended)
{
	struct receiver *r = arg;

	r->settled = appended;
	conns_turn(r);
	look_for_end(r);
}

static void on_blocks(void *arg, int consumer, const uint8_t *p, size_t n, uint64_t place)
{
	struct receiver *r = arg;

	r->place = place;
	if (delivery_put(r->delivery, p, n))
		spooler_rewind(r->spooler, consumer);
}

static void on_delivered(void *arg)
{
	struct receiver *r = arg;

	spooler_ack(r->spooler, r->consumer, r->place);
	spooler_want(r->spooler, r->consumer);
	look_for_end(r);
}

static void on_empty(void *arg, int consumer, uint64_t appended)
{
	struct receiver *r = arg;

	(void)consumer;
	r->empty_at = appended;
	look_for_end(r);
}

static void on_full(void *arg, bool is_full)
{
	struct receiver *r = arg;

	r->is_full = is_full;
	if (is_full)
		cmd_warn("%s has no room: connections wait, and datagrams are lost and counted",
			 r->spool);
	else
		conns_turn(r);
}

static void on_word(void *arg, const char *text)
{
	const struct receiver *r = arg;

	cmd_warn("%s: %s", r->spool, text);
}

/* --- start */

static void end(struct receiver *r)
{
	if (r->is_ending)
		return;
	r->is_ending = true;
	ports_close(r);
	conns_end(r);
	conns_flush(r);
	loop_timer_arm(r->end, RECEIVE_END_NS);
	look_for_end(r);
}

static void on_signal(void *arg, int signo)
{
	struct receiver *r = arg;

	(void)signo;
	if (r->is_ending) /* a second one: at once */
		loop_stop(r->loop);
	end(r);
}

static void fail(struct receiver *r, int status)
{
	r->status = status;
	loop_stop(r->loop);
}

static void begin(struct receiver *r)
{
	struct notify notify;
	int rc = ports_open(r);

	rc = rc == CMD_OK ? report_start(r) : rc;
	if (rc != CMD_OK) {
		fail(r, rc);
		return;
	}
	notify_init(&notify);
	notify_send(&notify, "READY=1");
	spooler_want(r->spooler, r->consumer);
	if (r->options->for_ns)
		loop_timer_arm(r->end, r->options->for_ns);
}

static void on_open(void *arg, int rc, const struct err *e)
{
	struct receiver *r = arg;

	if (rc && r->consumer < 0) {
		fail(r, cmd_fail(CMD_FAILURE, "%s: %s", r->spool, e->text));
		return;
	}
	if (rc || r->consumer >= 0)
		return;
	r->consumer = spooler_consumer(r->spooler, "destination", true);
	if (r->consumer < 0)
		fail(r, cmd_fail(CMD_FAILURE, "%s: has no room for a reader", r->spool));
	else
		begin(r);
}

static void on_flush(void *arg)
{
	struct receiver *r = arg;
	bool is_left = conns_flush(r);
	struct err e = { 0 };

	for (size_t i = 0; i < r->nports; i++)
		if (r->port[i].inlet) {
			inlet_flush(r->port[i].inlet, &e);
			is_left = is_left || inlet_has_rest(r->port[i].inlet);
		}
	if (is_left)
		receiver_wake(r);
}

static void on_report(void *arg)
{
	struct receiver *r = arg;

	if (r->options->json)
		report_state(r, false);
	else
		report_progress(r);
	loop_timer_arm(r->report, REPORT_NS);
}

/* Called when the time of --for, or the time limit of the end, is over. */
static void on_end(void *arg)
{
	struct receiver *r = arg;

	if (r->is_ending)
		loop_stop(r->loop);
	else
		end(r);
}

/* The place of the spool: beside the file, or that of --spool. */
static int choose_spool(struct receiver *r)
{
	const char *to = r->options->to, *place = destination_place(to);
	char state[FILE_PATH_BYTES];
	struct err e = { 0 };
	int n;

	if (r->options->spool)
		n = snprintf(r->spool, sizeof(r->spool), "%s", r->options->spool);
	else if (str_eq(to, DESTINATION_MONITOR))
		n = file_state_dir(state, &e)
			    ? -1
			    : snprintf(r->spool, sizeof(r->spool), "%s/received.spool", state);
	else if (strstr(place, "://"))
		return cmd_fail(CMD_USAGE,
				"--spool FOLDER is needed: events wait there on disk until %s has "
				"them, and only a file has a place beside it",
				str_has_prefix(place, "x-") ? place : "the destination");
	else
		n = snprintf(r->spool, sizeof(r->spool), "%s.spool", place);
	if (n < 0 || (size_t)n >= sizeof(r->spool))
		return cmd_fail(CMD_USAGE, "%s", e.code ? e.text : "--spool is too long");
	if (mkdir(r->spool, 0700) && errno != EEXIST)
		return cmd_fail(errno == EACCES ? CMD_DENIED : CMD_FAILURE, "%s: %m", r->spool);
	return CMD_OK;
}

static int open_spool(struct receiver *r)
{
	const struct spool_conf conf = { .when_full = SPOOL_STOP,
					 .max_bytes = r->options->room_mib << 20,
					 .commit_ns = COMMIT_NS,
					 .commit_bytes = COMMIT_BYTES };
	const struct spooler_calls calls = { .loop = r->loop,
					     .on_open = on_open,
					     .on_settled = on_settled,
					     .on_blocks = on_blocks,
					     .on_empty = on_empty,
					     .on_full = on_full,
					     .on_word = on_word,
					     .arg = r };
	struct err e = { 0 };

	if (spooler_open(r->spool, &conf, &calls, &r->spooler, &e))
		return cmd_fail(CMD_FAILURE, "%s: %s", r->spool, e.text);
	return CMD_OK;
}

static int open_timers(struct receiver *r)
{
	struct err e = { 0 };

	r->flush = loop_timer_new(r->loop, on_flush, r);
	r->report = loop_timer_new(r->loop, on_report, r);
	r->end = loop_timer_new(r->loop, on_end, r);
	r->signals[0] = loop_signal_new(r->loop, SIGTERM, on_signal, r, &e);
	r->signals[1] = loop_signal_new(r->loop, SIGINT, on_signal, r, &e);
	if (!r->flush || !r->report || !r->end || !r->signals[0] || !r->signals[1])
		return cmd_fail(CMD_FAILURE, "out of memory");
	loop_timer_arm(r->report, REPORT_NS);
	return CMD_OK;
}

/* A descriptor for each connection. */
static void want_descriptors(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur >= 2 * RECEIVE_CONNS_MAX)
		return;
	l.rlim_cur = l.rlim_max < 2 * RECEIVE_CONNS_MAX ? l.rlim_max : 2 * RECEIVE_CONNS_MAX;
	setrlimit(RLIMIT_NOFILE, &l);
}

static int open_all(struct receiver *r)
{
	const struct delivery_calls calls = { r->loop, on_delivered, r };
	int rc = choose_spool(r);

	rc = rc == CMD_OK ? delivery_open(r->options, &calls, &r->delivery) : rc;
	rc = rc == CMD_OK ? open_timers(r) : rc;
	return rc == CMD_OK ? open_spool(r) : rc;
}

static void close_all(struct receiver *r)
{
	delivery_close(r->delivery);
	loop_timer_free(r->flush);
	loop_timer_free(r->report);
	loop_timer_free(r->end);
	loop_signal_free(r->signals[0]);
	loop_signal_free(r->signals[1]);
	map_done(&r->seen);
	free(r->line);
	loop_free(r->loop);
}

static int serve(struct receiver *r)
{
	int rc = open_all(r);

	if (rc == CMD_OK && loop_run(r->loop))
		rc = cmd_fail(CMD_FAILURE, "poll: %m");
	rc = rc == CMD_OK ? r->status : rc;
	progress_end(&r->progress);
	ports_close(r);
	conns_close(r);
	tls_close(r);
	if (rc == CMD_OK)
		rc = report_state(r, true);
	spooler_close(r->spooler);
	return rc;
}

int receive(const struct receive_options *w)
{
	struct receiver *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return cmd_fail(CMD_FAILURE, "out of memory");
	r->options = w;
	r->consumer = -1;
	list_init(&r->conns);
	map_init(&r->seen);
	want_descriptors();
	progress_begin(&r->progress, w->is_quiet || w->json);
	r->loop = loop_new();
	r->line = evline_new(EVWORDS_AUTO);
	rc = r->loop && r->line ? serve(r) : cmd_fail(CMD_FAILURE, "out of memory");
	close_all(r);
	free(r);
	return rc;
}
