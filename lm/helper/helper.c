/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/helper/helper.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "common/container/list.h"
#include "common/loop/loop.h"
#include "lm/helper/helper_process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MSGS_PER_TURN 256

struct helper_ask {
	struct list link; /* in waiting, then in sent */
	struct helper *owner;
	uint32_t id;
	bool is_forgotten; /* sent, and its answer is ignored */
	nsec_t until; /* of a sent one */
	helper_answer_fn fn;
	void *arg;
	struct buf packet; /* owned */
};

/* Allocated for the first request, because most lms never have one. */
struct talk {
	struct tracer_msg msg; /* the received message; its receiver may send requests */
	struct tracer_msg asking;
	uint8_t in[TRACER_MSG_MAX_BYTES];
};

struct helper {
	struct helper_conf conf;
	struct helper_listener listener;
	char *program, *argument; /* owned */
	struct helper_process *run; /* NULL: it does not run */
	struct loop_fd *watch;
	struct loop_timer *timer; /* for missing answers, and for idleness */
	struct loop_job starting;
	struct list waiting, sent;
	struct list ending; /* struct helper_process */
	size_t nwaiting, nsent;
	uint32_t last_id;
	int interests;
	bool is_ending;
	nsec_t used; /* time of the last request or answer */
	struct talk *talk; /* owned; NULL before the first request */
};

static void ask_free(struct helper_ask *a)
{
	list_del(&a->link);
	buf_done(&a->packet);
	free(a);
}

/* Fails a request. The callback may send others, and drop pending ones. */
static void fail(struct helper_ask *a, const char *why)
{
	struct tracer_msg m = { .type = TRACER_FAILED, .what = ERR_SYS, .ntext = 1 };
	helper_answer_fn fn = a->is_forgotten ? NULL : a->fn;
	void *arg = a->arg;

	m.id = a->id;
	m.text[0] = why;
	ask_free(a);
	if (fn)
		fn(arg, &m);
}

static void fail_sent(struct helper *t, const char *why)
{
	struct list all;

	list_init(&all);
	list_splice_back(&all, &t->sent);
	t->nsent = 0;
	while (!list_is_empty(&all))
		fail(list_entry(list_first(&all), struct helper_ask, link), why);
}

static void fail_waiting(struct helper *t, const char *why)
{
	struct list all;

	list_init(&all);
	list_splice_back(&all, &t->waiting);
	while (!list_is_empty(&all)) {
		t->nwaiting--; /* one by one: asks that are dropped meanwhile count themselves */
		fail(list_entry(list_first(&all), struct helper_ask, link), why);
	}
}

static void stop_running(struct helper *t)
{
	loop_fd_free(t->watch);
	t->watch = NULL;
	helper_process_end(t->run, &t->ending);
	t->run = NULL;
}

static void send_more(struct helper *t);

/* Requests that were not sent yet wait for the next helper. */
static void lose(struct helper *t, const char *why)
{
	if (!t->run)
		return;
	log_warn("lm", "%s has ended reason=\"%s\"", str_base_name(t->program), why);
	stop_running(t);
	if (t->listener.on_lost)
		t->listener.on_lost(t->listener.arg);
	fail_sent(t, why);
	if (t->conf.fails_waiting)
		fail_waiting(t, why);
	send_more(t);
}

static void arm_timer(struct helper *t)
{
	nsec_t at = t->used + HELPER_IDLE_NS;

	if (t->nsent)
		at = list_entry(list_first(&t->sent), struct helper_ask, link)->until;
	if (t->run && (t->nsent || t->interests <= 0))
		loop_timer_arm_at(t->timer, at);
	else
		loop_timer_cancel(t->timer);
}

static void on_timer(void *arg)
{
	struct helper *t = arg;

	if (t->nsent) {
		helper_process_kill(t->run);
		lose(t, t->conf.hangs);
	} else if (t->run && t->interests <= 0) {
		stop_running(t); /* the process reads the end of its line, and ends */
	}
	arm_timer(t);
}

