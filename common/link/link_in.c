/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles frames of a peer. Checks first whether the peer may send them, then whether they are well
 * formed, and then acts on their contents.
 */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/link/link_internal.h"
#include "common/link/meter_internal.h"
#include "common/net/net.h"
#include "proto/frame.h"

#include <stdio.h>

#define S(state) (1u << LINK_##state)
#define P(peer) (1u << LINK_PEER_##peer)
#define ANYBODY (P(UNKNOWN) | P(PARENT) | P(SERVER) | P(BRANCH) | P(TOOL))

/* The permitted messages of each peer in each state. All others are refused before decoding. */
static const struct permit {
	unsigned states, peers;
} permits[MSG_TYPE_END] = {
	[MSG_HELLO] = { S(GREETING), P(UNKNOWN) },
	[MSG_HELLO_ACK] = { S(GREETING), P(PARENT) | P(SERVER) },
	[MSG_ENROL] = { S(UP), P(BRANCH) | P(TOOL) },
	[MSG_ENROL_ACK] = { S(UP), P(PARENT) | P(SERVER) },
	[MSG_PING] = { S(UP), ANYBODY },
	[MSG_PONG] = { S(UP), ANYBODY },
	[MSG_BYE] = { S(GREETING) | S(UP), ANYBODY },
	[MSG_ERROR] = { S(GREETING) | S(UP), ANYBODY },
	[MSG_REQUEST] = { S(UP), P(PARENT) | P(TOOL) },
	[MSG_REPLY] = { S(UP), P(BRANCH) | P(SERVER) },
	[MSG_CANCEL] = { S(UP), P(PARENT) | P(TOOL) },
	[MSG_DIRECTORY] = { S(UP), P(BRANCH) },
	[MSG_ARM] = { S(UP), P(PARENT) },
	[MSG_DISARM] = { S(UP), P(PARENT) },
	[MSG_TRIGGERED] = { S(UP), P(BRANCH) },
	[MSG_ARM_ACK] = { S(UP), P(BRANCH) },
	[MSG_TOOL_GONE] = { S(UP), P(PARENT) },
	[MSG_LET_GO] = { S(UP), P(PARENT) },
	[MSG_RELEASE] = { S(UP), P(PARENT) },
	[MSG_DISOWN] = { S(UP), P(PARENT) },
	[MSG_LOSSES] = { S(UP), P(BRANCH) },
	[MSG_REVOKED] = { S(UP), P(PARENT) },
	[MSG_STOP] = { S(UP), P(PARENT) },
	[MSG_FLOW_LOAD] = { S(UP), P(PARENT) },
	[MSG_FLOW_ACK] = { S(UP), P(BRANCH) },
	[MSG_FLOW_END] = { S(UP), P(PARENT) },
	[MSG_FLOW_READ] = { S(UP), P(PARENT) },
	[MSG_FLOW_BATCH] = { S(UP), P(BRANCH) },
	[MSG_EVENTS_OPEN] = { S(UP), P(PARENT) },
	[MSG_EVENTS] = { S(UP), P(BRANCH) | P(SERVER) },
	[MSG_EVENTS_ACK] = { S(UP), P(PARENT) | P(TOOL) },
	[MSG_EVENTS_END] = { S(UP), P(PARENT) },
};

static bool is_permitted(const struct link *l, uint8_t type)
{
	return type < MSG_TYPE_END && permits[type].states >> l->state & 1 &&
	       permits[type].peers >> l->peer & 1;
}

/* --- greeting */

/* True if the role in HELLO is the certificate's. */
static bool role_matches(const char *role, const struct identity *id, enum link_peer *peer)
{
	static const struct {
		const char *role;
		unsigned roles;
		enum link_peer peer;
	} known[] = {
		{ "lm", ROLE_BIT(ROLE_LM), LINK_PEER_BRANCH },
		{ "sm", ROLE_BIT(ROLE_SM), LINK_PEER_BRANCH },
		{ "factory", ROLE_BIT(ROLE_FACTORY), LINK_PEER_BRANCH },
		{ "receiver", ROLE_BIT(ROLE_RECEIVER), LINK_PEER_BRANCH },
		{ "tool", ROLES_TOOL, LINK_PEER_TOOL },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (!str_eq(role, known[i].role))
			continue;
		*peer = known[i].peer;
		return id && known[i].roles >> id->role & 1;
	}
	return false;
}

/* Returns the highest version that both support, or 0. */
static uint32_t common_version(const struct link *l, const struct msg_hello *h)
{
	uint32_t top = h->version_max < l->conf.version_max ? h->version_max : l->conf.version_max;

	return h->version_min <= h->version_max && top >= h->version_min &&
			       top >= l->conf.version_min
		       ? top
		       : 0;
}

static void refuse_version(struct link *l, const struct msg_hello *h)
{
	struct err e = { 0 };

	err_set(&e, ERR_UNSUPPORTED,
		"protocol %u..%u is spoken here (Omig " OMIG_VERSION
		"), you speak %u..%u: install one version on all hosts, and start its daemons again",
		l->conf.version_min, l->conf.version_max, h->version_min, h->version_max);
	link_refuse(l, MSG_ERR_VERSION, &e);
}

static void refuse_role(struct link *l, const struct msg_hello *h)
{
	struct err e = { 0 };

	err_set(&e, ERR_DENIED, "the certificate does not allow the role '%s'", h->role);
	link_refuse(l, MSG_ERR_DENIED, &e);
}

static enum msg_error_code code_of(const struct err *e)
{
	return e->code == ERR_AGAIN || e->code == ERR_LIMIT	 ? MSG_ERR_REFUSED
	       : e->code == ERR_NOMEM || e->code == ERR_INTERNAL ? MSG_ERR_INTERNAL
								 : MSG_ERR_DENIED;
}

