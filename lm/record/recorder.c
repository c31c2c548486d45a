/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/record/recorder.h"

#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/base/log.h"
#include "lm/record/record.h"
#include "proto/frame.h"

#include <string.h>

#define ARM ".arm"
#define SAVE_AGAIN_NS NSEC_PER_SEC /* a full disk may have room again */

struct recorder *recorder_of(const struct csr *c)
{
	return c->source->of;
}

int recorder_find(const struct csr *c, const char *name, struct keep **out, struct reply *r)
{
	const struct keeps *ks = recorder_of(c)->keeps;
	struct err e = { 0 };
	int rc = 0;

	*out = NULL;
	if (!name || !*name)
		return 0;
	rc = ks ? keeps_check(ks, name, c->identity, out, &e)
		: err_set(&e, ERR_UNSUPPORTED, "nothing can be kept on this host");
	if (rc)
		reply_add_error(r, 0, "",
				rc == -ERR_NOTFOUND ? STATUS_UNKNOWN_OBJECT : status_from_err(rc),
				"%s: %s", name, e.text);
	return rc;
}

void recorder_append(struct keep *k, const uint8_t *block)
{
	struct evblock b;
	int rc;

	evblock_head(block, &b);
	rc = keep_append(k, block, &b);
	if (rc && rc != -ERR_LIMIT)
		log_debug("lm", "a block is lost subscription=%s: %s", keep_name(k), err_name(rc));
}

struct csr *recorder_before(const struct csr *c)
{
	const struct keep *k = record_keep(c);

	list_each (i, &c->owner->all) {
		struct csr *other = list_entry(i, struct csr, link);

		if (k && other != c && record_keep(other) == k)
			return other;
	}
	return NULL;
}

struct events_site *recorder_site_before(const struct csr_site *s)
{
	const struct csr *before = recorder_before(s->csr);
	const struct csr_site *site = before ? csr_find_site(before, s->proc) : NULL;

	return site ? site->own : NULL;
}

/* --- stored cursors */

struct ring_cursors *recorder_cursors(const struct csr *c)
{
	const struct keep *k = record_keep(c);

	return k ? keep_user(k) : NULL;
}

static bool lives(void *arg, uint64_t segment)
{
	return procs_find_key(arg, segment) != NULL;
}

struct ring_cursor *recorder_cursor(const struct csr_site *s, unsigned thread, uint64_t stream)
{
	struct ring_cursors *rows = recorder_cursors(s->csr);

	return rows ? ring_cursors_add(
			      rows, &(struct ring_cursor_key){ s->proc->seg_key, stream, thread },
			      lives, s->csr->owner->conf.procs)
		    : NULL;
}

bool recorder_knows(const struct csr *c, const struct proc *p)
{
	const struct ring_cursors *rows = recorder_cursors(c);
	const struct csr *before = recorder_before(c);

	return rows && !(before && csr_find_site(before, p)) &&
	       ring_cursors_knows(rows, p->seg_key);
}

bool recorder_goes_on(const struct csr *c, struct proc *p)
{
	if (!recorder_knows(c, p))
		return false;
	for (unsigned i = 0; i < segview_threads(p->seg); i++)
		segview_skip(p->seg, i, ring_cursors_place(recorder_cursors(c), p->seg_key, i));
	return true;
}

/* On failure recording continues; only the loss of a killed lm is not reported. */
static void on_made(void *arg, struct keep *k)
{
	char path[FILE_PATH_BYTES];
	struct ring_cursors *rows = NULL;
	struct err e = { 0 };

	if (keep_path(k, ".rows", path, &e) || ring_cursors_open(keep_disk(k), path, &rows, &e))
		log_warn("lm", "loss would not be known if this lm were killed subscription=%s: %s",
			 keep_name(k), e.text);
	keep_set_user(k, rows);
}

static void on_given(void *arg, struct keep *k, const uint8_t *p, size_t n)
{
	struct ring_cursors *rows = keep_user(k);
	struct evblock b;

	for (size_t at = 0; rows && at < n; at += b.bytes) {
		evblock_head(p + at, &b);
		ring_cursors_given(rows, p + at, &b);
	}
}

static void report_loss(void *arg, const struct evgap *g)
{
	uint8_t block[EVGAP_BLOCK_BYTES];

	evgap_encode(g, block);
	recorder_append(arg, block);
}

static void report_losses(void *unused, struct keep *k)
{
	if (keep_user(k))
		ring_cursors_each_loss(keep_user(k), report_loss, k);
}

/* --- restoring after a crash of the lm */

static const struct store_kind arm_kind = {
	.what = "armed", .version = 1, .max_bytes = FRAME_MAX_BYTES, .is_expendable = true
};

static int write_arm(struct csr *c, struct err *e)
{
	struct record_unsaved *u = record_unsaved(c);
	struct keep_file f;
	int rc = keep_store(record_keep(c), &arm_kind, ARM, &f, e);

	if (!rc)
		rc = store_write(&f.store, &u->arm, e);
	if (!rc)
		buf_done(&u->arm);
	u->retry_at = loop_now(c->owner->conf.loop) + SAVE_AGAIN_NS;
	return rc;
}

void recorder_save_again(struct csr *c, nsec_t now)
{
	const struct record_unsaved *u = record_unsaved(c);
	struct err e = { 0 };

	if (record_keep(c) && u->arm.n && now >= u->retry_at)
		write_arm(c, &e);
}

