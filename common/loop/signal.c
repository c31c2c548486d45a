/* SPDX-License-Identifier: Apache-2.0 */
#include "common/loop/internal.h"

#include <event2/event.h>
#include <stdlib.h>

struct loop_signal {
	struct list at;
	struct loop *loop;
	struct event *event; /* NULL: a virtual loop */
	struct loop_job raised;
	int signo;
	void (*fn)(void *, int);
	void *arg;
};

static void deliver(void *arg)
{
	struct loop_signal *s = arg;

	s->fn(s->arg, s->signo);
}

static void on_signal(evutil_socket_t signo, short what, void *arg)
{
	struct loop_signal *s = arg;

	s->loop->called++;
	deliver(s);
}

static int watch(struct loop_signal *s, struct err *e)
{
	s->event = evsignal_new(s->loop->base, s->signo, on_signal, s);
	if (!s->event)
		return err_nomem(e);
	if (evsignal_add(s->event, NULL))
		return err_sys(e, "cannot watch signal %d", s->signo);
	return 0;
}

struct loop_signal *loop_signal_new(struct loop *l, int signo, void (*fn)(void *, int), void *arg,
				    struct err *e)
{
	struct loop_signal *s = calloc(1, sizeof(*s));

	l = l->whole;
	if (!s) {
		err_nomem(e);
		return NULL;
	}
	*s = (struct loop_signal){ .loop = l, .signo = signo, .fn = fn, .arg = arg };
	list_push_back(&l->signals, &s->at);
	l->nsignals++;
	if (l->base && watch(s, e)) {
		loop_signal_free(s);
		return NULL;
	}
	return s;
}

void loop_signal_free(struct loop_signal *s)
{
	if (!s)
		return;
	loop_job_cancel(&s->raised);
	if (s->event)
		event_free(s->event);
	list_del(&s->at);
	s->loop->nsignals--;
	free(s);
}

void loop_signal_raise(struct loop *l, int signo)
{
	list_each (item, &l->whole->signals) {
		struct loop_signal *s = list_entry(item, struct loop_signal, at);

		if (s->signo == signo)
			loop_job_post(l, &s->raised, deliver, s);
	}
}
