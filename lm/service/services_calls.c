/* SPDX-License-Identifier: Apache-2.0 */
/* Counting of library calls: on and off for each tool, and the counts. */
#include "lm/service/families.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/limits.h"
#include "common/ring/calls.h"
#include "common/time/timebase.h"
#include "lm/proc/hooks.h"
#include "lm/proc/tickbase.h"
#include "lm/proc/totals.h"

#include <string.h>

enum { CALLS_BY_CLASS = 1, CALLS_PARTNERS = 2 };

static int bits_of(const char *what, uint32_t *bits)
{
	static const struct {
		const char *name;
		uint32_t bits;
	} table[] = {
		{ "count", HOOK_COUNT },
		{ "time", HOOK_COUNT | HOOK_TIME },
		{ "volume", HOOK_COUNT | HOOK_TIME | HOOK_VOLUME },
		{ "partner", HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER },
		{ "site", HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_SITE },
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (!strcmp(table[i].name, what)) {
			*bits = table[i].bits;
			return 0;
		}
	return -ERR_INVALID;
}

/*
 * A process with a segment and without calls so far may become a rank: then it is counted from its
 * first call on.
 */
static int enable_one(struct service_call *c, struct proc *p, struct err *e)
{
	uint32_t bits = 0;

	if (!p->held || !p->seg)
		return proc_check_calls(p, e);
	bits_of(call_text(c, 1), &bits);
	if (hooks_add_interest(p, HOOKS_TOOL(c->tool), HOOKS_ALL, bits, (unsigned)call_int(c, 2)))
		return err_nomem(e);
	hooks_set_depth(p, HOOKS_TOOL(c->tool), (unsigned)call_int(c, 3));
	hooks_apply(p, HOOKS_ALL);
	return 0;
}

static int disable_one(struct service_call *c, struct proc *p, struct err *e)
{
	hooks_drop_interests(p, HOOKS_TOOL(c->tool));
	hooks_apply(p, HOOKS_ALL);
	return 0;
}

static int serve_calls_enable(struct service_call *c)
{
	uint32_t bits;

	if (bits_of(call_text(c, 1), &bits))
		return reply_add_error(
			c->reply, c->action, "", STATUS_PARAMETER_ERROR,
			"what to count is one of: count, time, volume, partner, site");
	if (call_int(c, 2) < 0 || call_int(c, 2) > HOOK_SAMPLE_MAX)
		return reply_add_error(c->reply, c->action, "", STATUS_PARAMETER_ERROR,
				       "sample_shift is 0 to %d", HOOK_SAMPLE_MAX);
	if (call_int(c, 3) < 1 || call_int(c, 3) > SEG_SITE_DEPTH)
		return reply_add_error(c->reply, c->action, "", STATUS_PARAMETER_ERROR,
				       "depth is 1 to %d", SEG_SITE_DEPTH);
	return call_each_proc(c, enable_one);
}

static int serve_calls_disable(struct service_call *c)
{
	return call_each_proc(c, disable_one);
}

static void write_line(struct omis_writer *w, const char *name, const char *class,
		       const struct segview_call *v, int64_t delay_ns)
{
	omis_write_list(w);
	omis_write_string(w, name);
	omis_write_string(w, class);
	OMIS_WRITE_INTS(w, (int64_t)v->count, delay_ns, v->in_call, (int64_t)v->bytes_out,
			(int64_t)v->bytes_in);
	omis_write_list_end(w);
}

static int64_t delay_ns(const struct ticks_scale *s, const struct segview_call *v)
{
	return ticks_delta_to_nsec(s, v->delay + v->open_delay);
}

static void write_functions(struct omis_writer *w, const struct totals *t,
			    const struct ticks_scale *s)
{
	for (size_t i = 0; i < t->ncall; i++) {
		const struct call_desc *d = call_get(t->call[i].func);

		if (d)
			write_line(w, d->name, call_class_name(d->class), &t->call[i].v,
				   delay_ns(s, &t->call[i].v));
	}
}

static void write_classes(struct omis_writer *w, const struct totals *t,
			  const struct ticks_scale *s)
{
	struct segview_call sum[CALL_CLASSES];
	bool used[CALL_CLASSES] = { false };

	memset(sum, 0, sizeof(sum));
	for (size_t i = 0; i < t->ncall; i++) {
		const struct call_desc *d = call_get(t->call[i].func);
		const struct segview_call *v = &t->call[i].v;

		if (!d || d->class >= CALL_CLASSES)
			continue;
		used[d->class] = true;
		sum[d->class].count += v->count;
		sum[d->class].delay += v->delay;
		sum[d->class].open_delay += v->open_delay;
		sum[d->class].in_call += v->in_call;
		sum[d->class].bytes_out += v->bytes_out;
		sum[d->class].bytes_in += v->bytes_in;
	}
	for (unsigned k = 0; k < CALL_CLASSES; k++)
		if (used[k])
			write_line(w, call_class_name(k), call_class_name(k), &sum[k],
				   delay_ns(s, &sum[k]));
}

/* The second value is a number, which it is in no other list here. */
static void write_partner(struct omis_writer *w, const char *name, const struct total_partner *p,
			  const struct ticks_scale *s)
{
	omis_write_list(w);
	omis_write_string(w, name);
	OMIS_WRITE_INTS(w, p->rank, (int64_t)p->count, (int64_t)p->bytes_out, (int64_t)p->bytes_in,
			ticks_delta_to_nsec(s, p->delay), ticks_delta_to_nsec(s, p->shared),
			ticks_delta_to_nsec(s, p->possible), ticks_delta_to_nsec(s, p->open),
			p->kinds, p->tag);
	omis_write_list_end(w);
}

static void write_partners(struct omis_writer *w, const struct totals *t,
			   const struct ticks_scale *s)
{
	for (size_t i = 0; i < t->npartner; i++) {
		const struct call_desc *d = call_get(t->partner[i].func);

		if (d)
			write_partner(w, d->name, &t->partner[i], s);
	}
	if (t->partner_lost) {
		const struct total_partner lost = { .rank = CALL_PARTNER_UNKNOWN,
						    .count = t->partner_lost,
						    .tag = -1 };

		write_partner(w, "", &lost, s);
	}
}

static void write_totals(struct service_call *c, struct omis_writer *w, const struct proc *p,
			 const struct totals *t)
{
	const struct ticks_scale *s = tickbase_scale(c->of, p->own.tick_source);
	int64_t flags = call_int(c, 1);

	omis_write_int(w, p->held ? call_now(c) : timebase_at(c->timebase, p->ended_at));
	if (flags & CALLS_BY_CLASS)
		write_classes(w, t, s);
	else
		write_functions(w, t, s);
	if (flags & CALLS_PARTNERS)
		write_partners(w, t, s);
}

static int read_one(struct service_call *c, const struct object *o)
{
	const struct proc *p = o->proc;
	bool with_partners = call_int(c, 1) & CALLS_PARTNERS;
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);
	struct totals *live = NULL;
	int rc = 0;

	if (proc_is_alone(p))
		return reply_add_error(c->reply, c->action, p->token.s, STATUS_UNKNOWN_OBJECT,
				       PROC_ALONE);
	if (p->seg)
		rc = totals_take(p->seg, tickbase_now(c->of, p->own.tick_source),
				 with_partners ? TOTALS_PARTNERS : 0, &live);
	if (rc)
		return rc;
	if (!live && !p->last)
		return reply_add_error(c->reply, c->action, p->token.s, STATUS_UNSUPPORTED_SERVICE,
				       PROC_WITHOUT_SEGMENT);
	write_totals(c, &w, p, live ? live : p->last);
	totals_free(live);
	return call_add_values(c, p->token.s, &b);
}

static int serve_calls_read(struct service_call *c)
{
	return call_each_object(c, 'p', read_one);
}

const struct service calls_services[] = {
	{ "omig_calls_disable", serve_calls_disable },
	{ "omig_calls_enable", serve_calls_enable },
	{ "omig_calls_read", serve_calls_read },
	{ NULL, NULL },
};
