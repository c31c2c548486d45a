/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/csr/csr.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/omis/services/check.h"
#include "common/omis/text/token.h"
#include "common/route/arm.h"
#include "sm/csr/csr_internal.h"
#include "sm/hosts/view.h"
#include "tree/refusal.h"
#include "tree/wire.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_PARAM 4

static void on_follow(void *arg);

struct site_csrs *site_csrs_new(const struct site_csrs_conf *conf)
{
	struct site_csrs *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->conf = *conf;
	smap_init(&a->by_token);
	partings_init(&a->partings, conf->loop, SITE_CSRS_PARTED_MAX_NS);
	a->follow = loop_timer_new(conf->loop, on_follow, a);
	a->losses = loop_timer_new(conf->loop, site_csrs_on_losses, a);
	if (a->follow && a->losses)
		return a;
	site_csrs_free(a);
	return NULL;
}

void site_csrs_stats(const struct site_csrs *a, struct site_csrs_stats *out)
{
	*out = a->stats;
	out->armed = a->by_token.n;
}

size_t site_csrs_strange(const struct site_csrs *a, bool (*knows)(void *arg, uint32_t tool),
			 void *arg)
{
	struct smap_iter i = { 0 };
	size_t n = 0;

	while (smap_next(&a->by_token, &i))
		n += !knows(arg, ((const struct site_csr *)i.value)->tool);
	return n;
}

/* --- messages to the branches */

/* Sends the part of a branch. An absent host gets it when it connects. */
static int send_part(void *arg, const struct standing_part *p)
{
	struct site_csr *c = arg;
	const struct msg m = { .type = MSG_ARM,
			       .arm = {
				       .csr = c->token,
				       .tool = c->tool,
				       .identity = c->identity,
				       .version = p->version,
				       .text = { (const uint8_t *)p->text, p->ntext },
				       .local_prefix = (uint32_t)p->mark,
				       .reply = c->reply,
			       } };

	return branches_send(nodes_branches(c->a->conf.nodes), p->branch, &m);
}

/* Ends the part of a branch. Connected hosts reply. */
static void end_part(void *arg, const struct standing_part *p)
{
	const struct site_csr *c = arg;
	const struct msg m = { .type = MSG_DISARM, .disarm = { .csr = c->token } };

	if (!branches_send(nodes_branches(c->a->conf.nodes), p->branch, &m) && c->parting)
		parting_await(&c->parting->parting, p->branch);
}

/* --- conditional requests */

static void csr_free(struct site_csr *c)
{
	standing_free(c->standing);
	reply_free(c->answer);
	c->a->stats.bytes -= c->ntext;
	free(c->text);
	free(c->identity);
	free(c->token);
	free(c);
}

void site_csrs_free(struct site_csrs *a)
{
	struct smap_iter i = { 0 };

	if (!a)
		return;
	while (smap_next(&a->by_token, &i))
		csr_free(i.value);
	smap_done(&a->by_token);
	site_partings_free(a);
	loop_timer_free(a->losses);
	loop_timer_free(a->follow);
	free(a);
}

/* Ends the parts of all branches. */
static void end(struct site_csr *c)
{
	standing_end(c->standing);
	smap_del(&c->a->by_token, c->token);
	csr_free(c);
}

static void send_answer(struct site_csr *c)
{
	const struct site_csrs_conf *conf = &c->a->conf;
	struct msg m = { .type = MSG_ARM_ACK,
			 .arm_ack = { .csr = c->token, .version = c->version } };

	wire_send_ack(&(struct wire_sink){ conf->send, conf->arg }, &m, c->answer,
		      SITE_CSRS_ENTRIES_MAX);
	reply_free(c->answer);
	c->answer = NULL;
}

static void on_settled(void *arg)
{
	struct site_csr *c = arg;
	const struct standing_part *p;

	for (size_t i = 0; c->answer && (p = standing_at(c->standing, i)); i++)
		if (p->state == STANDING_WAITING)
			reply_add(c->answer, 0,
				  branches_name(nodes_branches(c->a->conf.nodes), p->branch),
				  STATUS_UNSPECIFIED_ERROR, "the host has not confirmed in time");
	if (c->answer)
		send_answer(c);
}

void site_csr_check_answer(struct site_csr *c)
{
	if (c->answer)
		standing_check(c->standing, false);
}

static struct site_csr *csr_new(struct site_csrs *a, const char *token)
{
	struct site_csr *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->a = a;
	c->token = str_dup(token);
	c->identity = str_dup("");
	c->standing = standing_new(&(struct standing_conf){ .loop = a->conf.loop,
							    .wait_max = SITE_CSRS_ACK_MAX_NS,
							    .version = &a->version,
							    .bytes = &a->stats.bytes,
							    .bytes_max = SITE_CSRS_BYTES_MAX,
							    .send = send_part,
							    .end = end_part,
							    .settled = on_settled,
							    .arg = c });
	if (c->token && c->identity && c->standing && !smap_put(&a->by_token, c->token, c, NULL))
		return c;
	csr_free(c);
	return NULL;
}