/* --- answers */

static struct helper_ask *find_sent(const struct helper *t, uint32_t id)
{
	list_each (i, &t->sent)
		if (list_entry(i, struct helper_ask, link)->id == id)
			return list_entry(i, struct helper_ask, link);
	return NULL;
}

static bool is_part(const struct tracer_msg *m)
{
	return m->type == TRACER_MODULE ||
	       ((m->type == TRACER_FRAMES || m->type == TRACER_BYTES) && m->what);
}

static void on_answer(struct helper *t, const struct tracer_msg *m)
{
	struct helper_ask *a = find_sent(t, m->id);
	helper_answer_fn fn = a && !a->is_forgotten ? a->fn : NULL;
	void *arg = a ? a->arg : NULL;

	if (a && !is_part(m)) {
		t->nsent--;
		ask_free(a);
	}
	if (fn)
		fn(arg, m);
}

static void on_message(struct helper *t, const struct tracer_msg *m)
{
	t->used = loop_now(t->conf.loop);
	if (m->type != TRACER_EVENT && m->type != TRACER_WATCH_ENDED)
		on_answer(t, m);
	else if (t->listener.on_event)
		t->listener.on_event(t->listener.arg, m);
}

/* Returns false if nothing has arrived, or the helper has ended. */
static bool receive(struct helper *t)
{
	struct err e = { 0 };
	ssize_t n = recv(helper_process_fd(t->run), t->talk->in, sizeof(t->talk->in),
			 MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		lose(t, t->conf.ended ? t->conf.ended : "it was killed");
		return false;
	}
	if ((size_t)n > sizeof(t->talk->in) ||
	    tracer_msg_decode(&t->talk->msg, t->talk->in, (size_t)n, &e) ||
	    t->talk->msg.type < TRACER_FRAMES) {
		helper_process_kill(t->run);
		lose(t, "it broke the rules");
		return false;
	}
	on_message(t, &t->talk->msg);
	return t->run;
}

static void on_ready(void *arg, unsigned what)
{
	struct helper *t = arg;

	for (int i = 0; t->run && i < MSGS_PER_TURN && receive(t); i++)
		;
	send_more(t);
}

/* --- asking */

static size_t stuck_count(const struct helper *t)
{
	size_t n = 0;

	list_each (i, &t->ending)
		n++;
	return n;
}

static int start(struct helper *t, struct err *e)
{
	if (t->run)
		return 0;
	if (stuck_count(t) >= TRACE_STUCK_MAX)
		return err_set(e, ERR_AGAIN, "%d processes of %s hang already", TRACE_STUCK_MAX,
			       str_base_name(t->program));
	t->run = helper_process_start(t->conf.loop,
				      (const char *const[]){ t->program, t->argument, NULL }, e);
	if (!t->run)
		return -ERR_SYS;
	t->watch = loop_fd_new(t->conf.loop,
			       &(struct loop_watch){ .fd = helper_process_fd(t->run),
						     .what = LOOP_READ,
						     .fn = on_ready,
						     .arg = t },
			       e);
	if (t->watch)
		return 0;
	stop_running(t);
	return -ERR_SYS;
}

/* False: later. */
static bool send_one(struct helper *t, struct helper_ask *a)
{
	if (send(helper_process_fd(t->run), a->packet.p, a->packet.n, MSG_DONTWAIT | MSG_NOSIGNAL) <
	    0)
		return false; /* reading detects the end */
	list_del(&a->link);
	list_push_back(&t->sent, &a->link);
	t->nwaiting--;
	t->nsent++;
	buf_done(&a->packet);
	t->used = loop_now(t->conf.loop);
	a->until = t->used + t->conf.answer_max;
	return true;
}

static void send_more(struct helper *t)
{
	struct err e = { 0 };

	if (t->nwaiting && start(t, &e))
		fail_waiting(t, e.text);
	while (t->run && t->nwaiting && t->nsent < t->conf.sent_max)
		if (!send_one(t, list_entry(list_first(&t->waiting), struct helper_ask, link)))
			break;
	arm_timer(t);
}

