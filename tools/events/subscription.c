/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/events/subscription.h"

#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/hash.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/json/json.h"
#include "common/omis/text/value.h"
#include "tools/events/destination.h"
#include "tools/session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* a quarter of the bytes in transit, so that the sender never waits for this command */
#define COMMIT_BYTES (2u << 20)
/* Maximum age of events in the database. Events that a kill loses are sent again. */
#define COMMIT_NS (200 * NSEC_PER_MSEC)
#define WAIT_NS (200 * NSEC_PER_MSEC) /* interval of checks for signals and the end */
/* the command does not wait longer for a host that reports no end */
#define QUIET_NS (30 * NSEC_PER_SEC)
#define STREAMS_MAX 4096 /* openings whose blocks are not acknowledged yet */
#define NAME_MAX_CHARS 63
#define NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

/* Received part of an opening. */
struct place {
	uint64_t stream, place;
};

struct subscription {
	const struct subscription_options *options;
	struct destination *destination;
	struct evbalance_totals before; /* totals in the destination */
	char name[NAME_MAX_CHARS + 1];
	struct place *place; /* owned: to be acknowledged */
	size_t nplace, cap;
	size_t bytes; /* not committed */
	nsec_t since, end, heard; /* heard: time of the last message */
	nsec_t shown;
	/* owned: hosts that had events and were missing at the end; NULL: none */
	char *missing;
	bool must_ask, is_ending, is_over;
	int status;
};

/* --- names */

bool subscription_is_name(const char *name)
{
	size_t n = strlen(name);

	return n && n <= NAME_MAX_CHARS && strspn(name, NAME_CHARS) == n;
}

/* The same command has the same name, so that it continues where a killed one was. */
static void make_name(struct subscription *k)
{
	static const struct hash_key of_names;
	const struct subscription_options *w = k->options;
	const char *const parts[] = { w->to, w->where, w->job };
	struct buf b = BUF_INIT(1 << 20);

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		buf_put(&b, parts[i] ? parts[i] : "", parts[i] ? strlen(parts[i]) + 1 : 1);
	for (char **name = w->names; *name; name++)
		buf_put(&b, *name, strlen(*name) + 1);
	snprintf(k->name, sizeof(k->name), "keep-%016" PRIx64, hash_sip13(&of_names, b.p, b.n));
	buf_done(&b);
}

/* --- received blocks */

static void note_place(struct subscription *k, uint64_t stream, uint64_t place)
{
	for (size_t i = 0; i < k->nplace; i++)
		if (k->place[i].stream == stream) {
			k->place[i].place = place;
			return;
		}
	if (array_grow(&k->place, &k->cap, k->nplace + 1, sizeof(*k->place), STREAMS_MAX))
		k->status = cmd_fail(CMD_FAILURE, "out of memory");
	else
		k->place[k->nplace++] = (struct place){ stream, place };
}

static void on_events(const Omis_events *ev, void *arg)
{
	struct subscription *k = arg;

	if (!str_eq(ev->subscription, k->name) || k->status != CMD_OK || k->is_over)
		return;
	k->heard = clock_mono();
	if (ev->len) {
		if (!k->nplace)
			k->since = k->heard;
		k->bytes += ev->len;
		k->status = destination_blocks(k->destination, ev->blocks, ev->len);
		note_place(k, ev->stream, ev->place);
	}
	if (!ev->end)
		return;
	k->is_over = true;
	k->missing = *ev->missing ? str_dup(ev->missing) : NULL;
	if (!k->is_ending)
		k->status = cmd_fail(CMD_LOST, "%s was ended, or another command receives it now",
				     k->name);
}

static void totals_now(const struct subscription *k, struct evbalance_totals *t)
{
	evbalance_totals(destination_balance(k->destination), t);
	t->generated -= k->before.generated;
	t->stored -= k->before.stored;
	t->left_out -= k->before.left_out;
	t->dropped -= k->before.dropped;
	t->lost -= k->before.lost;
	t->open = t->open > k->before.open ? t->open - k->before.open : 0;
}

static uint64_t all_lost(const struct evbalance_totals *t)
{
	return t->dropped + t->lost + t->left_out;
}

static int report_json(const struct subscription *k, bool is_last)
{
	struct buf b = BUF_INIT(4096);
	struct evbalance_totals t;
	struct json j;

	totals_now(k, &t);
	json_init(&j, &b);
	json_object(&j);
	json_key_u64(&j, "generated", t.generated);
	json_key_u64(&j, "stored", t.stored);
	json_key_u64(&j, "dropped", t.dropped);
	json_key_u64(&j, "lost", t.lost);
	json_key_u64(&j, "left_out", t.left_out);
	if (is_last) {
		json_key_u64(&j, "open", t.open);
		json_key_u64(&j, "all_generated", t.generated + k->before.generated);
		json_key_u64(&j, "all_stored", t.stored + k->before.stored);
		json_key_bool(&j, "is_done", k->is_over && !k->missing);
		json_key_str(&j, "missing", k->missing ? k->missing : "");
	}
	json_object_end(&j);
	return cmd_json_line(&j, &b);
}

