/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of omis.h: a thin shell around struct client. */
#include "common/base/err.h"
#include "common/container/list.h"
#include "common/omis/text/request.h"
#include "proto/msg.h"
#include "tools/libomis/answer.h"
#include "tools/libomis/client.h"
#include "tools/libomis/omis.h"
#include "tools/libomis/params.h"
#include "tools/libomis/words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEADLINE_DEFAULT_MS 2000
#define DEADLINE_MAX_MS (3600u * 1000)

/* mainsm answers by the deadline. This is added for the round trip and a busy mainsm. */
#define ANSWER_GRACE_NS (3 * NSEC_PER_SEC)

/* The interface has no handle, so there is one connection per process. */
static struct {
	struct client *client;
	struct client *of_parent; /* a forked child's copy of the connection; never touched */
	pid_t pid; /* owner of the client */
	void (*on_error)(Omis_reply);
	void (*on_events)(const Omis_events *, void *);
	void *events_param;
	Omis_wait wait;
	unsigned quorum, deadline_ms;
	bool is_inside; /* a callback of the tool runs */
	struct list calls; /* of struct call */
} the = { .deadline_ms = DEADLINE_DEFAULT_MS };

/*
 * A child shares the socket and the keys with its parent. Any message from it would end the
 * parent's connection. So it has no client until it creates one.
 */
static struct client *own_client(void)
{
	if (!the.client || the.pid == getpid())
		return the.client;
	the.of_parent = the.client;
	the.client = NULL;
	the.on_error = NULL;
	the.on_events = NULL;
	the.is_inside = false;
	list_init(&the.calls);
	return NULL;
}

static void report_words(Omis_status status, const char *words, size_t n)
{
	bool was_inside = the.is_inside;

	if (!the.on_error)
		return;
	the.is_inside = true;
	the.on_error(answer_from_words(status, words, n));
	the.is_inside = was_inside;
}

static void report_handler(Omis_status status, const char *words)
{
	report_words(status, words, strlen(words));
}

/* A pending request. It is freed with its last reply, or when its caller gives up. */
struct call {
	struct list item;
	void (*callback)(Omis_reply, void *);
	void *param;
	Omis_flags flags;
	Omis_reply first; /* for the caller that waits in omis_request() */
	bool is_waiting, is_over;
};

static void call_free(struct call *k)
{
	list_del(&k->item);
	free(k);
}

/* --- connection */

static void on_link(void *arg, const struct err *why)
{
	(void)arg;
	words_keep(why);
	report_handler(why ? OMIS_OS_ERROR : OMIS_OK,
		       why ? why->text : "the connection to mainsm is back");
}

static void on_events(void *arg, const struct msg_events *m)
{
	const Omis_events ev = { m->sub,
				 m->stream,
				 m->place,
				 m->blocks.p,
				 m->blocks.n,
				 m->end,
				 m->missing ? m->missing : "" };
	bool was_inside = the.is_inside;

	(void)arg;
	if (!the.on_events)
		return;
	the.is_inside = true;
	the.on_events(&ev, the.events_param);
	the.is_inside = was_inside;
}

Omis_status omis_init(int *argc, char ***argv, void (*error_handler)(Omis_reply), int *tool_id)
{
	struct err e = { 0 };
	struct params p;
	struct client_conf conf = { .on_link = on_link, .on_events = on_events };
	int got;

	if (own_client()) {
		err_set(&e, ERR_EXISTS, "omis_init was called already");
		return words_keep(&e);
	}
	got = params_take(&p, argc, argv, &e);
	if (!got) {
		conf.mainsm = p.mainsm;
		conf.timeout = p.timeout;
		got = client_open(&conf, &the.client, &e);
	}
	if (got < 0)
		return words_keep(&e);
	list_init(&the.calls);
	the.pid = getpid();
	the.on_error = error_handler;
	if (tool_id)
		*tool_id = (int)client_tool(the.client);
	return words_keep(NULL);
}

Omis_status omis_finalize(void)
{
	struct err e = { 0 };

	if (!own_client() || the.is_inside) {
		err_set(&e, ERR_INVALID,
			the.client ? "omis_finalize inside a callback"
				   : "omis_init was not called");
		return words_keep(&e);
	}
	client_close(the.client);
	list_each_safe (item, &the.calls)
		call_free(list_entry(item, struct call, item));
	the.client = NULL;
	the.on_error = NULL;
	the.on_events = NULL;
	return words_keep(NULL);
}

int omis_fd(void)
{
	struct err e = { 0 };
	int fd;

	if (!own_client())
		return -1;
	fd = client_fd(the.client, &e);
	if (fd < 0)
		words_keep(&e);
	return fd;
}

void omis_handler(void)
{
	if (own_client() && !the.is_inside)
		client_turn(the.client);
}

Omis_status omis_request_policy(Omis_wait wait, unsigned quorum, unsigned deadline_ms)
{
	struct err e = { 0 };

	if ((unsigned)wait > OMIS_WAIT_NOW || deadline_ms > DEADLINE_MAX_MS) {
		err_set(&e, ERR_INVALID, "the deadline is in milliseconds, at most %u",
			DEADLINE_MAX_MS);
		return words_keep(&e);
	}
	the.wait = wait;
	the.quorum = quorum;
	the.deadline_ms = deadline_ms ? deadline_ms : DEADLINE_DEFAULT_MS;
	return OMIS_OK;
}

/* --- requests */

