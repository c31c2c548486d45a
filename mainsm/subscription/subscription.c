/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/subscription/subscription.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "common/link/link.h"
#include "common/omis/services/check.h"
#include "mainsm/csr/csr.h"
#include "mainsm/directory/directory.h"
#include "mainsm/directory/numbers.h"
#include "mainsm/subscription/subscription_internal.h"
#include "mainsm/tool/scope.h"
#include "mainsm/tool/session.h"
#include "tree/branches.h"

#include <stdlib.h>
#include <string.h>

struct subscriptions *subscriptions_new(const struct subscriptions_conf *conf)
{
	struct subscriptions *ks = calloc(1, sizeof(*ks));

	if (!ks)
		return NULL;
	ks->conf = *conf;
	ks->unsettled = loop_now(conf->loop);
	list_init(&ks->all);
	return ks;
}

size_t subscriptions_count(const struct subscriptions *ks)
{
	return ks->n;
}

static struct subscription *find(const struct subscriptions *ks, const char *name)
{
	list_each (i, &ks->all)
		if (str_eq(list_entry(i, struct subscription, link)->name, name))
			return list_entry(i, struct subscription, link);
	return NULL;
}

/* --- end of a subscription */

static void end_receiver(struct subscription *s, const char *missing)
{
	const struct msg m = { .type = MSG_EVENTS,
			       .events = { .sub = s->name, .end = true, .missing = missing } };

	if (s->receiver && s->receiver->link)
		link_send(s->receiver->link, &m);
	s->receiver = NULL;
}

static void subscription_free(struct subscription *s)
{
	const struct subscriptions_conf *c = &s->owner->conf;
	uint32_t number = s->self ? s->self->number : 0;

	if (s->self) {
		tool_csrs_drop(c->csrs, s->self);
		session_free(s->self);
		if (c->on_session_gone)
			c->on_session_gone(c->arg, number);
	}
	list_del(&s->link);
	s->owner->n--;
	loop_timer_free(s->lease);
	loop_timer_free(s->coming);
	streams_done(&s->streams);
	free(s->text);
	free(s);
}

void subscriptions_free(struct subscriptions *ks)
{
	if (!ks)
		return;
	list_each_safe (i, &ks->all)
		subscription_free(list_entry(i, struct subscription, link));
	free(ks);
}

static void end(struct subscription *s, const char *why)
{
	log_info("kept", "subscription=%s is over: %s", s->name, why);
	end_receiver(s, "");
	branches_send_all(s->owner->conf.branches,
			  &(struct msg){ .type = MSG_EVENTS_END,
					 .events_end = { s->name, s->opening.identity } });
	subscription_free(s);
}

static void on_lease(void *arg)
{
	end(arg, "it had no receiver for as long as its lease");
}

/* --- receiver of a subscription */

static void set_receiver(struct subscription *s, struct session *receiver)
{
	if (s->receiver && s->receiver != receiver)
		end_receiver(s, "");
	s->receiver = receiver;
	if (receiver) {
		loop_timer_cancel(s->lease);
		subscription_open_all(s, true);
	} else {
		loop_timer_arm(s->lease, (nsec_t)s->opening.lease_s * NSEC_PER_SEC);
		subscription_open_all(s, false);
	}
}

/* Missing blocks may be requested again, within the lease. */
void subscription_report_end(struct subscription *s, const char *missing)
{
	if (!*missing) {
		end(s, "all of it was received");
		return;
	}
	log_notice("kept", "subscription=%s waits for missing blocks: missing=\"%s\"", s->name,
		   missing);
	end_receiver(s, missing);
	set_receiver(s, NULL);
}

static void on_come(void *arg)
{
	struct subscription *s = arg;

	s->has_waited = true;
	subscription_check_end(s);
}

void subscriptions_tool_gone(struct subscriptions *ks, const struct session *gone)
{
	list_each_safe (i, &ks->all) {
		struct subscription *s = list_entry(i, struct subscription, link);

		if (s->receiver == gone)
			set_receiver(s, NULL);
	}
}

/* --- changes of the request */