/* --- arming */

static int understand(const struct msg_arm *m, struct omis_request **out, struct omis_diag *d)
{
	int rc = omis_read_inner((const char *)m->text.p, m->text.n, out, d);

	if (rc)
		return rc;
	d->status = m->identity[0] ? STATUS_PARAMETER_ERROR : STATUS_NO_PERMISSION;
	if (!m->identity[0])
		return err_set(&d->err, ERR_DENIED, "a conditional request without an owner");
	return (*out)->event ? 0
			     : err_set(&d->err, ERR_INVALID, "no event in a request to be armed");
}

/* Sets the parts of all branches, and sends those that have changed. */
static int set_parts(struct site_csr *c, const struct msg_arm *m, const struct arm *arm)
{
	const struct arm_part *part;
	bool is_all_changed =
		c->reply != m->reply || c->tool != m->tool || !str_eq(c->identity, m->identity);
	int rc = 0;

	standing_begin(c->standing, is_all_changed);
	for (size_t k = 0; !rc && (part = arm_part_at(arm, k)); k++)
		rc = standing_set(c->standing, &(struct standing_part){
						       .branch = part->branch,
						       .text = part->text,
						       .ntext = part->ntext,
						       .mark = part->local_prefix < m->local_prefix
								       ? part->local_prefix
								       : m->local_prefix });
	return rc;
}

static int set_text(struct site_csr *c, const struct msg_arm *m)
{
	char *text;

	if (c->text == (const char *)m->text.p)
		return 0;
	if (c->a->stats.bytes - c->ntext + m->text.n > SITE_CSRS_BYTES_MAX)
		return -ERR_LIMIT;
	text = malloc(m->text.n + 1);
	if (!text)
		return -ERR_NOMEM;
	memcpy(text, m->text.p, m->text.n);
	c->a->stats.bytes += m->text.n - c->ntext;
	free(c->text);
	c->text = text;
	c->ntext = m->text.n;
	return 0;
}

/* Stores the whole ARM, for splitting it again when hosts move. */
static int set_whole(struct site_csr *c, const struct msg_arm *m)
{
	char *identity = str_dup(m->identity);

	if (!identity || set_text(c, m)) {
		free(identity);
		return -ERR_NOMEM;
	}
	free(c->identity);
	c->identity = identity;
	c->tool = m->tool;
	c->reply = m->reply;
	c->local_prefix = m->local_prefix;
	return 0;
}

static int split(struct site_csr *c, const struct msg_arm *m, const struct omis_request *r,
		 struct reply *answer, struct err *e)
{
	const struct site_csrs_conf *conf = &c->a->conf;
	struct site_view v = { conf->nodes, conf->placement,
			       branches_bound(nodes_branches(conf->nodes)) };
	struct route_view route = site_view_arming(&v);
	struct arm *arm = NULL;
	int rc = arm_new(r, &route, answer, &arm, e);

	if (rc)
		return rc;
	rc = set_parts(c, m, arm);
	if (!rc)
		rc = set_whole(c, m);
	arm_free(arm);
	if (rc)
		return err_set(e, (enum err_code)(-rc), "no room for it: %s", err_name(rc));
	standing_commit(c->standing); /* parts without memory are sent with the next change */
	return 0;
}

static struct site_csr *find_or_new(struct site_csrs *a, const struct msg_arm *m)
{
	struct site_csr *c = smap_find(&a->by_token, m->csr);
	struct reply *answer;

	if (!c && (a->by_token.n >= SITE_CSRS_MAX || token_class(m->csr, strlen(m->csr)) != 'c'))
		return NULL;
	answer = reply_new();
	if (!c && answer)
		c = csr_new(a, m->csr);
	if (!c || !answer) {
		reply_free(answer);
		return NULL;
	}
	reply_free(c->answer); /* of an ARM that this one replaces: its version is obsolete */
	c->answer = answer;
	c->version = m->version;
	c->is_stale = false;
	return c;
}

/* The subscription that the blocks of that request go to; "" = none. */
static const char *kept_of(const struct omis_request *r)
{
	const struct omis_call *event = r->event;

	if (!event || strcmp(event->name, "thread_writes_events") != 0 ||
	    event->nparam <= KEPT_PARAM)
		return "";
	return omis_value_text(&event->param[KEPT_PARAM], NULL);
}

/*
 * A subscription has one conditional request. That of an earlier mainsm must not be enabled beside
 * its successor when hosts return.
 */
