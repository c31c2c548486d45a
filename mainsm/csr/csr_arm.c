/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests at the branches: their parts and confirmations. */
#include "mainsm/csr/csr.h"

#include "common/base/str.h"
#include "common/omis/services/catalogue.h"
#include "common/route/arm.h"
#include "common/route/implied.h"
#include "mainsm/csr/csr_internal.h"
#include "mainsm/tool/partners.h"
#include "tree/branches.h"
#include "tree/standing.h"

#include <stdlib.h>
#include <string.h>

static void empty(struct smap *m)
{
	struct smap_iter i = { 0 };

	while (smap_next(m, &i))
		smap_del(m, i.key);
}

void tool_csr_disarm(struct tool_csr *csr)
{
	const struct tool_csrs_conf *c = &csr->c->conf;

	csr->has_reported_faults = false;
	standing_end(csr->standing);
	if (c->on_disarmed && !tool_csr_is_of_user_event(csr))
		c->on_disarmed(c->arg, csr->token.s);
	empty(&csr->objects);
	empty(&csr->came);
	empty(&csr->refused);
}

/* Actions that all run inside the rank have no results to wait for: only their failures are
 * reported. */
static bool wants_triggered(const struct tool_csr *csr, uint32_t local_prefix)
{
	const struct omis_request *r = csr->request;
	bool all_in_rank = predicates_leading(csr->predicates) < r->naction;

	for (size_t i = 0; i < r->naction; i++)
		all_in_rank &=
			predicate_is(&r->action[i]) || r->action[i].service->where == OMIS_AT_RANK;
	return local_prefix < r->naction || !all_in_rank;
}

/*
 * A branch that accepts no message now is about to be lost: its objects leave, and return with it.
 */
static int send_part(void *arg, const struct standing_part *p)
{
	struct tool_csr *csr = arg;
	const struct msg m = { .type = MSG_ARM,
			       .arm = {
				       .csr = csr->token.s,
				       .tool = csr->session->number,
				       .identity = csr->session->identity,
				       .version = p->version,
				       .text = { (const uint8_t *)p->text, p->ntext },
				       .local_prefix = (uint32_t)p->mark,
				       .reply = wants_triggered(csr, (uint32_t)p->mark),
			       } };

	return branches_send(csr->c->conf.branches, p->branch, &m);
}

static void end_part(void *arg, const struct standing_part *p)
{
	struct tool_csr *csr = arg;
	const struct msg m = { .type = MSG_DISARM, .disarm = { .csr = csr->token.s } };

	if (!branches_send(csr->c->conf.branches, p->branch, &m))
		parting_await(&csr->parting, p->branch);
}

/* Adds the objects of an event's parameter to a set. */
static int collect(const struct omis_call *event, struct smap *into, void *mark)
{
	int at = event->service->object_param;
	const struct omis_value *list = at >= 0 ? &event->param[at] : NULL;

	for (size_t i = 0; list && list->kind == OMIS_LIST && i < list->list.n; i++)
		if (list->list.v[i].kind == OMIS_TOKEN &&
		    smap_put(into, list->list.v[i].s.p, mark, NULL))
			return -ERR_NOMEM;
	return 0;
}

static int collect_part(const struct arm_part *part, struct smap *into, void *mark)
{
	struct omis_request *r = NULL;
	int rc = omis_read_inner(part->text, part->ntext, &r, NULL);

	if (!rc && r->event)
		rc = collect(r->event, into, mark);
	omis_request_free(r);
	return rc;
}

static bool lives(const struct directory *d, const char *token)
{
	const struct object *o = directory_find(d, token);

	return !o || o->state != MSG_STATE_ENDED;
}

/* Writes "a,b,c": the keys of `in` that `not_in` lacks. */
static int difference(const struct smap *in, const struct smap *not_in, struct buf *out)
{
	struct smap_iter i = { 0 };

	while (smap_next(in, &i))
		if (!smap_find(not_in, i.key))
			buf_printf(out, "%s%s", out->n ? "," : "", i.key);
	return out->failed ? -ERR_NOMEM : 0;
}