/* Commits first, then acknowledges. After a kill in between, the repeated events are recognised. */
static void commit(struct subscription *k)
{
	if (!k->nplace || k->status != CMD_OK)
		return;
	k->status = destination_commit(k->destination);
	if (k->status != CMD_OK)
		return;
	for (size_t i = 0; i < k->nplace; i++)
		omis_events_ack(k->name, k->place[i].stream, k->place[i].place);
	k->nplace = k->bytes = 0;
	if (k->options->common.json)
		k->status = report_json(k, false);
}

static void show_progress(struct subscription *k, nsec_t now)
{
	struct evbalance_totals t;

	if (k->options->common.json || !isatty(2) || now - k->shown < WAIT_NS)
		return;
	k->shown = now;
	totals_now(k, &t);
	fprintf(stderr, "\r\x1b[K%" PRIu64 " events stored, %" PRIu64 " lost%s", t.stored,
		all_lost(&t),
		session_link() == SESSION_LOST ? ", mainsm is not there"
		: k->is_ending		       ? ", ending"
					       : "");
}

static void end_progress(const struct subscription *k)
{
	if (k->shown)
		fputs("\r\x1b[K", stderr);
}

/* --- asking */

static void write_pair(struct omis_writer *out, const char *key, const char *text, int64_t number)
{
	if (!text && !number)
		return;
	omis_write_string(out, key);
	if (text)
		omis_write_string(out, text);
	else
		omis_write_int(out, number);
}

static void write_keys(struct omis_writer *out, const struct subscription_options *w)
{
	char policy[24];

	snprintf(policy, sizeof(policy), str_eq(w->when_full, "stop") ? "stop" : "drop_%s",
		 w->when_full);
	omis_write_list(out);
	write_pair(out, "job", w->job, 0);
	write_pair(out, "policy", policy, 0);
	write_pair(out, "lease", NULL, w->lease_ns / NSEC_PER_SEC);
	write_pair(out, "mb", NULL, w->room_mib);
	omis_write_list_end(out);
}

/* Returns the remaining seconds, rounded up: we end the subscription ourselves. */
static int64_t seconds_left(const struct subscription *k)
{
	nsec_t left = k->end - clock_mono();

	if (!k->options->for_ns)
		return 0;
	return left > 0 ? (left + NSEC_PER_SEC - 1) / NSEC_PER_SEC + 1 : 1;
}

static void write_request(const struct subscription *k, struct buf *b)
{
	const struct subscription_options *w = k->options;
	struct omis_writer out = OMIS_WRITER(b);

	buf_printf(b, ":omig_events_keep(\"%s\",", k->name);
	omis_write_list(&out);
	for (char **name = w->names; *name; name++)
		omis_write_string(&out, *name);
	omis_write_list_end(&out);
	omis_write_string(&out, w->where ? w->where : "");
	omis_write_int(&out, seconds_left(k));
	write_keys(&out, w);
	buf_putc(b, ')');
}

/* A connection lost meanwhile is not a failure: the request is repeated with the next one. */
static int status_of(Omis_reply r)
{
	Omis_status s = omis_reply_status(r) & ~OMIS_FATAL;
	const char *words = "";

	if (s < OMIS_FIRST_ERROR || session_link() != SESSION_UP)
		return CMD_OK;
	for (size_t i = 0; r[i] && !*words; i++)
		words = r[i]->obj_list && r[i]->status >= OMIS_FIRST_ERROR && r[i]->result
				? r[i]->result
				: "";
	return cmd_fail(s == OMIS_OS_ERROR ? CMD_UNREACHABLE : session_status_of(s), "%s",
			*words ? words : omis_strerror(s));
}

static void ask(struct subscription *k)
{
	struct buf b = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	Omis_reply r;

	session_link_taken();
	write_request(k, &b);
	if (b.failed) {
		buf_done(&b);
		k->status = cmd_fail(CMD_USAGE, "the names are longer than a request may be");
		return;
	}
	r = omis_request_n((const char *)b.p, b.n, NULL, NULL, 0);
	buf_done(&b);
	k->status = r ? status_of(r) : cmd_fail(CMD_FAILURE, "out of memory");
	omis_reply_free(r);
	k->must_ask = session_link() != SESSION_UP;
	if (k->status == CMD_OK && !k->must_ask && k->options->on_ready)
		k->options->on_ready();
	k->heard = clock_mono();
}

/* Blocks on their way still arrive, followed by the report that all have arrived. */
static void ask_to_end(struct subscription *k)
{
	char text[128];
	Omis_reply r;

	if (session_link() == SESSION_LOST || k->must_ask)
		return;
	snprintf(text, sizeof(text), ":omig_events_unkeep(\"%s\",1)", k->name);
	k->is_ending = true;
	r = omis_request(text, NULL, NULL, 0);
	if (!r)
		k->status = cmd_fail(CMD_FAILURE, "out of memory");
	else if (k->status == CMD_OK)
		k->status = status_of(r);
	omis_reply_free(r);
	k->heard = clock_mono();
}