static void replace_older(struct site_csr *c, const char *kept)
{
	struct smap_iter i = { 0 };

	str_copy(c->kept, sizeof(c->kept), kept ? kept : "");
	while (c->kept[0] && smap_next(&c->a->by_token, &i)) {
		struct site_csr *other = i.value;

		if (other != c && str_eq(other->kept, c->kept) &&
		    str_eq(other->identity, c->identity))
			end(other);
	}
}

void site_csrs_disarm(struct site_csrs *a, const char *csr)
{
	struct site_csr *c = smap_find(&a->by_token, csr);
	struct site_parting *p = c ? site_parting_new(a, csr, c->dropped) : NULL;

	if (!p)
		site_csrs_report_losses(a, csr, c ? c->dropped : 0, true);
	else
		c->parting = p;
	if (c)
		end(c);
	if (p)
		site_parting_begin(p);
}

void site_csrs_arm(struct site_csrs *a, const struct msg_arm *m)
{
	struct omis_request *r = NULL;
	struct omis_diag d;
	struct site_csr *c = NULL;
	struct refusal refusal;
	int rc = understand(m, &r, &d);

	if (!rc) {
		c = find_or_new(a, m);
		rc = c ? split(c, m, r, c->answer, &d.err)
		       : err_set(&d.err, ERR_LIMIT, "this sm has no room for it");
		d.status = status_from_err(rc);
	}
	if (!rc) {
		replace_older(c, kept_of(r));
		site_csr_check_answer(c);
	} else {
		a->conf.send(a->conf.arg, refusal_of_arm(&refusal, m, d.status, d.err.text));
		site_csrs_disarm(a, m->csr); /* a partial set would be worse than none */
	}
	omis_request_free(r);
}

bool site_csrs_has(const struct site_csrs *a, const char *csr)
{
	return smap_find(&a->by_token, csr);
}

void site_csrs_drop_tool(struct site_csrs *a, uint32_t tool)
{
	struct smap_iter i = { 0 };

	while (smap_next(&a->by_token, &i)) {
		struct site_csr *c = i.value;

		if (c->tool == tool)
			end(c);
	}
}

void site_csrs_set_stale(struct site_csrs *a)
{
	struct smap_iter i = { 0 };

	while (smap_next(&a->by_token, &i))
		((struct site_csr *)i.value)->is_stale = true;
}

void site_csrs_drop_stale(struct site_csrs *a)
{
	struct smap_iter i = { 0 };

	while (smap_next(&a->by_token, &i)) {
		struct site_csr *c = i.value;

		if (c->is_stale)
			end(c);
	}
}

/* --- branches that connect and disconnect */

void site_csrs_branch_up(struct site_csrs *a, const struct branch *b)
{
	struct smap_iter i = { 0 };

	while (smap_next(&a->by_token, &i))
		standing_up(((struct site_csr *)i.value)->standing, b->index);
}

static void lose_branch(struct site_csrs *a, const struct branch *b,
			bool (*lose)(struct standing *st, uint32_t branch))
{
	struct smap_iter i = { 0 };

	while (smap_next(&a->by_token, &i)) {
		struct site_csr *c = i.value;

		if (lose(c->standing, b->index))
			site_csr_check_answer(c);
	}
	partings_forget(&a->partings, b->index);
}

void site_csrs_branch_down(struct site_csrs *a, const struct branch *b)
{
	lose_branch(a, b, standing_down);
}

void site_csrs_branch_gone(struct site_csrs *a, const struct branch *b)
{
	lose_branch(a, b, standing_drop);
}

/* --- hosts that move from one branch to another */

static void csr_follow(struct site_csr *c, struct reply *scratch)
{
	const struct msg_arm m = { .csr = c->token,
				   .tool = c->tool,
				   .identity = c->identity,
				   .version = c->version,
				   .text = { (const uint8_t *)c->text, c->ntext },
				   .local_prefix = c->local_prefix,
				   .reply = c->reply };
	struct omis_request *r = NULL;
	struct omis_diag d = { 0 };
	int rc = understand(&m, &r, &d);

	if (!rc)
		rc = split(c, &m, r, scratch, &d.err);
	if (rc)
		log_warn("sm", "csr=%s does not follow its hosts: %s", c->token, d.err.text);
	omis_request_free(r);
	site_csr_check_answer(c);
}

static void on_follow(void *arg)
{
	struct site_csrs *a = arg;
	struct smap_iter i = { 0 };

	while (smap_next(&a->by_token, &i)) {
		struct reply *scratch = reply_new();

		if (scratch)
			csr_follow(i.value, scratch);
		reply_free(scratch);
	}
}

void site_csrs_follow(struct site_csrs *a)
{
	if (a->by_token.n && !loop_timer_is_armed(a->follow))
		loop_timer_arm(a->follow, SITE_CSRS_FOLLOW_NS);
}
