/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of the parent: connections and messages of mainsm. */
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/net/net.h"
#include "common/omis/text/status.h"
#include "sm/node/sm_internal.h"
#include "tree/refusal.h"

#include <string.h>

/* --- tools */

static void note_tool(struct sm *sm, uint32_t tool)
{
	sessions_gone(sm->old_tools, tool);
	if (sessions_seen(sm->sessions, tool))
		log_warn("sm", "too many tools: the end of tool=%u is not noticed when mainsm ends",
			 tool);
}

/* Drops the state of a departed tool and informs all branches. */
static void sm_tool_gone(struct sm *sm, uint32_t tool)
{
	const struct msg m = { .type = MSG_TOOL_GONE, .tool_gone = { .tool = tool } };

	sessions_gone(sm->sessions, tool);
	sessions_gone(sm->old_tools, tool);
	site_csrs_drop_tool(sm->csrs, tool);
	site_measures_drop_tool(sm->measures, tool);
	placement_drop_tool(sm->placement, tool);
	missed_tool(&sm->missed, tool);
	branches_send_all(nodes_branches(sm->nodes), &m);
}

/* Releases stopped programs some time after the end of mainsm. */
void sm_leash_over(void *arg)
{
	struct sm *sm = arg;
	const struct msg m = { .type = MSG_LET_GO, .let_go = { "mainsm cannot be asked" } };

	sm->let_go_at = loop_now(sm->conf.loop);
	branches_send_all(nodes_branches(sm->nodes), &m);
}

/* Silence is detected after 6 s, and 5 s later an absent lm releases by itself. */
#define LET_GO_LATE_NS (15 * NSEC_PER_SEC)

void sm_let_go_late(struct sm *sm, struct branch *b)
{
	const struct msg m = { .type = MSG_LET_GO, .let_go = { "mainsm could not be asked" } };

	if (sm->let_go_at && loop_now(sm->conf.loop) - sm->let_go_at < LET_GO_LATE_NS)
		branch_send(b, &m);
}

/* Called when mainsm has had time to return and to repeat its requests. */
void sm_grace_over(void *arg)
{
	struct sm *sm = arg;
	bool is_up = parent_link_is_up(sm->parent);
	uint32_t tool;

	log_info("sm", "csrs and measurements that mainsm did not send again have ended mainsm=%s",
		 is_up ? "up" : "gone");
	while (sessions_any(sm->old_tools, &tool))
		sm_tool_gone(sm, tool);
	while (!is_up && sessions_any(sm->sessions, &tool))
		sm_tool_gone(sm, tool);
	site_csrs_drop_stale(sm->csrs);
	site_measures_drop_stale(sm->measures);
}

/* --- certificates */

static void refuse_serial(struct sm *sm, const struct bytes *serial)
{
	const struct identity *self = net_ctx_self(sm->conf.ctx);

	if (serial->n != SERIAL_BYTES || net_ctx_is_revoked(sm->conf.ctx, serial->p))
		return;
	if (sm->nrevoked++ >= SM_REVOKED_MAX || net_ctx_revoke(sm->conf.ctx, serial->p)) {
		log_error("sm", "no room for one more revoked certificate: its owner is not cut");
		return;
	}
	if (self && !memcmp(self->serial, serial->p, SERIAL_BYTES))
		sm_end(sm, "our certificate was revoked");
}

static void got_revoked(struct sm *sm, const struct msg_revoked *m)
{
	for (size_t i = 0; i < m->nserial; i++)
		refuse_serial(sm, &m->serial[i]);
	net_ctx_check(sm->conf.ctx);
}

static void got_enrol_ack(struct sm *sm, const struct msg_enrol_ack *m)
{
	struct err e = { 0 };

	if (!sm->renew)
		return;
	if (renew_answer(sm->renew, m, &e))
		log_warn("sm", "the certificate was not renewed: %s", e.text);
	else
		log_notice("sm", "certificate renewed");
}

/* --- limits of the site */

