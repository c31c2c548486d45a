/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the request: names, conditions, duration, and the destination of the blocks. */
#include "lm/record/record.h"

#include "lm/record/recorder.h"
#include "common/base/str.h"
#include "common/time/timebase.h"
#include "eventlog/evwhere.h"
#include "proto/frame.h"

#include <stdlib.h>
#include <string.h>

#define LASTS_MAX_S (366 * 24 * 3600)

struct record {
	const struct omis_value *names; /* the patterns of the request */
	struct evwhere where;
	struct loop_timer *end; /* NULL: it lasts until a tool ends it */
	struct keep *keep; /* borrowed: takes the blocks; NULL: each is a firing */
	struct record_unsaved unsaved;
	nsec_t offset; /* offset of the system's time, valid with has_offset */
	bool has_offset;
};

static struct record *own(const struct csr *c)
{
	return c->own;
}

/* --- the request */

static void on_end(void *arg)
{
	struct csr *c = arg;

	c->is_over = true;
	csr_uninstall_all(c);
	record_leave_keep(c);
	csrs_arm_poll(c->owner);
}

static int refuse(struct reply *r, const char *why)
{
	reply_add_error(r, 0, "", STATUS_PARAMETER_ERROR, "%s", why);
	return -ERR_INVALID;
}

static void note_block(void *arg, const char *name)
{
	if (!strcmp(name, "block"))
		*(bool *)arg = true;
}

/* True if an action after the prefix uses the block. The parent gets no blocks, only triggers. */
static bool rest_uses_block(const struct csr *c)
{
	bool uses = false;

	for (size_t i = c->prefix; i < c->request->naction; i++)
		omis_call_ecps(&c->request->action[i], note_block, &uses);
	return uses;
}

static int set_end(struct csr *c, int64_t seconds)
{
	if (!seconds)
		return 0;
	own(c)->end = loop_timer_new(c->owner->conf.loop, on_end, c);
	if (!own(c)->end)
		return -ERR_NOMEM;
	loop_timer_arm(own(c)->end, seconds * NSEC_PER_SEC);
	return 0;
}

static int read_event(struct csr *c, const struct omis_call *event, struct reply *r)
{
	struct err e = { 0 };
	int64_t seconds = 0;
	int rc;

	c->own = calloc(1, sizeof(struct record));
	if (!own(c))
		return -ERR_NOMEM;
	buf_init(&own(c)->unsaved.arm, FRAME_MAX_BYTES);
	own(c)->names = &event->param[1];
	if (!own(c)->names->list.n)
		return refuse(r, "which events: names, beginnings of names with a *, or \"all\"");
	if (evwhere_read(omis_value_text(&event->param[2], NULL), &own(c)->where, &e))
		return refuse(r, e.text);
	omis_value_i64(&event->param[3], &seconds);
	if (seconds < 0 || seconds > LASTS_MAX_S)
		return refuse(r, "for how many seconds: 0 (no end) to a year");
	if (rest_uses_block(c))
		return refuse(
			r,
			"$block is for trace_buffer_append, in front of all that is done elsewhere");
	rc = recorder_find(c, omis_value_text(&event->param[4], NULL), &own(c)->keep, r);
	if (rc)
		return rc;
	if (own(c)->keep)
		keep_feed(own(c)->keep, 1);
	return set_end(c, seconds);
}

nsec_t record_time(struct csr *c, nsec_t local)
{
	struct record *r = own(c);

	if (!r->has_offset)
		r->offset = timebase_at(c->owner->conf.timebase, 0);
	r->has_offset = true;
	return local + r->offset;
}

struct keep *record_keep(const struct csr *c)
{
	return own(c) ? own(c)->keep : NULL;
}

struct record_unsaved *record_unsaved(struct csr *c)
{
	return &own(c)->unsaved;
}

void record_leave_keep(struct csr *c)
{
	struct keep *k = record_keep(c);

	if (k)
		keep_feed(k, -1);
	if (k)
		own(c)->keep = NULL;
}

static void free_event(struct csr *c)
{
	if (!own(c))
		return;
	record_leave_keep(c);
	loop_timer_free(own(c)->end);
	buf_done(&own(c)->unsaved.arm);
	free(own(c));
}

bool record_names(const struct csr *c, const char *name)
{
	const struct omis_value *list = own(c)->names;

	for (size_t i = 0; i < list->list.n; i++)
		if (evpattern_fits(omis_value_text(&list->list.v[i], NULL), name))
			return true;
	return false;
}

const struct evwhere *record_where(const struct csr *c)
{
	return &own(c)->where;
}

static const struct event_kind kinds[] = { { .service = "thread_writes_events" }, { NULL } };

const struct event_source_ops record_source = { .kind = kinds,
						.open = recorder_attach,
						.close = recorder_detach,
						.read = read_event,
						.free = free_event,
						.before = recorder_before,
						.arm = recorder_arm,
						.leave = recorder_leave,
						.site = &record_site,
						.has_blocks = true };
