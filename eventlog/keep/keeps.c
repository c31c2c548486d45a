/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/keep/keeps.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "eventlog/keep/keep_internal.h"

#include <stdlib.h>
#include <string.h>

bool keep_is_name(const char *s)
{
	return s[0] != '.' && ledger_is_name(s);
}

int keeps_open(const struct keeps_conf *c, struct keeps **out, struct err *e)
{
	struct keeps *ks = calloc(1, sizeof(*ks));
	int rc;

	if (!ks)
		return err_nomem(e);
	ks->conf = *c;
	list_init(&ks->all);
	if (!ks->conf.max_bytes)
		ks->conf.max_bytes = KEEPS_MAX_BYTES;
	if (c->dir) {
		ks->dir = str_dup(c->dir);
		if (!ks->dir) {
			free(ks);
			return err_nomem(e);
		}
	}
	rc = keeps_load(ks, e);
	if (rc) {
		keeps_free(ks);
		return rc;
	}
	*out = ks;
	return 0;
}

void keeps_free(struct keeps *ks)
{
	if (!ks)
		return;
	list_each_safe (i, &ks->all)
		keep_free(list_entry(i, struct keep, link));
	free(ks->dir);
	free(ks);
}

struct keep *keeps_find(const struct keeps *ks, const char *name)
{
	list_each (i, &ks->all)
		if (str_eq(list_entry(i, struct keep, link)->name, name))
			return list_entry(i, struct keep, link);
	return NULL;
}

int keeps_check(const struct keeps *ks, const char *name, const char *identity, struct keep **out,
		struct err *e)
{
	struct keep *k = keeps_find(ks, name);

	if (!k && str_eq(ks->refused, name) && ks->why.code)
		return err_set(e, ks->why.code, "%s", ks->why.text);
	if (!k || k->why)
		return err_set(e, ERR_NOTFOUND, "there is no subscription of that name here");
	if (!str_eq(k->identity, identity))
		return err_set(e, ERR_DENIED, "the subscription belongs to another owner");
	*out = k;
	return 0;
}

void keeps_each(struct keeps *ks, void (*fn)(void *arg, struct keep *k), void *arg)
{
	list_each_safe (i, &ks->all)
		fn(arg, list_entry(i, struct keep, link));
}

bool keeps_are_empty(const struct keeps *ks)
{
	list_each (i, &ks->all)
		if (!keep_is_empty(list_entry(i, struct keep, link)))
			return false;
	return true;
}

void keeps_stats(const struct keeps *ks, struct keeps_stats *out)
{
	*out = (struct keeps_stats){ .n = ks->n };
	list_each (i, &ks->all) {
		const struct keep *k = list_entry(i, struct keep, link);
		struct spool_stats s = { 0 };

		spooler_stats(k->spooler, &s);
		out->open += k->stream != 0;
		out->disk_bytes += s.disk_bytes;
		out->lost_events += s.lost_events;
	}
}

/* --- messages of the parent */

static uint64_t reserved_bytes(const struct keeps *ks, const struct keep *without)
{
	uint64_t sum = 0;

	list_each (i, &ks->all)
		if (list_entry(i, struct keep, link) != without)
			sum += list_entry(i, struct keep, link)->request.max_bytes;
	return sum;
}

/* Checks the room for subscriptions of all users in this process. */
static int has_room_in_all(const struct keeps_all *all, const struct keep *k, uint64_t bytes,
			   struct err *e)
{
	uint64_t others = all->bytes - (k ? k->promised : 0);

	if (!k && all->n >= KEEPS_ALL_MAX)
		return err_set(e, ERR_LIMIT,
			       "%d subscriptions of all users are stored here already",
			       KEEPS_ALL_MAX);
	if (bytes > KEEPS_ALL_MAX_BYTES || others > KEEPS_ALL_MAX_BYTES - bytes)
		return err_set(e, ERR_LIMIT, "subscriptions of all users may store %llu MiB here",
			       (unsigned long long)(KEEPS_ALL_MAX_BYTES >> 20));
	return 0;
}

int keeps_has_room(const struct keeps *ks, const struct keep *k, uint64_t bytes, struct err *e)
{
	uint64_t max = ks->conf.max_bytes;

	if (!k && ks->n >= KEEPS_MAX)
		return err_set(e, ERR_LIMIT, "%d subscriptions are stored here already", KEEPS_MAX);
	if (bytes > max || reserved_bytes(ks, k) > max - bytes)
		return err_set(e, ERR_LIMIT, "subscriptions may store %llu MiB here in all",
			       (unsigned long long)(max >> 20));
	return ks->conf.all ? has_room_in_all(ks->conf.all, k, bytes, e) : 0;
}