/* Lets the owner decide. ack is sent before on_up can send anything. */
static void decide(struct link *l, const struct msg_hello *h, uint32_t version)
{
	struct msg m = { .type = MSG_HELLO_ACK };
	struct err why = { 0 };
	nsec_t now = loop_now(l->conf.loop);

	if (!l->conf.handler.on_hello ||
	    l->conf.handler.on_hello(l->conf.handler.arg, l, h, &m.hello_ack, &why)) {
		if (!why.code)
			err_set(&why, ERR_DENIED, "refused");
		if (!l->is_closed)
			link_refuse(l, code_of(&why), &why);
		return;
	}
	if (l->is_closed)
		return;
	m.hello_ack.version = version;
	m.hello_ack.epoch = l->conf.epoch;
	if (l->conf.timebase)
		m.hello_ack.system_time_ns = timebase_at(l->conf.timebase, now);
	if (link_send_now(l, &m)) {
		err_set(&why, ERR_CLOSED, "HELLO_ACK could not be sent");
		link_lose(l, &why);
		return;
	}
	link_apply(l, LINK_EV_WELCOME);
}

static void got_hello(struct link *l, const struct msg_hello *h)
{
	uint32_t version = common_version(l, h);
	enum link_peer peer = LINK_PEER_UNKNOWN;

	if (!version) {
		refuse_version(l, h);
		return;
	}
	if (!role_matches(h->role, chan_peer(l->chan), &peer)) {
		refuse_role(l, h);
		return;
	}
	l->peer = peer;
	decide(l, h, version);
}

static void got_hello_ack(struct link *l, const struct msg_hello_ack *ack)
{
	struct err e = { 0 };

	if (ack->version < l->conf.version_min || ack->version > l->conf.version_max) {
		err_set(&e, ERR_PROTO, "HELLO_ACK chooses protocol %u that was not offered",
			ack->version);
		link_refuse(l, MSG_ERR_VERSION, &e);
		return;
	}
	l->ack = ack;
	link_apply(l, LINK_EV_WELCOME);
	l->ack = NULL;
}

/* --- other messages */

static enum err_code err_code_of(uint32_t code)
{
	switch (code) {
	case MSG_ERR_VERSION:
		return ERR_UNSUPPORTED;
	case MSG_ERR_DENIED:
	case MSG_ERR_REVOKED:
		return ERR_DENIED;
	case MSG_ERR_REFUSED:
		return ERR_AGAIN;
	case MSG_ERR_PROTOCOL:
	case MSG_ERR_STATE:
		return ERR_PROTO;
	default:
		return ERR_CLOSED;
	}
}

static void got_error(struct link *l, const struct msg_error *m)
{
	struct err e = { 0 };

	err_set(&e, err_code_of(m->code), "refused by the peer: %s", m->text);
	/* a wrong version or certificate will not change within a second */
	l->is_slow = e.code == ERR_UNSUPPORTED || e.code == ERR_DENIED;
	link_lose(l, &e);
}

static void got_bye(struct link *l, const struct msg_bye *m)
{
	struct err e = { 0 };

	err_set(&e, ERR_CLOSED, "the peer has left: %s", m->reason);
	link_lose(l, &e);
}

static void dispatch(struct link *l, const struct msg *m)
{
	switch (m->type) {
	case MSG_HELLO:
		got_hello(l, &m->hello);
		break;
	case MSG_HELLO_ACK:
		got_hello_ack(l, &m->hello_ack);
		break;
	case MSG_PING:
		if (m->ping.seq)
			link_got_ping(l, &m->ping);
		break;
	case MSG_PONG:
		link_got_pong(l, &m->pong);
		break;
	case MSG_BYE:
		got_bye(l, &m->bye);
		break;
	case MSG_ERROR:
		got_error(l, &m->error);
		break;
	default:
		if (!l->is_closed && l->conf.handler.on_msg)
			l->conf.handler.on_msg(l->conf.handler.arg, l, m);
	}
}

/*
 * Ends the link of a peer that has broken a rule, perhaps to crash us. Its address must wait before
 * the next connection.
 */
void link_violated(struct link *l, enum msg_error_code code, const struct err *why)
{
	l->stats.refused++;
	if (code == MSG_ERR_PROTOCOL && l->conf.listener && !l->dialer.dial)
		net_listener_penalise(l->conf.listener, l->chan);
	link_refuse(l, code, why);
}

void link_on_frame(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n)
{
	struct link *l = arg;
	struct msg *m = NULL;
	struct err e = { 0 };
	int rc;

	if (l->is_failing || l->is_closed)
		return;
	l->stats.frames_in++;
	l->stats.bytes_in += n + FRAME_HEADER_BYTES;
	if (l->conf.meter)
		meter_count(l->conf.meter, n);
	if (!is_permitted(l, type)) {
		err_set(&e, ERR_PROTO, "message %s (%u) is not allowed in state %s",
			msg_type_name(type), type, link_state_name(l->state));
		link_violated(l, MSG_ERR_STATE, &e);
		return;
	}
	if (type == MSG_PING && !n)
		return; /* a heartbeat has no content */
	rc = msg_get(type, p, n, &m, &e);
	if (rc == -ERR_PROTO || rc == -ERR_LIMIT)
		link_violated(l, MSG_ERR_PROTOCOL, &e);
	else if (rc)
		link_refuse(l, MSG_ERR_INTERNAL, &e);
	else
		dispatch(l, m);
	msg_free(m);
}
