/* SPDX-License-Identifier: Apache-2.0 */
/* A subscription: stores blocks in its spool, and sends them to the parent. */
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "eventlog/keep/keep_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CONSUMER "up"

static void ask(struct keep *k)
{
	if (!k->stream || k->wants || k->on_way >= k->room)
		return;
	k->wants = true;
	spooler_want(k->spooler, k->consumer);
}

static int send_events(struct keep *k, uint64_t place, const uint8_t *p, size_t n, bool end)
{
	const struct keeps *ks = k->owner;

	return ks->conf.send(
		ks->conf.send_arg,
		&(struct msg){ .type = MSG_EVENTS,
			       .events = { k->name, k->stream, place, { p, n }, end, NULL } });
}

bool keep_is_empty(const struct keep *k)
{
	return !k->on_way && k->settled >= k->appended && k->empty_at == k->appended + 1;
}

void keep_say_end(struct keep *k)
{
	if (k->stream && !k->has_sent_end)
		k->has_sent_end = send_events(k, 0, NULL, 0, true) == 0;
}

/*
 * Reports the end after the parent has acknowledged all blocks, if no source can add further ones.
 */
static void check_end(struct keep *k)
{
	if (k->request.ending && !k->sources && keep_is_empty(k))
		keep_say_end(k);
}

/* --- events of the spool */

static void on_open(void *arg, int got, const struct err *e)
{
	struct keep *k = arg;

	if (!got && k->has_failed)
		log_notice("keep", "events of subscription=%s are stored again", k->name);
	k->has_failed = got != 0;
	if (!got)
		return;
	log_error("keep", "events of subscription=%s are not stored: %s", k->name, e->text);
}

static void on_settled(void *arg, uint64_t appended)
{
	struct keep *k = arg;
	const struct keeps *ks = k->owner;

	k->settled = appended;
	if (ks->conf.on_settled)
		ks->conf.on_settled(ks->conf.arg, k, appended);
	check_end(k);
}

/* Sends blocks. Blocks that cannot be sent are sent again on the next stream. */
static void on_blocks(void *arg, int consumer, const uint8_t *p, size_t n, uint64_t place)
{
	struct keep *k = arg;
	const struct keeps *ks = k->owner;

	k->wants = false;
	if (!k->stream)
		return;
	if (ks->conf.on_given)
		ks->conf.on_given(ks->conf.arg, k, p, n);
	if (send_events(k, place, p, n, false)) {
		k->stream = 0;
		return;
	}
	k->place[k->on_way++] = place;
	ask(k);
}

static void on_empty(void *arg, int consumer, uint64_t appended)
{
	struct keep *k = arg;

	k->empty_at = appended + 1;
	check_end(k);
}

/* Reports a change. was: result of keep_is_full() before it. */
static void report_full(struct keep *k, bool was)
{
	const struct keeps *ks = k->owner;

	if (keep_is_full(k) != was && ks->conf.on_full)
		ks->conf.on_full(ks->conf.arg, k, !was);
}

static void on_full(void *arg, bool is_full)
{
	struct keep *k = arg;
	bool was = keep_is_full(k);

	k->is_full = is_full;
	log_notice("keep", "subscription=%s: its room on disk is %s", k->name,
		   is_full ? "used up" : "free again");
	report_full(k, was);
}

static void on_word(void *arg, const char *text)
{
	struct keep *k = arg;

	log_warn("keep", "subscription=%s: %s", k->name, text);
}

/* --- begin and end */

static void on_lease(void *arg)
{
	keep_end(arg, "no tool renewed its lease");
}

static void watch_lease(struct keep *k)
{
	if (k->stream)
		loop_timer_cancel(k->lease);
	else if (!loop_timer_is_armed(k->lease))
		loop_timer_arm(k->lease, (nsec_t)k->request.lease_s * NSEC_PER_SEC);
}

static enum spool_when_full when_full(const struct keep *k)
{
	static const enum spool_when_full when[] = { [MSG_KEEP_DROP_OLDEST] = SPOOL_DROP_OLDEST,
						     [MSG_KEEP_DROP_NEWEST] = SPOOL_DROP_NEWEST,
						     [MSG_KEEP_STOP] = SPOOL_STOP };

	return k->owner->conf.loses_nothing ? SPOOL_STOP : when[k->request.policy];
}