static struct reply *news_of(struct tool_csr *csr)
{
	if (!csr->news)
		csr->news = reply_new();
	return csr->news;
}

/* Stores the live objects that are new. */
static int note_came(struct tool_csr *csr, const struct smap *now)
{
	struct smap_iter i = { 0 };

	while (smap_next(now, &i))
		if (!smap_find(&csr->objects, i.key) && lives(csr->c->conf.directory, i.key) &&
		    smap_put(&csr->came, i.key, csr, NULL))
			return -ERR_NOMEM;
	return 0;
}

static void forget_gone(struct tool_csr *csr, struct smap *set)
{
	struct smap_iter i = { 0 };

	while (smap_next(set, &i))
		if (!smap_find(&csr->objects, i.key))
			smap_del(set, i.key);
}

/* Replaces the set of objects; removed ones are reported now, new ones when confirmed. */
static int change_objects(struct tool_csr *csr, struct smap *now)
{
	struct buf went = BUF_INIT(FRAME_MAX_BYTES);
	int rc = note_came(csr, now);

	if (!rc)
		rc = difference(&csr->objects, now, &went);
	if (!rc) {
		struct smap old = csr->objects;

		csr->objects = *now;
		*now = old;
		forget_gone(csr, &csr->came);
		forget_gone(csr, &csr->refused);
		if (went.n)
			tool_csr_report(csr, STATUS_CSR_DISABLED, buf_str(&went), NULL, NULL);
	}
	buf_done(&went);
	return rc;
}

/* Sets what each branch has of the csr. arm NULL: its event cannot occur anywhere. */
static int set_parts(struct tool_csr *csr, const struct arm *arm, struct smap *now)
{
	const struct arm_part *part;
	int rc = 0;

	standing_begin(csr->standing, false);
	for (size_t i = 0; !rc && arm && (part = arm_part_at(arm, i)); i++) {
		rc = collect_part(part, now, csr);
		if (!rc)
			rc = standing_set(csr->standing,
					  &(struct standing_part){ .branch = part->branch,
								   .text = part->text,
								   .ntext = part->ntext,
								   .mark = part->local_prefix });
	}
	return rc ? rc : standing_commit(csr->standing);
}

/* The tool gets unknown objects as entries of the event. */
static int add_faults(struct tool_csr *csr, const struct reply *faults)
{
	int rc = 0;

	csr->has_reported_faults = true;
	for (size_t i = 0; !rc && i < faults->nentry; i++)
		rc = news_of(csr) ? reply_add(csr->news, 1, faults->entry[i].objects,
					      faults->entry[i].status, faults->entry[i].value)
				  : -ERR_NOMEM;
	return rc;
}

static int arm_branches(struct tool_csr *csr, struct smap *now)
{
	struct route_view view = tool_view_arming(&csr->session->view);
	struct omis_request request = *csr->request;
	struct reply *faults = reply_new();
	struct partners partners = { 0 };
	struct arm *arm = NULL;
	int rc = faults ? partners_open(&partners, &csr->session->view, request.event, faults)
			: -ERR_NOMEM;

	request.event = &partners.event;
	if (!rc && !partners.none)
		rc = arm_new(&request, &view, faults, &arm, NULL);
	if (!rc)
		rc = set_parts(csr, arm, now);
	if (!rc && !csr->objects.n && !csr->has_reported_faults)
		rc = add_faults(csr, faults);
	arm_free(arm);
	partners_close(&partners);
	reply_free(faults);
	return rc;
}

/* Returns the objects of the event, as written; empty = all. */
static const struct omis_value *named(const struct tool_csr *csr)
{
	const struct omis_call *event = csr->request->event;

	return &event->param[event->service->object_param];
}

bool tool_csr_event_exists(const struct session *s, const char *token)
{
	return s && (smap_find(&s->events, token) || smap_find(&s->measures, token));
}

