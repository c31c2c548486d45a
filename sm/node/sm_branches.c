/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of branches: connections and messages. */
#include "common/base/log.h"
#include "sm/node/sm_internal.h"

/* A host that names objects of others is refused until an admin has checked it. */
static void forged(struct sm *sm, struct branch *b, const struct err *why)
{
	sm->forged++;
	log_warn("sm", "cutting %s host=%s: %s", b->is_sm ? "sm" : "lm", b->host, why->text);
	branch_cut(b, why->code == ERR_DENIED ? MSG_ERR_DENIED : MSG_ERR_PROTOCOL, why->text);
}

/* Refuses one host without disconnecting the other hosts of a lower sm. */
static void no_room(struct sm *sm, struct branch *b, uint32_t node, const struct err *why)
{
	log_warn("sm", "%s host=%s node=n_%u: %s", b->is_sm ? "not taken in, sm" : "cutting",
		 b->host, node, why->text);
	if (!b->is_sm)
		branch_cut(b, MSG_ERR_REFUSED, why->text);
}

/* Finds the node that b reports; NULL in *out: not for us, or not now. */
static int find_spoken_of(struct sm *sm, struct branch *b, const struct msg_directory *m,
			  struct node **out, struct err *e)
{
	if (b->is_sm)
		return nodes_claim(sm->nodes, b, m, out, e);
	*out = list_entry(list_first(&b->nodes), struct node, in_branch);
	return 0;
}

static void got_directory(struct sm *sm, struct branch *b, const struct msg_directory *m)
{
	struct err e = { 0 };
	struct node *n = NULL;
	bool left = false;
	int rc = find_spoken_of(sm, b, m, &n, &e);

	if (!rc && n)
		rc = objects_apply(n->objects, m, &left, &e);
	announcer_soon(sm->announcer);
	if (rc == -ERR_DENIED || rc == -ERR_PROTO) {
		forged(sm, b, &e);
	} else if (rc) {
		no_room(sm, b, m->node, &e);
	} else if (left) {
		log_info("sm", "host=%s node=%s leaves", n->host, n->token);
		node_forget(sm->nodes, n);
	}
}

static void got_enrol(struct sm *sm, struct branch *b)
{
	struct msg m = { .type = MSG_ENROL_ACK };

	m.enrol_ack.error = "an sm gives no certificates: ask mainsm";
	branch_send(b, &m);
}

static void on_msg(void *arg, struct branch *b, const struct msg *m)
{
	struct sm *sm = arg;
	struct err e = { 0 };
	int rc = 0;

	switch (m->type) {
	case MSG_DIRECTORY:
		got_directory(sm, b, &m->directory);
		return;
	case MSG_REPLY:
		rc = requests_reply(sm->requests, b, &m->reply, &e);
		break;
	case MSG_ARM_ACK:
		rc = site_csrs_acked(sm->csrs, b, &m->arm_ack, &e);
		break;
	case MSG_TRIGGERED:
		rc = site_csrs_triggered(sm->csrs, b, &m->triggered, &e);
		break;
	case MSG_LOSSES:
		rc = site_csrs_losses(sm->csrs, b, &m->losses, &e);
		break;
	case MSG_FLOW_ACK:
		rc = site_measures_acked(sm->measures, b, &m->flow_ack, &e);
		break;
	case MSG_FLOW_BATCH:
		rc = site_measures_batch(sm->measures, b, &m->flow_batch, &e);
		break;
	case MSG_EVENTS:
		rc = site_subscriptions_events(sm->subscriptions, b, &m->events, &e);
		break;
	case MSG_ENROL:
		got_enrol(sm, b);
		return;
	default:
		return;
	}
	if (rc == -ERR_PROTO || rc == -ERR_DENIED)
		forged(sm, b, &e);
	else if (rc)
		log_debug("sm", "dropped message=%s host=%s: %s", msg_type_name(m->type), b->host,
			  e.text);
}

struct to_branch {
	struct sm *sm;
	struct branch *b;
};

static void send_to_branch(void *arg, const struct msg *m)
{
	const struct to_branch *t = arg;

	branch_send(t->b, m);
}

static void on_up(void *arg, struct branch *b)
{
	struct sm *sm = arg;
	struct to_branch to = { sm, b };

	log_info("sm", "up %s host=%s", b->is_sm ? "sm" : "lm", b->host);
	loop_timer_cancel(sm->linger);
	missed_send(&sm->missed, send_to_branch, &to);
	sm_let_go_late(sm, b);
	site_subscriptions_branch_up(sm->subscriptions, b);
	site_csrs_branch_up(sm->csrs, b);
	site_measures_branch_up(sm->measures);
}

static void check_left(struct sm *sm)
{
	if (nodes_linked(sm->nodes))
		return;
	if (sm->is_stopping)
		sm_end(sm, sm->reason);
	else
		sm_arm_linger(sm);
}

static void on_down(void *arg, struct branch *b, const char *reason)
{
	struct sm *sm = arg;

	log_info("sm", "down %s host=%s: %s", b->is_sm ? "sm" : "lm", b->host, reason);
	requests_branch_lost(sm->requests, b,
			     b->is_sm ? "the sm of a part of the site is lost"
				      : "the host is lost");
	site_csrs_branch_down(sm->csrs, b);
	site_subscriptions_branch_down(sm->subscriptions, b);
	site_measures_branch_down(sm->measures, b);
	check_left(sm);
}

static void on_state(void *arg, struct node *n)
{
	struct sm *sm = arg;

	announcer_soon(sm->announcer);
}

/* The parent is notified too, and may have to do the same. */
static void on_moved(void *arg, struct node *n)
{
	struct sm *sm = arg;
	struct to_branch to = { sm, n->branch };

	log_info("sm", "host=%s node=%s is served by %s host=%s now", n->host, n->token,
		 n->branch->is_sm ? "sm" : "lm", n->branch->host);
	if (n->branch->is_sm)
		site_subscriptions_host_moved(sm->subscriptions, n->host);
	n->has_news = true;
	announcer_soon(sm->announcer);
	missed_send(&sm->missed, send_to_branch, &to);
	site_csrs_follow(sm->csrs);
	site_measures_follow(sm->measures);
}

static void on_forget(void *arg, struct node *n)
{
	struct sm *sm = arg;

	announcer_gone(sm->announcer, n);
}

static void on_gone(void *arg, struct branch *b)
{
	struct sm *sm = arg;

	requests_branch_lost(sm->requests, b, "the host is gone");
	site_csrs_branch_gone(sm->csrs, b);
	site_subscriptions_branch_gone(sm->subscriptions, b);
	site_measures_branch_down(sm->measures, b);
}

static void on_forgotten(void *arg)
{
	check_left(arg);
}

static void on_refused(void *arg, const char *peer, const char *why)
{
	log_warn("sm", "refused peer=%s: %s", peer, why);
}

const struct nodes_handler sm_from_branches = { .on_up = on_up,
						.on_down = on_down,
						.on_msg = on_msg,
						.on_state = on_state,
						.on_moved = on_moved,
						.on_forget = on_forget,
						.on_gone = on_gone,
						.on_forgotten = on_forgotten,
						.on_refused = on_refused };