/* True: the whole subscription was refused. Single objects may end, and others may begin. */
static bool is_off(const struct reply *r)
{
	return r->kind == STATUS_CSR_DISABLED && r->nentry && !r->entry[0].objects[0];
}

/* Faults that hosts report; a tool has switched the events off, or there were too many for the
 * monitor. */
static void on_reply(void *arg, const struct reply *r)
{
	struct subscription *s = arg;

	if (is_off(r) && s->csr.s[0]) {
		snprintf(s->fault, sizeof(s->fault), "%.*s", (int)r->entry[0].nvalue,
			 r->entry[0].value);
		s->opening.ending = true;
		subscription_open_all(s, false);
	}
	for (size_t i = 0; i < r->nentry; i++)
		if (status_is_error(r->entry[i].status)) {
			snprintf(s->fault, sizeof(s->fault), "%.64s %.*s", r->entry[i].objects,
				 (int)(r->entry[i].nvalue < 256 ? r->entry[i].nvalue : 256),
				 r->entry[i].value);
			log_warn("kept", "subscription=%s: %s", s->name, s->fault);
		}
}

static void write_request(const struct subscription *s, const struct subscription_request *w,
			  struct buf *b)
{
	struct omis_writer out = OMIS_WRITER(b);

	buf_puts(b, "thread_writes_events([],");
	omis_write_value(&out, w->names);
	omis_write_string(&out, w->where);
	omis_write_int(&out, w->seconds);
	omis_write_string(&out, s->name);
	buf_puts(b, "): print([])");
}

static void on_armed(void *arg, const struct reply *refusal)
{
}

/* An error in the text of the subscription is an error of the request. */
static int read_request(const struct subscription *s, const struct subscription_request *w,
			struct omis_request **out, char **text, struct err *e)
{
	struct buf b = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	struct omis_diag diag = { 0 };
	int rc;

	write_request(s, w, &b);
	rc = b.failed ? err_set(e, ERR_LIMIT, "the names are too long")
		      : omis_parse(buf_str(&b), b.n, out, e);
	if (!rc && omis_check(*out, &diag)) {
		rc = err_set(e, ERR_INVALID, "%s", diag.err.text);
		omis_request_free(*out);
		*out = NULL;
	}
	*text = rc ? NULL : str_dup(buf_str(&b));
	buf_done(&b);
	return rc || *text ? rc : err_nomem(e);
}

static void delete_activation(struct subscription *s)
{
	struct tool_csr *csr = s->csr.s[0] ? tool_csr_find(s->self, s->csr.s) : NULL;

	if (csr)
		tool_csr_delete(s->owner->conf.csrs, csr, NULL, NULL);
	s->csr.s[0] = 0;
}

/* The new one first: the lms replace the old one by it, and no event is off in
 * between. */
static int replace_activation(struct subscription *s, struct omis_request **request, struct err *e)
{
	struct tool_csrs *csrs = s->owner->conf.csrs;
	const char *token = NULL;
	struct token made;
	int rc = tool_csr_define(csrs, s->self, request, 0, &token, e);

	if (rc)
		return rc;
	str_copy(made.s, sizeof(made.s), token);
	rc = tool_csr_enable(csrs, tool_csr_find(s->self, made.s), on_armed, s);
	if (rc) {
		tool_csr_delete(csrs, tool_csr_find(s->self, made.s), NULL, NULL);
		return err_set(e, (enum err_code)(-rc), "it could not be armed");
	}
	delete_activation(s);
	s->csr = made;
	return 0;
}

static int activate(struct subscription *s, const struct subscription_request *w, struct err *e)
{
	struct omis_request *request = NULL;
	char *text = NULL;
	int rc = read_request(s, w, &request, &text, e);
	bool is_same = !rc && s->csr.s[0] && s->text && str_eq(s->text, text);

	if (!rc && !is_same)
		rc = replace_activation(s, &request, e);
	omis_request_free(request);
	if (rc || is_same) {
		free(text);
		return rc;
	}
	free(s->text);
	s->text = text; /* text of the armed request, never of a refused one */
	return 0;
}

/* --- processes */