static int open_spool(struct keep *k, struct err *e)
{
	const struct spooler_calls calls = { .loop = k->owner->conf.loop,
					     .on_open = on_open,
					     .on_settled = on_settled,
					     .on_blocks = on_blocks,
					     .on_empty = on_empty,
					     .on_full = on_full,
					     .on_word = on_word,
					     .arg = k,
					     .turns = k->owner->conf.turns };
	const struct spool_conf c = { .disk = k->owner->conf.disk,
				      .when_full = when_full(k),
				      .max_bytes = k->request.max_bytes,
				      .commit_ns = KEEP_COMMIT_NS,
				      .commit_bytes = SPOOL_READ_BYTES };
	char path[FILE_PATH_BYTES];
	int rc = keep_path(k, "", path, e);

	if (!rc)
		rc = spooler_open(path, &c, &calls, &k->spooler, e);
	if (rc)
		return rc;
	k->consumer = spooler_consumer(k->spooler, CONSUMER, true);
	return k->consumer < 0 ? err_set(e, ERR_INTERNAL, "the spool accepts no consumer") : 0;
}

static int check_request(const struct msg_events_open *m, struct err *e)
{
	if (!keep_is_name(m->sub))
		return err_set(e, ERR_INVALID,
			       "a subscription's name needs 1 to %d letters, digits, '-', '_', '.'",
			       LEDGER_NAME_BYTES - 1);
	if (m->policy > MSG_KEEP_STOP || m->max_bytes < KEEP_MIN_BYTES ||
	    m->max_bytes > KEEP_MAX_BYTES || m->lease_s < KEEP_LEASE_MIN_S ||
	    m->lease_s > KEEP_LEASE_MAX_S || !m->identity[0])
		return err_set(e, ERR_INVALID, "the limits of the subscription are invalid");
	return 0;
}

/* Sets the bytes that the subscription may use of keeps_all; 0: none. */
static void promise(struct keep *k, uint64_t bytes)
{
	struct keeps_all *all = k->owner->conf.all;

	if (!all)
		return;
	all->n += (bytes != 0) - (k->promised != 0);
	all->bytes += bytes - k->promised;
	k->promised = bytes;
}

static int set_request(struct keep *k, const struct msg_events_open *m, struct err *e)
{
	if (!k->identity)
		k->identity = str_dup(m->identity);
	if (!k->identity)
		return err_nomem(e);
	k->request = *m;
	k->request.sub = k->name;
	k->request.identity = k->identity;
	k->request.stream = 0;
	k->request.room = 0;
	promise(k, m->max_bytes);
	return 0;
}

void keep_free(struct keep *k)
{
	list_del(&k->link);
	k->owner->n--;
	promise(k, 0);
	spooler_close(k->spooler);
	loop_timer_free(k->lease);
	loop_job_cancel(&k->ending);
	free(k->identity);
	free(k);
}

static void on_found(void *arg, const uint8_t *p, const struct evblock *b)
{
	struct keep *k = arg;

	k->owner->conf.on_given(k->owner->conf.arg, k, p, b->bytes);
}

static int look_at_disk(struct keep *k, struct err *e)
{
	char path[FILE_PATH_BYTES];
	int rc = keep_path(k, "", path, e);

	return rc ? rc : spool_scan(k->owner->conf.disk, path, on_found, k, e);
}

int keep_new(struct keeps *ks, const struct msg_events_open *m, struct keep **out, struct err *e)
{
	int rc = check_request(m, e);
	struct keep *k = rc ? NULL : calloc(1, sizeof(*k));
	bool is_made = false;

	if (!k)
		return rc ? rc : err_nomem(e);
	k->owner = ks;
	list_push_back(&ks->all, &k->link);
	ks->n++;
	str_copy(k->name, sizeof(k->name), m->sub);
	k->lease = loop_timer_new(ks->conf.loop, on_lease, k);
	rc = k->lease ? set_request(k, m, e) : err_nomem(e);
	if (!rc && !ks->is_loading) /* a loaded subscription is on the disk already */
		rc = keep_save(k, e);
	if (!rc && ks->conf.on_made) {
		ks->conf.on_made(ks->conf.arg, k);
		is_made = true;
	}
	if (!rc && ks->is_loading && ks->conf.on_given)
		rc = look_at_disk(k, e);
	if (!rc)
		rc = open_spool(k, e);
	if (rc) {
		if (is_made && ks->conf.on_gone)
			ks->conf.on_gone(ks->conf.arg, k);
		keep_free(k);
		if (!ks->is_loading) /* a loaded subscription stays on the disk for its user */
			keep_erase(ks, m->sub);
		return rc;
	}
	watch_lease(k);
	*out = k;
	return 0;
}