bool tool_csr_is_hopeless(const struct tool_csr *csr)
{
	const struct omis_value *list = named(csr);

	for (size_t i = 0; i < list->list.n; i++)
		if (tool_csr_event_exists(csr->session, list->list.v[i].s.p))
			return false;
	return list->list.n > 0;
}

static int arm_here(struct tool_csr *csr, struct smap *now)
{
	const struct omis_value *list = named(csr);
	int rc = 0;

	for (size_t i = 0; !rc && i < list->list.n; i++) {
		const char *token = list->list.v[i].s.p;

		if (tool_csr_event_exists(csr->session, token))
			rc = smap_put(now, token, csr, NULL);
		else if (!csr->has_reported_faults)
			rc = news_of(csr) ? reply_add(csr->news, 1, token, STATUS_UNKNOWN_OBJECT,
						      "there is no such object")
					  : -ERR_NOMEM;
	}
	csr->has_reported_faults = true;
	return rc;
}

int tool_csr_arm(struct tool_csr *csr)
{
	struct smap now;
	int rc;

	smap_init(&now);
	if (tool_csr_is_of_user_event(csr))
		rc = arm_here(csr, &now);
	else
		rc = arm_branches(csr, &now);
	if (!rc)
		rc = change_objects(csr, &now);
	smap_done(&now);
	return rc;
}

/* --- reports to the tool */

static bool is_named(const struct tool_csr *csr, const char *token, size_t n)
{
	const struct omis_value *list = named(csr);

	for (size_t i = 0; i < list->list.n; i++)
		if (list->list.v[i].s.n == n && !memcmp(list->list.v[i].s.p, token, n))
			return true;
	return false;
}

static bool names_any(const struct tool_csr *csr, const char *objects)
{
	size_t n;

	for (; *objects; objects += n + (objects[n] == ',')) {
		n = strcspn(objects, ",");
		if (is_named(csr, objects, n))
			return true;
	}
	return false;
}

static size_t accepted(const struct tool_csr *csr)
{
	return csr->objects.n - csr->refused.n;
}

/*
 * True if a fault must be reported. For a node, a site or all, a missing probe or library is
 * reported only if no process has it.
 */
static bool is_worth_a_report(const struct tool_csr *csr, const struct reply_entry *e)
{
	return e->status != STATUS_PARAMETER_ERROR || !e->objects[0] || !accepted(csr) ||
	       names_any(csr, e->objects);
}

/* Makes the contents of ENABLED; may be empty. NULL: no memory. */
static struct reply *compose(struct tool_csr *csr)
{
	struct buf came = BUF_INIT(FRAME_MAX_BYTES);
	struct reply *r = reply_new();
	int rc = r ? difference(&csr->came, &csr->refused, &came) : -ERR_NOMEM;

	if (!rc && came.n)
		rc = reply_add(r, 1, buf_str(&came), STATUS_OK, NULL);
	for (size_t i = 0; !rc && csr->news && i < csr->news->nentry; i++) {
		const struct reply_entry *e = &csr->news->entry[i];

		if (is_worth_a_report(csr, e))
			rc = reply_add_n(r, 1, e->objects, e->status,
					 bytes_at(e->value, e->nvalue));
	}
	buf_done(&came);
	if (!rc)
		rc = reply_set_csr(r, csr->token.s);
	if (!rc)
		return r;
	reply_free(r);
	return NULL;
}

/* True if the event names processes. A node or site may run another program later. */
static bool names_processes(const struct tool_csr *csr)
{
	const struct omis_value *list = named(csr);
	char class = 'p';

	for (size_t i = 0; i < list->list.n && (class == 'p' || class == 't'); i++)
		class = token_class(list->list.v[i].s.p, list->list.v[i].s.n);
	return list->list.n && (class == 'p' || class == 't');
}

static bool knows_any_named(const struct tool_csr *csr)
{
	const struct omis_value *list = named(csr);

	for (size_t i = 0; i < list->list.n; i++)
		if (directory_find(csr->c->conf.directory, list->list.v[i].s.p))
			return true;
	return list->list.n == 0;
}