static bool is_meant(const struct subscription *s, const struct object *o)
{
	return !s->job[0] || str_eq(o->job, s->job);
}

void subscriptions_proc_came(struct subscriptions *ks, const struct object *o)
{
	list_each (i, &ks->all) {
		struct subscription *s = list_entry(i, struct subscription, link);

		if (is_meant(s, o) && scope_attach(s->self->scope, o) < 0)
			log_warn("kept", "no memory: %s is not watched for subscription=%s",
				 o->token, s->name);
	}
}

static int attach_below(struct subscription *s, const struct object *o)
{
	int got = o->kind == OBJECT_PROC && is_meant(s, o) ? scope_attach(s->self->scope, o) : 0;

	if (o->kind < OBJECT_PROC)
		list_each (i, &o->children)
			if (!got)
				got = attach_below(s, list_entry(i, struct object, sibling));
	return got < 0 ? got : 0;
}

static int attach_all(struct subscription *s)
{
	int rc = 0;

	list_each (i, directory_sites(s->owner->conf.directory))
		if (!rc)
			rc = attach_below(s, list_entry(i, struct object, sibling));
	return rc;
}

/* --- life */

static void add_branches(struct subscription *s)
{
	const struct branches *c = s->owner->conf.branches;

	for (uint32_t i = 0; i < branches_bound(c); i++)
		if (branches_at(c, i))
			subscription_branch_up(s, branches_at(c, i));
}

static int make(struct subscriptions *ks, const struct session *owner, const char *name,
		struct subscription **out, struct err *e)
{
	const struct subscriptions_conf *c = &ks->conf;
	struct subscription *s;

	if (ks->n >= SUBSCRIPTIONS_MAX)
		return err_set(e, ERR_LIMIT, "there are %d kept subscriptions already",
			       SUBSCRIPTIONS_MAX);
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem(e);
	s->owner = ks;
	streams_init(&s->streams, &(struct streams_conf){ .bytes = sizeof(struct stream),
							  .number = &ks->stream });
	list_push_back(&ks->all, &s->link);
	ks->n++;
	str_copy(s->name, sizeof(s->name), name);
	s->lease = loop_timer_new(c->loop, on_lease, s);
	s->coming = loop_timer_new(c->loop, on_come, s);
	s->self = session_twin((uint32_t)numbers_mint(c->numbers, NUMBER_TOOL), owner, c->directory,
			       c->branches);
	if (!s->lease || !s->coming || !s->self) {
		subscription_free(s);
		return err_nomem(e);
	}
	s->self->on_reply = on_reply;
	s->self->on_reply_arg = s;
	list_push_back(c->sessions, &s->self->in_sessions);
	*out = s;
	return 0;
}

static void set_open(struct subscription *s, const struct subscription_request *w)
{
	s->opening = (struct msg_events_open){ .sub = s->name,
					       .identity = s->self->identity,
					       .policy = w->policy,
					       .max_bytes = w->max_bytes,
					       .lease_s = w->lease_s };
	str_copy(s->job, sizeof(s->job), w->job);
	s->has_waited = false;
	loop_timer_cancel(s->coming);
}