static void on_start(void *arg)
{
	send_more(arg);
}

static uint32_t next_id(struct helper *t)
{
	if (!++t->last_id)
		++t->last_id;
	return t->last_id;
}

static struct helper_ask *ask_new(struct helper *t, struct tracer_msg *m, int *rc)
{
	struct helper_ask *a = calloc(1, sizeof(*a));

	*rc = -ERR_NOMEM;
	if (!a)
		return NULL;
	a->owner = t;
	a->id = m->id = next_id(t);
	list_init(&a->link);
	buf_init(&a->packet, TRACER_MSG_MAX_BYTES);
	*rc = tracer_msg_encode(&a->packet, m);
	if (!*rc)
		return a;
	ask_free(a);
	return NULL;
}

void helper_listen(struct helper *t, const struct helper_listener *l)
{
	t->listener = *l;
}

int helper_ask(struct helper *t, const struct tracer_msg *m, const struct helper_reply *r,
	       struct helper_ask **out, struct err *e)
{
	struct helper_ask *a;
	int rc;

	if (t->is_ending)
		return err_set(e, ERR_CLOSED, "it has ended");
	if (!t->program)
		return err_set(e, ERR_UNSUPPORTED, "this lm has no such program beside it");
	if (t->nwaiting + t->nsent >= HELPER_ASKS_MAX)
		return err_set(e, ERR_LIMIT, "%d such questions wait already", HELPER_ASKS_MAX);
	if (!t->talk)
		t->talk = malloc(sizeof(*t->talk));
	if (!t->talk)
		return err_nomem(e);
	t->talk->asking = *m;
	a = ask_new(t, &t->talk->asking, &rc);
	if (!a)
		return err_set(e, (enum err_code)(-rc),
			       "that is longer than a message to %s may be",
			       str_base_name(t->program));
	a->fn = r->fn;
	a->arg = r->arg;
	list_push_back(&t->waiting, &a->link);
	t->nwaiting++;
	loop_job_post(t->conf.loop, &t->starting, on_start, t);
	*out = a;
	return 0;
}

void helper_ask_forget(struct helper_ask *a)
{
	if (!a)
		return;
	if (a->packet.p) { /* not sent yet */
		a->owner->nwaiting--;
		ask_free(a);
	} else {
		a->is_forgotten = true;
	}
}

void helper_keep(struct helper *t, int change)
{
	t->interests += change;
	arm_timer(t);
}

bool helper_has_ended(const struct helper *t)
{
	return !t->run && list_is_empty(&t->ending);
}

int32_t helper_pid(const struct helper *t)
{
	return t->run ? helper_process_pid(t->run) : 0;
}

struct helper *helper_new(const struct helper_conf *c)
{
	struct helper *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->conf = *c;
	list_init(&t->waiting);
	list_init(&t->sent);
	list_init(&t->ending);
	t->timer = loop_timer_new(c->loop, on_timer, t);
	t->program = c->program ? str_dup(c->program) : NULL;
	t->argument = c->argument ? str_dup(c->argument) : NULL;
	if (t->timer && !t->program == !c->program && !t->argument == !c->argument)
		return t;
	helper_free(t);
	return NULL;
}

void helper_stop(struct helper *t, const char *why)
{
	helper_process_kill(t->run);
	stop_running(t);
	t->is_ending = true;
	fail_sent(t, why);
	fail_waiting(t, why);
	loop_timer_cancel(t->timer);
}

void helper_free(struct helper *t)
{
	if (!t)
		return;
	stop_running(t);
	t->is_ending = true;
	fail_sent(t, "the lm ends");
	fail_waiting(t, "the lm ends");
	helper_processes_drop(&t->ending);
	loop_job_cancel(&t->starting);
	loop_timer_free(t->timer);
	free(t->talk);
	free(t->program);
	free(t->argument);
	free(t);
}