/* True for a single request about this sm's health, which is permitted even at a limit. */
static bool is_status(const struct bytes *text)
{
	static const char name[] = "omig_status(";
	const uint8_t *p = text->p;
	size_t n = text->n;
	const uint8_t *first;

	while (n && (*p == ':' || *p == ' ')) {
		p++;
		n--;
	}
	if (n < sizeof(name) || memcmp(p, name, sizeof(name) - 1))
		return false;
	first = memchr(p, '(', n);
	return !memchr(first + 1, '(', n - (size_t)(first + 1 - p));
}

/* Checks the quota for a new csr; a change of an enabled one needs no room. */
static int room_for_arm(struct sm *sm, const struct msg_arm *m, struct err *e)
{
	struct site_csrs_stats a;
	int rc;

	site_csrs_stats(sm->csrs, &a);
	rc = site_csrs_has(sm->csrs, m->csr)
		     ? 0
		     : quota_check(&sm->quota, QUOTA_CSRS, (int64_t)a.armed + 1, &sm->use, e);
	return rc ? rc : sm_check_room(sm, m->text.n, e);
}

static void got_request(struct sm *sm, const struct msg_request *m)
{
	struct refusal r;
	struct err e = { 0 };

	if (!is_status(&m->text) && sm_check_room(sm, m->text.n, &e)) {
		parent_link_send(sm->parent,
				 refusal_of_request(&r, m, STATUS_UNSPECIFIED_ERROR, e.text));
		return;
	}
	note_tool(sm, m->tool);
	requests_ask(sm->requests, m);
}

static void got_arm(struct sm *sm, const struct msg_arm *m)
{
	struct refusal r;
	struct err e = { 0 };

	if (room_for_arm(sm, m, &e)) {
		parent_link_send(sm->parent,
				 refusal_of_arm(&r, m, STATUS_UNSPECIFIED_ERROR, e.text));
		return;
	}
	note_tool(sm, m->tool);
	site_csrs_arm(sm->csrs, m);
}

static void got_flow_load(struct sm *sm, const struct msg_flow_load *m)
{
	struct refusal r;
	struct err e = { 0 };
	size_t bytes = 0;

	for (size_t i = 0; i < m->npiece; i++)
		bytes += m->piece[i].graph.n;
	if (sm_check_room(sm, bytes, &e)) {
		parent_link_send(sm->parent,
				 refusal_of_load(&r, m, STATUS_UNSPECIFIED_ERROR, e.text));
		return;
	}
	note_tool(sm, m->tool);
	site_measures_load(sm->measures, m);
}

static void got_disarm(struct sm *sm, const struct msg_disarm *m)
{
	const struct msg all = { .type = MSG_DISARM, .disarm = *m };

	missed_csr(&sm->missed, m->csr);
	/* Sent even if not armed here: a host may have moved here with it. */
	if (!site_csrs_has(sm->csrs, m->csr))
		branches_send_all(nodes_branches(sm->nodes), &all);
	site_csrs_disarm(sm->csrs, m->csr);
}

static void got_release(struct sm *sm, const struct msg *m)
{
	uint32_t number;
	struct node *n = token_node(m->release.node, strlen(m->release.node), &number)
				 ? nodes_find(sm->nodes, number)
				 : NULL;

	if (n)
		branch_send(n->branch, m);
}

/* mainsm assigns the numbers: the host has sent a wrong one, or one from an earlier mainsm. */
static void got_disown(struct sm *sm, const struct msg *m)
{
	struct node *n = nodes_find(sm->nodes, m->disown.node);

	if (!n || !str_eq(n->host, m->disown.host))
		return;
	branch_send(n->branch, m);
	if (n->branch->is_sm)
		return; /* announces the end of the host */
	log_warn("sm", "forgotten host=%s: node number %u is not its own", n->host, n->number);
	node_forget(sm->nodes, n);
}