static int check_request(const struct subscription_request *w, struct err *e)
{
	size_t n = strlen(w->name);

	if (!n || n >= SUBSCRIPTION_NAME_BYTES || w->name[0] == '.' ||
	    strspn(w->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") !=
		    n)
		return err_set(
			e, ERR_INVALID,
			"a subscription's name has 1 to %d of letters, digits, '-', '_', '.'",
			SUBSCRIPTION_NAME_BYTES - 1);
	return strlen(w->job) > NAME_MAX_BYTES
		       ? err_set(e, ERR_INVALID, "the name of the job is too long")
		       : 0;
}

/* Announces the subscription to the branches before its csr is armed there. */
static int begin(struct subscription *s, struct session *receiver,
		 const struct subscription_request *w, struct err *e)
{
	int rc;

	set_open(s, w);
	add_branches(s);
	rc = attach_all(s) ? err_nomem(e) : 0;
	set_receiver(s, receiver);
	return rc ? rc : activate(s, w, e);
}

/* A refusal has no effect on the receiver and on the branches. */
static int change(struct subscription *s, struct session *receiver,
		  const struct subscription_request *w, struct err *e)
{
	char was[sizeof(s->job)];
	int rc;

	str_copy(was, sizeof(was), s->job);
	str_copy(s->job, sizeof(s->job), w->job);
	rc = attach_all(s) ? err_nomem(e) : activate(s, w, e);
	if (rc) {
		str_copy(s->job, sizeof(s->job), was);
		return rc;
	}
	set_open(s, w);
	set_receiver(s, receiver);
	return 0;
}

/* Compares the identities from the authority, not the names that tools give themselves. */
static bool is_of(const struct subscription *s, const struct session *tool)
{
	return str_eq(s->self->principal, tool->principal);
}

int subscriptions_keep(struct subscriptions *ks, struct session *receiver,
		       const struct subscription_request *w, bool *is_new, struct err *e)
{
	struct subscription *s = find(ks, w->name);
	int rc = check_request(w, e);

	*is_new = !s;
	if (!rc && s && !is_of(s, receiver))
		rc = err_set(e, ERR_DENIED, "the subscription belongs to another owner");
	if (!rc && !s)
		rc = make(ks, receiver, w->name, &s, e);
	if (rc)
		return rc;
	if (!*is_new)
		return change(s, receiver, w, e);
	rc = begin(s, receiver, w, e);
	if (rc)
		end(s, e->text);
	return rc;
}

static int find_own(const struct subscriptions *ks, const struct session *tool, const char *name,
		    struct subscription **out, struct err *e)
{
	*out = find(ks, name);
	if (!*out)
		return err_set(e, ERR_NOTFOUND, "there is no subscription of that name");
	return is_of(*out, tool)
		       ? 0
		       : err_set(e, ERR_DENIED, "the subscription belongs to another owner");
}

int subscriptions_unkeep(struct subscriptions *ks, struct session *tool, const char *name,
			 bool drain, struct err *e)
{
	struct subscription *s;
	int rc = find_own(ks, tool, name, &s, e);

	if (rc)
		return rc;
	if (!drain) {
		end(s, "its owner has ended it");
		return 0;
	}
	delete_activation(s);
	s->opening.ending = true;
	s->has_waited = false;
	subscription_open_all(s, false);
	subscription_check_end(s);
	return 0;
}

void subscriptions_write(const struct subscriptions *ks, const struct session *tool,
			 struct omis_writer *w)
{
	list_each (i, &ks->all) {
		const struct subscription *s = list_entry(i, struct subscription, link);

		if (!is_of(s, tool))
			continue;
		omis_write_list(w);
		omis_write_string(w, s->name);
		omis_write_int(w, s->receiver ? s->receiver->number : 0);
		omis_write_string(w, s->opening.ending ? "ending" : "on");
		omis_write_int(w, (int64_t)s->streams.unsafe);
		omis_write_string(w, s->fault);
		omis_write_list_end(w);
	}
}

/* --- from outside */

void subscriptions_branch_up(struct subscriptions *ks, const struct branch *c)
{
	list_each (i, &ks->all)
		subscription_branch_up(list_entry(i, struct subscription, link), c);
}

void subscriptions_branch_lost(struct subscriptions *ks, uint32_t branch)
{
	const struct branch *c = branches_at(ks->conf.branches, branch);

	/* The branch may have events for a subscription of an earlier mainsm. The tool may request
	 * them while the branch is away. */
	if (c && c->is_sm)
		ks->unsettled = loop_now(ks->conf.loop);
	list_each_safe (i, &ks->all)
		subscription_branch_lost(list_entry(i, struct subscription, link), branch);
}

void subscriptions_events(struct subscriptions *ks, uint32_t branch, const struct msg_events *m)
{
	struct subscription *s = find(ks, m->sub);

	if (s)
		subscription_events(s, branch, m);
}

void subscriptions_ack(struct subscriptions *ks, const struct session *tool,
		       const struct msg_events_ack *m)
{
	struct subscription *s = find(ks, m->sub);

	if (s && s->receiver == tool)
		subscription_acked(s, m);
}
