/* SPDX-License-Identifier: Apache-2.0 */
/* What hosts say, and their coming and going. */
#include "common/base/log.h"
#include "sm/sm_internal.h"

/* A host that speaks of what is not its own is no host of ours until somebody has looked at it. */
static void forged(struct sm *sm, struct node *n, const struct err *why)
{
	sm->forged++;
	log_warn("sm", "cutting host=%s node=%s: %s", n->host, n->token, why->text);
	node_cut(sm->nodes, n, why->code == ERR_DENIED ? MSG_ERR_DENIED : MSG_ERR_PROTOCOL,
		 why->text);
}

static void got_directory(struct sm *sm, struct node *n, const struct msg_directory *m)
{
	struct err e = { 0 };
	bool left = false;
	int rc = objects_apply(n->objects, m, &left, &e);

	news_soon(sm->news);
	if (rc == -ERR_DENIED || rc == -ERR_PROTO) {
		forged(sm, n, &e);
	} else if (rc) {
		log_warn("sm", "cutting host=%s: %s", n->host, e.text);
		node_cut(sm->nodes, n, MSG_ERR_REFUSED, e.text);
	} else if (left) {
		log_info("sm", "host=%s node=%s leaves", n->host, n->token);
		node_forget(sm->nodes, n);
	}
}

static void got_enrol(struct sm *sm, struct node *n)
{
	struct msg m = { .type = MSG_ENROL_ACK };

	m.enrol_ack.error = "an sm gives no certificates: ask mainsm";
	node_send(sm->nodes, n, &m);
}

static void on_msg(void *arg, struct node *n, const struct msg *m)
{
	struct sm *sm = arg;
	struct err e = { 0 };
	int rc = 0;

	switch (m->type) {
	case MSG_DIRECTORY:
		got_directory(sm, n, &m->directory);
		return;
	case MSG_REPLY:
		rc = requests_reply(sm->requests, n, &m->reply, &e);
		break;
	case MSG_ARM_ACK:
		rc = arms_acked(sm->arms, n, &m->arm_ack, &e);
		break;
	case MSG_TRIGGERED:
		rc = arms_triggered(sm->arms, n, &m->triggered, &e);
		break;
	case MSG_ENROL:
		got_enrol(sm, n);
		return;
	default:
		return;
	}
	if (rc == -ERR_PROTO || rc == -ERR_DENIED)
		forged(sm, n, &e);
	else if (rc)
		log_debug("sm", "dropped message=%s host=%s: %s", msg_type_name(m->type), n->host,
			  e.text);
}

struct to_node {
	struct sm *sm;
	struct node *n;
};

static void send_to_node(void *arg, const struct msg *m)
{
	const struct to_node *t = arg;

	node_send(t->sm->nodes, t->n, m);
}

static void on_up(void *arg, struct node *n)
{
	struct sm *sm = arg;
	struct to_node to = { sm, n };

	log_info("sm", "up host=%s node=%s", n->host, n->token);
	loop_timer_cancel(sm->linger);
	bygone_tell(&sm->bygone, send_to_node, &to);
	arms_node_up(sm->arms, n);
}

void sm_arm_linger(struct sm *sm)
{
	if (sm->conf.linger > 0 && !nodes_up(sm->nodes))
		loop_timer_arm(sm->linger, sm->conf.linger);
	else
		loop_timer_cancel(sm->linger);
}

static void nobody_left(struct sm *sm)
{
	if (nodes_up(sm->nodes))
		return;
	if (sm->is_stopping)
		sm_end(sm, sm->reason);
	else
		sm_arm_linger(sm);
}

static void on_down(void *arg, struct node *n, const char *reason)
{
	struct sm *sm = arg;

	log_info("sm", "down host=%s node=%s: %s", n->host, n->token, reason);
	requests_node_lost(sm->requests, n, "the host is lost");
	arms_node_down(sm->arms, n);
	nobody_left(sm);
}

static void on_state(void *arg, struct node *n)
{
	struct sm *sm = arg;

	news_soon(sm->news);
}

static void on_forget(void *arg, struct node *n)
{
	struct sm *sm = arg;

	requests_node_lost(sm->requests, n, "the host is gone");
	arms_node_forgotten(sm->arms, n);
	news_gone(sm->news, n);
}

static void on_forgotten(void *arg)
{
	nobody_left(arg);
}

static void on_refused(void *arg, const char *who, const char *why)
{
	log_warn("sm", "not let in who=%s: %s", who, why);
}

const struct nodes_handler sm_below = { on_up,	   on_down,	 on_msg,     on_state,
					on_forget, on_forgotten, on_refused, NULL };