static bool is_unwanted(const struct reply *r, Omis_reply a, Omis_flags flags)
{
	if ((flags & OMIS_DONT_RETURN_EN_DIS) &&
	    (r->kind == STATUS_CSR_ENABLED || r->kind == STATUS_CSR_DISABLED))
		return true;
	return (flags & OMIS_DONT_RETURN_OK) && r->kind == 0 && a && answer_is_empty(a);
}

static void hand_over(struct call *k, Omis_reply a)
{
	bool was_inside;

	if (k->is_waiting && !k->first) {
		k->first = a;
		return;
	}
	if (!k->callback) {
		omis_reply_free(a);
		return;
	}
	was_inside = the.is_inside;
	the.is_inside = true;
	k->callback(a, k->param);
	the.is_inside = was_inside;
}

static void on_reply(void *arg, struct reply **r, bool is_last)
{
	struct call *k = arg;
	bool is_awaited;
	Omis_reply a;

	a = *r ? answer_from_reply(*r, k->flags) : NULL;
	if (k->flags & OMIS_DEBUG)
		report_handler(OMIS_OK,
			       a ? omis_strerror(omis_reply_status(a)) : "no memory for a reply");
	is_awaited = k->is_waiting && !k->first;
	if (a && !is_awaited && is_unwanted(*r, a, k->flags))
		omis_reply_free(a);
	else
		hand_over(k, a);
	k->is_over = is_last;
	if (is_last && !k->is_waiting)
		call_free(k);
}

static bool is_conditional(const char *text, size_t n)
{
	struct omis_request *r;
	bool yes;

	if (omis_parse(text, n, &r, NULL))
		return false; /* mainsm reports the error in one reply */
	yes = r->event != NULL;
	omis_request_free(r);
	return yes;
}

/* The connection may be coming back just now. */
static void await_link(nsec_t until)
{
	while (!client_is_up(the.client) && client_now(the.client) < until)
		client_wait(the.client, until - client_now(the.client));
}

static Omis_reply await_reply(struct call *k, uint64_t id)
{
	nsec_t until = client_now(the.client) + the.deadline_ms * NSEC_PER_MSEC + ANSWER_GRACE_NS;
	Omis_reply a;

	while (!k->first && !k->is_over && client_now(the.client) < until)
		client_wait(the.client, until - client_now(the.client));
	a = k->first;
	k->is_waiting = false;
	if (!a && !k->is_over) {
		client_cancel(the.client, id);
		k->is_over = true;
		a = answer_from_status(OMIS_OS_ERROR, "mainsm did not answer in time");
	}
	if (k->is_over)
		call_free(k);
	return a;
}

static Omis_reply refuse(enum err_code code, const char *words)
{
	struct err e = { 0 };

	err_set(&e, code, "%s", words);
	return answer_from_status(words_keep(&e), words);
}

/* Returns NULL, or an error for calls that are not allowed. */
static const char *misuse(const char *request, size_t len, bool has_callback)
{
	if (!own_client())
		return "omis_init was not called";
	if (!request)
		return "the request is NULL";
	if (has_callback)
		return NULL;
	if (the.is_inside)
		return "a request without callback inside a callback";
	if (is_conditional(request, len))
		return "a conditional request needs a callback";
	return NULL;
}

static Omis_reply send_call(struct call *k, const char *request, size_t len)
{
	struct client_request rq = { .text = request,
				     .n = len,
				     .policy = (unsigned)the.wait,
				     .quorum = the.quorum,
				     .deadline = the.deadline_ms * NSEC_PER_MSEC,
				     .on_reply = on_reply,
				     .arg = k };
	struct err e = { 0 };
	uint64_t id = 0;

	if (k->is_waiting && !the.is_inside)
		await_link(client_now(the.client) + rq.deadline);
	if (client_ask(the.client, &rq, &id, &e)) {
		call_free(k);
		return answer_from_status(words_keep(&e), e.text);
	}
	if (k->is_waiting && !the.is_inside)
		return await_reply(k, id);
	k->is_waiting = false;
	if (!the.is_inside)
		client_turn(the.client); /* so that it is sent now */
	return NULL;
}

Omis_reply omis_request_n(const char *request, size_t len,
			  void (*callback)(Omis_reply, void *param), void *param, Omis_flags flags)
{
	const char *wrong = misuse(request, len, callback != NULL);
	struct call *k;

	if (wrong)
		return refuse(ERR_INVALID, wrong);
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	list_push_back(&the.calls, &k->item);
	k->callback = callback;
	k->param = param;
	k->flags = flags;
	k->is_waiting = !callback || (flags & OMIS_WAIT_FOR_FIRST_REPLY);
	if (flags & OMIS_DEBUG)
		report_words(OMIS_OK, request, len);
	return send_call(k, request, len);
}

Omis_reply omis_request(char *request, void (*callback)(Omis_reply, void *param), void *param,
			Omis_flags flags)
{
	return omis_request_n(request, request ? strlen(request) : 0, callback, param, flags);
}

/* --- kept subscriptions */

void omis_events_handler(void (*fn)(const Omis_events *events, void *param), void *param)
{
	own_client();
	the.on_events = fn;
	the.events_param = param;
}

Omis_status omis_events_ack(const char *subscription, uint64_t stream, uint64_t place)
{
	const struct msg_events_ack ack = { subscription, stream, place };
	struct err e = { 0 };
	int rc;

	if (!own_client() || !subscription) {
		err_set(&e, ERR_INVALID,
			subscription ? "omis_init was not called" : "the subscription is NULL");
		return words_keep(&e);
	}
	rc = client_ack_events(the.client, &ack, &e);
	return words_keep(rc ? &e : NULL);
}