/*
 * True if none of the named objects is known, or if all are known processes that cannot be watched.
 */
static bool is_refused(const struct tool_csr *csr)
{
	if (csr->state != CSR_ENABLING)
		return false;
	if (tool_csr_is_of_user_event(csr))
		return tool_csr_is_hopeless(csr);
	if (!knows_any_named(csr))
		return true;
	return names_processes(csr) && csr->refused.n && !accepted(csr) &&
	       !str_eq(csr->request->event->name, "thread_writes_events");
}

static void refuse(struct tool_csr *csr, const struct reply *r)
{
	csr->keepers++;
	csr->c->stats.enabled--;
	tool_csr_step(csr, CSR_REFUSE);
	tool_csr_disarm(csr);
	tool_csr_call_waiters(&csr->waiters, r);
	tool_csr_check_parted(csr);
	tool_csr_let_go(csr);
}

static void on_settled(void *arg)
{
	struct tool_csr *csr = arg;
	struct reply *r = compose(csr);
	bool owes = csr->state == CSR_ENABLING, is_no = is_refused(csr);

	reply_free(csr->news);
	csr->news = NULL;
	if (is_no) {
		refuse(csr, r);
		reply_free(r);
		return;
	}
	if (owes)
		tool_csr_step(csr, CSR_REPORT);
	empty(&csr->came);
	if (r)
		route_drop_implied(r, csr->request->event, 1, NULL);
	if (r && tool_csr_is_enabled(csr) && (r->nentry || owes))
		tool_csr_report(csr, STATUS_CSR_ENABLED, NULL, NULL, r);
	reply_free(r);
	tool_csr_call_waiters(&csr->waiters, NULL);
}

struct standing *tool_csr_standing_new(struct tool_csr *csr)
{
	return standing_new(&(struct standing_conf){ .loop = csr->c->conf.loop,
						     .wait_max = CSR_ARMED_MAX_NS,
						     .version = &csr->c->version,
						     .send = send_part,
						     .end = end_part,
						     .settled = on_settled,
						     .arg = csr });
}

void tool_csrs_branch_lost(struct tool_csrs *c, uint32_t branch)
{
	struct smap_iter i = { 0 };

	while (smap_next(&c->by_token, &i)) {
		struct tool_csr *csr = i.value;

		if (standing_drop(csr->standing, branch))
			standing_check(csr->standing, false);
	}
	partings_forget(&c->partings, branch);
	tool_csrs_follow_soon(c);
}

/* Adds a refusal, unless an earlier report has it. */
static void add_refusal(struct tool_csr *csr, const struct msg_entry *e)
{
	bool is_new = !e->objects[0];
	char token[TOKEN_BYTES];
	size_t n;

	for (const char *at = e->objects; *at; at += n + (at[n] == ',')) {
		n = strcspn(at, ",");
		snprintf(token, sizeof(token), "%.*s", (int)n, at);
		is_new |= !smap_find(&csr->objects, token) || !smap_find(&csr->refused, token);
		if (smap_find(&csr->objects, token))
			smap_put(&csr->refused, token, csr, NULL);
	}
	if (is_new && news_of(csr))
		reply_add_n(csr->news, 1, e->objects, e->status, e->value);
}

int tool_csrs_armed(struct tool_csrs *c, uint32_t branch, const struct msg_arm_ack *m,
		    struct err *e)
{
	struct tool_csr *csr = smap_find(&c->by_token, m->csr);
	int rc;

	if (!csr || !standing_has(csr->standing, branch, m->version))
		return err_set(e, ERR_NOTFOUND, "nothing is armed there");
	rc = tool_csr_check_entries(csr, branches_at(c->conf.branches, branch), m->entry, m->nentry,
				    e);
	if (rc)
		return rc;
	for (size_t i = 0; i < m->nentry; i++)
		if (status_is_error(m->entry[i].status))
			add_refusal(csr, &m->entry[i]);
	standing_confirm(csr->standing, branch);
	standing_check(csr->standing, false);
	return 0;
}