/*
 * Drops the unsaved requests of older csrs of a subscription: the file belongs to the newest one.
 */
static void drop_unsaved(const struct csr *newest)
{
	list_each (i, &newest->owner->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (c != newest && record_keep(c) && record_keep(c) == record_keep(newest))
			buf_done(&record_unsaved(c)->arm);
	}
}

static void save(struct csr *c, const struct msg_arm *m)
{
	struct buf *b;
	struct err e = { 0 };

	if (!record_keep(c))
		return;
	drop_unsaved(c);
	b = &record_unsaved(c)->arm;
	buf_clear(b);
	if (msg_arm_put(b, m) || write_arm(c, &e))
		log_warn("lm", "the next lm will not arm automatically subscription=%s: %s",
			 keep_name(record_keep(c)), e.text);
}

static void forget(const struct csr *c)
{
	const struct keep *k = record_keep(c);
	struct keep_file f;

	if (k && !recorder_before(c) && !keep_store(k, &arm_kind, ARM, &f, NULL))
		store_remove(&f.store, NULL);
}

static int take_arm(struct csrs *s, const struct buf *b, const struct keep *k, struct err *e)
{
	struct msg *m = NULL;
	int rc = b->n < FRAME_HEADER_BYTES || frame_bytes(b->p, b->n) != b->n || b->p[4] != MSG_ARM
			 ? err_set(e, ERR_PARSE, "it has no conditional request")
			 : msg_get(b->p[4], b->p + FRAME_HEADER_BYTES, b->n - FRAME_HEADER_BYTES,
				   &m, e);

	if (!rc && !csrs_arm(s, &m->arm))
		log_info("lm", "armed as before csr=%s subscription=%s", m->arm.csr, keep_name(k));
	msg_free(m);
	return rc;
}

static void load(void *arg, struct keep *k)
{
	struct buf b = { 0 };
	struct keep_file f;
	struct err e = { 0 };
	int rc = keep_request(k)->ending ? -ERR_NOTFOUND : keep_store(k, &arm_kind, ARM, &f, &e);

	rc = rc ? rc : store_read(&f.store, &b, &e);
	rc = rc ? rc : take_arm(arg, &b, k, &e);
	if (rc && rc != -ERR_NOTFOUND)
		log_warn("lm", "not armed as before subscription=%s: %s", keep_name(k), e.text);
	buf_done(&b);
}

void recorder_load(struct recorder *o)
{
	struct csrs *s = o->csrs;

	s->is_restoring = true;
	keeps_each(o->keeps, load, s);
	s->is_restoring = false;
}

bool recorder_arm(struct csr *c, const struct msg_arm *m, struct reply *r)
{
	save(c, m);
	return false;
}

void recorder_leave(struct csr *c)
{
	if (!c->owner->is_ending)
		forget(c);
	if (record_keep(c))
		csr_drain(c);
}

/* --- end of a recording */

/* Ends what feeds it: the daemons above may have no tool left that would disarm it. */
static void disarm_all(struct csrs *s, struct keep *k)
{
	list_each_safe (i, &s->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (record_keep(c) == k)
			csr_free(c);
	}
	csrs_arm_poll(s);
}

static void leave_all(struct csrs *s, struct keep *k)
{
	list_each_safe (i, &s->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (record_keep(c) != k)
			continue;
		csr_uninstall_all(c);
		record_leave_keep(c);
		csr_free(c);
	}
	csrs_arm_poll(s);
}

/* The room of a subscription is used up, or free again. While it is used up, its policy is that
 * sources only count events. */
static void on_full(void *arg, struct keep *k, bool is_full)
{
	struct recorder *o = arg;

	if (!o->csrs)
		return;
	list_each (i, &o->csrs->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (record_keep(c) == k)
			list_each (n, &c->sites)
				record_refuse(list_entry(n, struct csr_site, link), is_full);
	}
}

static void on_ack(void *arg, struct keep *k)
{
	struct recorder *o = arg;

	report_losses(NULL, k); /* for one that could not be opened at the start */
	if (o->csrs && keep_request(k)->ending)
		disarm_all(o->csrs, k);
}

static void forget_rows(void *unused, struct keep *k)
{
	ring_cursors_free(keep_user(k));
	keep_set_user(k, NULL);
}

static void on_gone(void *arg, struct keep *k)
{
	struct recorder *o = arg;

	if (o->csrs)
		leave_all(o->csrs, k);
	forget_rows(NULL, k);
}

/* --- life */

bool recorder_attach(struct event_source *source, struct csrs *s)
{
	struct recorder *o = source->of;

	o->csrs = s;
	return true;
}

void recorder_detach(struct event_source *source)
{
	struct recorder *o = source->of;

	o->csrs = NULL;
}

int recorder_open(struct recorder *o, const struct keeps_conf *conf, struct err *e)
{
	struct keeps_conf c = *conf;
	int rc;

	c.on_request = on_ack;
	c.on_full = on_full;
	c.on_made = on_made;
	c.on_given = on_given;
	c.on_gone = on_gone;
	c.arg = o;
	rc = keeps_open(&c, &o->keeps, e);
	if (rc)
		return rc;
	keeps_each(o->keeps, report_losses, NULL);
	return 0;
}

void recorder_close(struct recorder *o)
{
	if (o->keeps)
		keeps_each(o->keeps, forget_rows, NULL);
	keeps_free(o->keeps);
	o->keeps = NULL;
}