void keep_end_now(struct keep *k)
{
	struct keeps *ks = k->owner;
	struct spool_stats s = { 0 };
	char name[LEDGER_NAME_BYTES];

	if (k->spooler)
		spooler_stats(k->spooler, &s);
	log_notice("keep",
		   "subscription=%s is over (%s): room on disk %" PRIu64
		   " bytes, lost before %" PRIu64 " events",
		   k->name, k->why, s.disk_bytes, s.lost_events);
	if (ks->conf.on_gone)
		ks->conf.on_gone(ks->conf.arg, k);
	str_copy(name, sizeof(name), k->name);
	keep_free(k);
	keep_erase(ks, name);
}

static void on_ending(void *arg)
{
	keep_end_now(arg);
}

void keep_end(struct keep *k, const char *why)
{
	k->why = why;
	k->stream = 0;
	loop_timer_cancel(k->lease);
	loop_job_post(k->owner->conf.loop, &k->ending, on_ending, k);
}

/* --- messages of the parent */

/*
 * Saves a request. If that fails, the request is valid until the daemon restarts, when the parent
 * repeats it.
 */
static void save_request(const struct keep *k)
{
	struct err e = { 0 };

	if (keep_save(k, &e))
		log_warn("keep", "subscription=%s: its changed request is not on disk: %s", k->name,
			 e.text);
}

/* A changed request has no effect on blocks that are stored or sent. */
int keep_report(struct keep *k, const struct msg_events_open *m, struct err *e)
{
	const struct msg_events_open was = k->request;
	bool was_full = keep_is_full(k), is_same;
	int rc = check_request(m, e);

	if (rc)
		return rc;
	is_same = m->policy == was.policy && m->max_bytes == was.max_bytes;
	if (is_same && m->lease_s == was.lease_s && m->ending == was.ending)
		return 0;
	rc = set_request(k, m, e);
	if (rc)
		return rc;
	save_request(k);
	if (is_same)
		return 0;
	spooler_limit(k->spooler, when_full(k), m->max_bytes);
	report_full(k, was_full);
	return 0;
}

void keep_open_stream(struct keep *k, uint64_t stream, uint32_t room)
{
	bool is_same = stream && stream == k->stream;

	k->room = room < KEEP_ROOM_MAX ? room : KEEP_ROOM_MAX;
	if (!is_same) {
		k->stream = stream;
		k->on_way = 0;
		k->wants = k->has_sent_end = false;
		k->empty_at = 0;
		spooler_rewind(k->spooler, k->consumer);
	}
	watch_lease(k);
	ask(k);
	check_end(k);
}

void keep_acked(struct keep *k, uint64_t stream, uint64_t place)
{
	uint32_t n = 0;

	while (n < k->on_way && k->place[n] <= place)
		n++;
	if (stream != k->stream || !n)
		return;
	spooler_ack(k->spooler, k->consumer, k->place[n - 1]);
	k->on_way -= n;
	memmove(k->place, k->place + n, k->on_way * sizeof(k->place[0]));
	ask(k);
	check_end(k);
}

/* --- calls of the daemon */

const char *keep_name(const struct keep *k)
{
	return k->name;
}

const struct msg_events_open *keep_request(const struct keep *k)
{
	return &k->request;
}

int keep_append(struct keep *k, const uint8_t *p, const struct evblock *b)
{
	int rc = spooler_append(k->spooler, p, b);

	if (!rc || rc == -ERR_LIMIT)
		k->appended++;
	return rc;
}

uint64_t keep_appended(const struct keep *k)
{
	return k->appended;
}

bool keep_is_settled(const struct keep *k)
{
	return k->settled >= k->appended;
}

uint64_t keep_room(const struct keep *k)
{
	struct spool_stats s = { 0 };

	if (k->has_failed || k->is_full)
		return 0;
	spooler_stats(k->spooler, &s);
	return s.disk_bytes + KEEP_SPARE_BYTES < k->request.max_bytes
		       ? k->request.max_bytes - KEEP_SPARE_BYTES - s.disk_bytes
		       : 0;
}

bool keep_is_full(const struct keep *k)
{
	return k->is_full && k->request.policy == MSG_KEEP_STOP;
}

void keep_feed(struct keep *k, int change)
{
	k->sources += change;
	check_end(k);
}

void keep_set_user(struct keep *k, void *user)
{
	k->user = user;
}

void *keep_user(const struct keep *k)
{
	return k->user;
}