static void on_msg(void *arg, const struct msg *m)
{
	struct sm *sm = arg;

	switch (m->type) {
	case MSG_REQUEST:
		got_request(sm, &m->request);
		break;
	case MSG_CANCEL:
		requests_cancel(sm->requests, m->cancel.id);
		break;
	case MSG_ARM:
		got_arm(sm, &m->arm);
		break;
	case MSG_FLOW_LOAD:
		got_flow_load(sm, &m->flow_load);
		break;
	case MSG_FLOW_READ:
		site_measures_read(sm->measures, &m->flow_read);
		break;
	case MSG_FLOW_END:
		site_measures_end(sm->measures, m->flow_end.measurement);
		break;
	case MSG_DISARM:
		got_disarm(sm, &m->disarm);
		break;
	case MSG_RELEASE:
		got_release(sm, m);
		break;
	case MSG_DISOWN:
		got_disown(sm, m);
		break;
	case MSG_LET_GO:
		branches_send_all(nodes_branches(sm->nodes), m);
		break;
	case MSG_TOOL_GONE:
		sm_tool_gone(sm, m->tool_gone.tool);
		break;
	case MSG_REVOKED:
		got_revoked(sm, &m->revoked);
		break;
	case MSG_STOP:
		sm_stop_all(sm, m->stop.reason);
		break;
	case MSG_EVENTS_OPEN:
	case MSG_EVENTS_ACK:
	case MSG_EVENTS_END:
		site_subscriptions_msg(sm->subscriptions, m);
		break;
	case MSG_ENROL_ACK:
		got_enrol_ack(sm, &m->enrol_ack);
		break;
	default:
		break;
	}
}

/* --- coming and going */

static void set_old_tools(struct sm *sm)
{
	uint32_t tool;

	while (sessions_any(sm->sessions, &tool)) {
		sessions_gone(sm->sessions, tool);
		if (sessions_seen(sm->old_tools, tool))
			sm_tool_gone(sm, tool);
	}
}

/* Full bits stay as they are. */
static void count_move_of(struct node *n)
{
	uint64_t step = n->branch->is_sm ? 1 : PARENT_SM_MOVE,
		 all = n->branch->is_sm ? PARENT_SM_MOVE : PARENT_MOVE;

	if ((n->attach % all) / step + 1 < all / step)
		n->attach += step;
}

/*
 * Counts a move. With a parent below mainsm, our hosts move whenever we do: their move counters
 * grow.
 */
static void count_move(struct sm *sm)
{
	for (uint32_t i = 0; i < nodes_bound(sm->nodes); i++) {
		struct node *n = nodes_at(sm->nodes, i);

		if (n && parent_link_level(sm->parent) > 1)
			count_move_of(n);
	}
}

static void on_up(void *arg, bool is_other)
{
	struct sm *sm = arg;

	log_notice("sm", "mainsm is there%s site=s_%u", is_other ? ", restarted" : "",
		   parent_link_site_number(sm->parent));
	nodes_set_above(sm->nodes, parent_link_site_number(sm->parent),
			parent_link_level(sm->parent), parent_link_ways(sm->parent));
	count_move(sm);
	loop_timer_cancel(sm->leash);
	if (is_other || parent_link_has_lost_parent(sm->parent))
		sm_leash_over(sm);
	if (is_other)
		set_old_tools(sm);
	if (loop_timer_is_armed(sm->grace))
		loop_timer_arm(sm->grace, sm->conf.grace);
	announcer_restart(sm->announcer);
	if (sm->renew)
		renew_connected(sm->renew);
	if (sm->conf.on_ready)
		sm->conf.on_ready(sm->conf.arg);
}

static void on_down(void *arg, const struct err *why)
{
	struct sm *sm = arg;

	log_warn("sm", "mainsm is lost, dialling again; hosts stay: %s", why->text);
	requests_drop_all(sm->requests);
	site_csrs_set_stale(sm->csrs);
	site_measures_set_stale(sm->measures);
	site_subscriptions_link_down(sm->subscriptions);
	loop_timer_arm(sm->grace, sm->conf.grace);
	loop_timer_arm(sm->leash, STOP_LEASH_NS);
	announcer_restart(sm->announcer);
}

static void on_retry(void *arg, const struct err *why)
{
	struct sm *sm = arg;

	log_info("sm", "mainsm cannot be reached: %s", why->text);
	if (sm->conf.on_unreachable)
		sm->conf.on_unreachable(sm->conf.arg, why, parent_link_was_up(sm->parent));
}

const struct parent_link_handler sm_from_parent = { on_up, on_msg, on_down, on_retry, NULL };