/*
 * Changes an existing subscription, which may have blocks that exist nowhere else. Without further
 * room it continues with its previous limit.
 */
static int report_one(const struct keeps *ks, struct keep *k, const struct msg_events_open *m,
		      struct err *e)
{
	struct msg_events_open what = *m;
	struct err why = { 0 };

	if (keeps_has_room(ks, k, m->max_bytes, &why)) {
		log_warn("keep", "subscription=%s has no more room than before: %s", m->sub,
			 why.text);
		what.max_bytes = k->request.max_bytes;
	}
	return keep_report(k, &what, e);
}

/*
 * Looks for a subscription on the disk, which may have blocks that exist nowhere else. If it cannot
 * be read it is neither replaced nor removed.
 */
static int look_on_disk(struct keeps *ks, const char *name, struct keep **out, struct err *e)
{
	struct err why = { 0 };
	int rc = ks->dir && keep_is_name(name) ? keeps_take_up(ks, name, &why) : -ERR_NOTFOUND;

	*out = rc ? NULL : keeps_find(ks, name);
	if (!rc || rc == -ERR_NOTFOUND || rc == -ERR_PARSE)
		return 0;
	*e = why;
	return rc;
}

static int make_or_report(struct keeps *ks, const struct msg_events_open *m, struct keep **out,
			  struct err *e)
{
	struct keep *k = keeps_find(ks, m->sub);
	int rc = 0;

	if (k && k->why) { /* it has ended in the same turn of the loop */
		keep_end_now(k);
		k = NULL;
	} else if (!k) {
		rc = look_on_disk(ks, m->sub, &k, e);
	}
	*out = k;
	if (rc)
		return rc;
	if (!ks->dir)
		return err_set(e, ERR_UNSUPPORTED,
			       "events cannot be stored here: there is no folder for them");
	if (k && !str_eq(k->identity, m->identity))
		return err_set(e, ERR_DENIED, "the subscription belongs to another owner");
	if (k)
		return report_one(ks, k, m, e);
	rc = keeps_has_room(ks, NULL, m->max_bytes, e);
	return rc ? rc : keep_new(ks, m, out, e);
}

static void got_open(struct keeps *ks, const struct msg_events_open *m)
{
	struct keep *k = NULL;
	struct err e = { 0 };
	int rc = make_or_report(ks, m, &k, &e);
	bool has_some = k && str_eq(k->identity, m->identity);

	if (rc) {
		str_copy(ks->refused, sizeof(ks->refused), m->sub);
		ks->why = e;
		log_warn("keep", "subscription=%s is not stored: %s", m->sub, e.text);
		if (m->ending && m->stream && !has_some)
			ks->conf.send(ks->conf.send_arg,
				      &(struct msg){ .type = MSG_EVENTS,
						     .events = { .sub = m->sub,
								 .stream = m->stream,
								 .end = true } });
		return;
	}
	if (str_eq(ks->refused, m->sub))
		ks->refused[0] = 0;
	if (ks->conf.on_request)
		ks->conf.on_request(ks->conf.arg, k);
	keep_open_stream(k, m->stream, m->room);
}

static void got_end(struct keeps *ks, const struct msg_events_end *m)
{
	struct keep *k = keeps_find(ks, m->sub);

	if (k && str_eq(k->identity, m->identity))
		keep_end(k, "the parent has ended it");
}

void keeps_take(struct keeps *ks, const struct msg *m)
{
	struct keep *k;

	switch (m->type) {
	case MSG_EVENTS_OPEN:
		got_open(ks, &m->events_open);
		break;
	case MSG_EVENTS_ACK:
		k = keeps_find(ks, m->events_ack.sub);
		if (k)
			keep_acked(k, m->events_ack.stream, m->events_ack.place);
		break;
	case MSG_EVENTS_END:
		got_end(ks, &m->events_end);
		break;
	default:
		break;
	}
}

void keeps_say_end(struct keeps *ks)
{
	list_each (i, &ks->all)
		if (keep_is_empty(list_entry(i, struct keep, link)))
			keep_say_end(list_entry(i, struct keep, link));
}

void keeps_link_down(struct keeps *ks)
{
	list_each (i, &ks->all)
		keep_open_stream(list_entry(i, struct keep, link), 0, 0);
}