/* --- the loop */

static bool is_time(const struct subscription *k, nsec_t now)
{
	struct evbalance_totals t;

	if (now >= k->end || *k->options->signals)
		return true;
	if (!k->options->count)
		return false;
	totals_now(k, &t);
	return t.stored >= (uint64_t)k->options->count;
}

static void serve_link(struct subscription *k)
{
	if (session_link() != SESSION_BACK && !k->must_ask)
		return;
	k->is_ending = false; /* mainsm may be a new one without the request */
	if (session_link() != SESSION_LOST)
		ask(k);
}

static void wait_a_while(struct subscription *k, nsec_t now)
{
	nsec_t until = k->nplace ? k->since + COMMIT_NS : now + WAIT_NS;
	struct pollfd p = { .fd = omis_fd(), .events = POLLIN };
	nsec_t left = k->is_ending || until < k->end ? until - now : k->end - now;

	if (k->bytes < COMMIT_BYTES && left > 0 &&
	    poll(&p, 1, (int)(left / NSEC_PER_MSEC) + 1) < 0 && errno != EINTR)
		return;
	omis_handler();
}

/* True after a second signal, or if the end was requested and nothing has arrived for QUIET_NS. */
static bool is_given_up(const struct subscription *k, nsec_t now)
{
	bool is_asked_to = now >= k->end || *k->options->signals;

	return *k->options->signals > 1 || (is_asked_to && now - k->heard > QUIET_NS);
}

static void receive(struct subscription *k)
{
	nsec_t now;

	while (k->status == CMD_OK && !k->is_over && !is_given_up(k, now = clock_mono())) {
		serve_link(k);
		if (k->status == CMD_OK && !k->is_ending && is_time(k, now))
			ask_to_end(k);
		wait_a_while(k, now);
		now = clock_mono();
		if (k->bytes >= COMMIT_BYTES || (k->nplace && now - k->since >= COMMIT_NS))
			commit(k);
		show_progress(k, now);
	}
	commit(k);
	if (k->status == CMD_OK && !k->is_over)
		k->status = cmd_fail(
			CMD_LOST,
			"not all hosts have reported their end; their events wait for the same command");
}

/* Sends the acknowledgements before the connection is closed. */
static void let_go(void)
{
	struct pollfd p = { .fd = omis_fd(), .events = POLLIN };

	for (int i = 0; i < 3; i++) {
		omis_handler();
		if (poll(&p, 1, 1) < 0)
			return;
	}
}

/* --- the end */

static void report(uint64_t n, const char *text)
{
	if (n)
		cmd_warn("%" PRIu64 " %s", n, text);
}

static int report_end(const struct subscription *k)
{
	struct evbalance_totals t;
	int rc = CMD_OK;

	totals_now(k, &t);
	if (k->options->common.json)
		rc = report_json(k, true);
	else
		printf("%" PRIu64 " events generated, %" PRIu64 " stored in %s, %" PRIu64 " lost\n",
		       t.generated, t.stored, destination_name(k->destination), all_lost(&t));
	report(t.dropped,
	       "events lost: the processes wrote faster than they were collected; choose fewer names, or --where");
	report(t.lost, "events lost on the way: a spool was full; raise --room");
	report(t.left_out,
	       "events are not in the archive, which has no room for their types, or cannot read them");
	report(destination_damaged(k->destination), "bytes came that are not blocks");
	if (k->missing)
		cmd_warn("missing hosts, whose events wait for the same command: %s", k->missing);
	report(k->is_over ? t.open : 0,
	       "threads have not reported their end; their losses are unknown");
	if (rc == CMD_OK &&
	    (all_lost(&t) || destination_damaged(k->destination) || t.open || k->missing))
		rc = CMD_LOST;
	return rc;
}

static int run(struct subscription *k)
{
	int end;

	omis_events_handler(on_events, k);
	k->heard = clock_mono();
	k->end = k->options->for_ns ? k->heard + k->options->for_ns : INT64_MAX;
	k->must_ask = true;
	receive(k);
	let_go();
	end_progress(k);
	end = report_end(k);
	return k->status != CMD_OK ? k->status : end;
}

int subscription_run(const struct subscription_options *w)
{
	struct subscription k = { .options = w };
	int rc = destination_open(w->to, &k.destination);

	if (rc != CMD_OK)
		return rc;
	evbalance_totals(destination_balance(k.destination), &k.before);
	if (w->name)
		str_copy(k.name, sizeof(k.name), w->name);
	else
		make_name(&k);
	rc = session_open(&w->common);
	if (rc == CMD_OK) {
		rc = run(&k);
		session_close();
	}
	destination_close(k.destination);
	free(k.place);
	free(k.missing);
	return rc;
}
