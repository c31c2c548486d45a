/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/cmd/neko_trace.h"

#include "common/base/str.h"

#include <stdlib.h>

static bool is_shown(struct neko_trace *t, nsec_t at)
{
	t->is_over |= at < t->last_at || at > t->until;
	t->last_at = at;
	return !t->is_over && at >= t->from;
}

/* Stores a message when it arrives or is lost, because then its times are known. */
void neko_trace_message(struct neko_trace *t, const struct sim_step *s)
{
	if (t->is_over || !is_shown(t, s->at) || s->kind == SIM_SENT || s->msg->sent_at < t->from ||
	    t->nmessage == NEKO_TRACE_MAX)
		return;
	t->message[t->nmessage++] =
		(struct trace_message){ s->msg->from, s->to, s->msg->sent_at,
					s->kind == SIM_LOST ? -1 : s->at, s->type };
}

/* Stores a message with its delay, which is known at the end of a real run. */
void neko_trace_delay(struct neko_trace *t, const struct neko_delay *d, const char *type)
{
	nsec_t at = d->sent_at + (d->delay > 0 ? d->delay : 0);

	if (d->delay == NEKO_DELAY_UNKNOWN || d->sent_at < t->from || at > t->until ||
	    t->nmessage == NEKO_TRACE_MAX)
		return;
	t->message[t->nmessage++] =
		(struct trace_message){ d->from, d->to, d->sent_at,
					d->delay == NEKO_DELAY_LOST ? -1 : at, type };
}

/* Returns false without memory, or if there are too many names. */
static bool name_of(struct neko_trace *t, const char *what, unsigned *out)
{
	for (unsigned i = 0; i < t->nname; i++)
		if (str_eq(t->name[i], what)) {
			*out = i;
			return true;
		}
	if (t->nname == NEKO_TRACE_NAMES_MAX)
		return false;
	t->name[t->nname] = str_dup(what);
	*out = t->nname;
	t->nname += t->name[t->nname] != NULL;
	return *out < t->nname;
}

void neko_trace_event(struct neko_trace *t, const struct run *r, const struct neko_event *v)
{
	char text[RUN_EVENT_TEXT_BYTES];
	unsigned name;

	if (t->is_over || !is_shown(t, v->at) || t->nevent == NEKO_TRACE_MAX ||
	    !name_of(t, v->what, &name))
		return;
	t->event[t->nevent] = (struct trace_event){ v->process, v->at, name, v->content, NULL };
	if (v->n) {
		run_event_text(r, v, text);
		t->event[t->nevent].text = str_dup(text);
	}
	t->nevent++;
}

void neko_trace_done(struct neko_trace *t)
{
	while (t->nevent)
		free(t->event[--t->nevent].text);
	while (t->nname)
		free(t->name[--t->nname]);
}

static double seconds(nsec_t at)
{
	return (double)at / 1e9;
}

static void add_message(struct json *j, const struct trace_message *m)
{
	json_array(j);
	json_u64(j, m->from);
	json_u64(j, m->to);
	json_double(j, seconds(m->sent_at));
	if (m->arrived_at < 0)
		json_null(j);
	else
		json_double(j, seconds(m->arrived_at));
	json_str(j, m->type);
	json_array_end(j);
}

static void add_event(struct json *j, const struct neko_trace *t, const struct trace_event *v)
{
	json_array(j);
	json_u64(j, v->process);
	json_double(j, seconds(v->at));
	json_str(j, t->name[v->name]);
	if (v->text)
		json_str(j, v->text);
	else
		json_double(j, v->content);
	json_array_end(j);
}

static void add_messages(struct json *j, const struct neko_trace *t)
{
	json_array(j);
	for (unsigned i = 0; i < t->nmessage; i++)
		add_message(j, &t->message[i]);
	json_array_end(j);
}

void neko_trace_json(const struct neko_trace *t, struct json *j)
{
	json_key_object(j, "trace");
	json_key(j, "messages");
	if (t->has_lost && !t->nmessage)
		json_null(j); /* messages are unknown here, which differs from an empty list */
	else
		add_messages(j, t);
	json_key_array(j, "events");
	for (unsigned i = 0; i < t->nevent; i++)
		add_event(j, t, &t->event[i]);
	json_array_end(j);
	json_object_end(j);
}
