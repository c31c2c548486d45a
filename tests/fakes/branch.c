/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fakes/branch.h"

#include "common/base/hash.h"
#include "common/base/str.h"
#include "common/omis/omis.h"
#include "tree/wire.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* --- answers */

static void add_objects(const struct fake_branch *b, struct reply *to, uint32_t action,
			const struct omis_value *list, struct buf *out)
{
	for (size_t k = 0; list && k < list->list.n; k++) {
		const char *object = list->list.v[k].s.p;

		if (b->ended && str_eq(object, b->ended))
			reply_add(to, action, object, STATUS_UNKNOWN_OBJECT,
				  "the process has ended");
		else
			buf_printf(out, "%s%s", out->n ? "," : "", object);
	}
	to->coverage.asked += list ? (uint32_t)list->list.n : 0;
}

static void add_answer(const struct fake_branch *b, struct reply *to, uint32_t action,
		       const struct omis_call *call)
{
	int at = call->service->object_param;
	const struct omis_value *list =
		at >= 0 && call->param[at].kind == OMIS_LIST ? &call->param[at] : NULL;
	struct buf objects = BUF_INIT(FRAME_MAX_BYTES);
	bool takes = str_eq(call->name, "omig_proc_take");

	add_objects(b, to, action, list, &objects);
	if (!objects.n && (takes || b->ended))
		; /* all of them have ended */
	else if (takes)
		reply_add(to, action, buf_str(&objects),
			  b->take ? STATUS_OK : STATUS_UNKNOWN_OBJECT,
			  b->take ? b->take : "words of the host");
	else if (b->denies_cells && call->service->object == 'a')
		reply_add(to, action, buf_str(&objects), STATUS_UNKNOWN_OBJECT, "no such counter");
	else
		reply_add(to, action, buf_str(&objects), STATUS_OK, b->value ? b->value : "1");
	buf_done(&objects);
}

static void add_padding(const struct fake_branch *b, struct reply *to, uint32_t action)
{
	static char large[20000];
	char token[TOKEN_BYTES];

	memset(large, 'x', sizeof(large) - 1);
	large[0] = '"';
	large[sizeof(large) - 2] = '"';
	for (size_t i = 0; i < b->pad; i++) {
		snprintf(token, sizeof(token), "p_%u_%06zu", b->node, i);
		large[1] = (char)('a' + i % 26);
		large[2] = (char)('a' + i / 26 % 26);
		large[3] = (char)('a' + b->node);
		ck_assert_int_eq(reply_add(to, action, token, STATUS_OK, large), 0);
	}
	to->coverage.asked += (uint32_t)b->pad;
}

static void answer(struct fake_branch *b, const struct msg_request *q)
{
	struct omis_request *r = NULL;
	struct reply *reply = reply_new();
	struct buf out = BUF_INIT(8 * FRAME_MAX_BYTES);

	ck_assert_int_eq(omis_parse_inner((const char *)q->text.p, q->text.n, &r, NULL), 0);
	ck_assert_int_eq(omis_check(r, NULL), 0);
	ck_assert_uint_eq(r->naction, q->naction);
	reply->id = q->id;
	for (size_t i = 0; i < r->naction; i++)
		add_answer(b, reply, q->action[i], &r->action[i]);
	add_padding(b, reply, q->action[0]);
	reply->coverage.answered = reply->coverage.asked;
	if (b->wall)
		reply_add_time(reply, b->wall, b->wall);
	ck_assert_int_eq(wire_put_reply(&out, reply), 0);
	ck_assert_int_eq(link_send_frames(b->link, out.p, out.n), 0);
	buf_done(&out);
	reply_free(reply);
	omis_request_free(r);
}

/* --- messages */

static void copy_text(char out[BRANCH_TEXT], const struct bytes *text)
{
	snprintf(out, BRANCH_TEXT, "%.*s", (int)text->n, (const char *)text->p);
}

static void on_request(struct fake_branch *b, const struct msg_request *m)
{
	b->requests++;
	b->last_id = m->id;
	b->op_epoch = m->op_epoch;
	b->op = m->op;
	b->tool = m->tool;
	b->right = m->right;
	b->depth = m->depth;
	b->deadline = m->deadline_ns;
	str_copy(b->identity, sizeof(b->identity), m->identity);
	str_copy(b->of_csr, sizeof(b->of_csr), m->csr);
	copy_text(b->text, &m->text);
	if (!b->is_mute)
		answer(b, m);
}

static void acknowledge(struct fake_branch *b, const struct msg_arm *m)
{
	static const char ended[] = "the process has ended";
	const char *value = b->refused ? b->refusal : ended;
	const struct msg_entry entry = { .objects = b->refused ? b->refused : b->ended,
					 .status = b->refused ? STATUS_PARAMETER_ERROR
							      : STATUS_UNKNOWN_OBJECT,
					 .value = { (const uint8_t *)value, strlen(value) } };

	fake_branch_send(b, &(struct msg){ .type = MSG_ARM_ACK,
					   .arm_ack = { .csr = m->csr,
							.version = m->version,
							.entry = &entry,
							.nentry = entry.objects ? 1 : 0 } });
}

static void on_arm(struct fake_branch *b, const struct msg_arm *m)
{
	b->arms++;
	b->tool = m->tool;
	b->version = m->version;
	b->prefix = m->local_prefix;
	b->wants_reply = m->reply;
	str_copy(b->csr, sizeof(b->csr), m->csr);
	copy_text(b->armed, &m->text);
	if (!b->no_ack)
		acknowledge(b, m);
}

static void on_disarm(struct fake_branch *b, const struct msg_disarm *m)
{
	b->disarms++;
	str_copy(b->disarmed, sizeof(b->disarmed), m->csr);
	if (!b->no_part)
		fake_branch_send(b, &(struct msg){ .type = MSG_LOSSES,
						   .losses = { m->csr, b->lost, true } });
}

static void on_other(struct fake_branch *b, const struct msg *m)
{
	if (b->on_other)
		b->on_other(b, m);
}

void fake_branch_on_msg(struct fake_branch *b, const struct msg *m)
{
	switch (m->type) {
	case MSG_REQUEST:
		on_request(b, &m->request);
		break;
	case MSG_CANCEL:
		b->cancels++;
		break;
	case MSG_ARM:
		on_arm(b, &m->arm);
		break;
	case MSG_DISARM:
		on_disarm(b, &m->disarm);
		break;
	case MSG_RELEASE:
		b->releases++;
		b->released = m->release.seq;
		break;
	case MSG_TOOL_GONE:
		b->gones++;
		b->gone_tool = m->tool_gone.tool;
		break;
	case MSG_LET_GO:
		b->let_gos++;
		break;
	case MSG_REVOKED:
		b->revoked += (unsigned)m->revoked.nserial;
		break;
	case MSG_STOP:
		b->stops++;
		on_other(b, m);
		break;
	default:
		on_other(b, m);
	}
}

void fake_branch_on_up(struct fake_branch *b, const struct msg_hello_ack *ack)
{
	b->is_up = true;
	b->ups++;
	b->node = ack->node;
	str_copy(b->redirect, sizeof(b->redirect), ack->redirect);
	if (b->on_up)
		b->on_up(b, ack);
}

void fake_branch_on_down(struct fake_branch *b, const struct err *why)
{
	b->is_up = false;
	b->downs++;
	str_copy(b->why, sizeof(b->why), why->text);
}

void fake_branch_on_retry(struct fake_branch *b, const struct err *why)
{
	b->retries++;
	str_copy(b->why, sizeof(b->why), why->text);
}

/* --- the link */

static void link_on_msg(void *arg, struct link *l, const struct msg *m)
{
	fake_branch_on_msg(arg, m);
}

static void link_on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	fake_branch_on_up(arg, ack);
}

static void link_on_down(void *arg, struct link *l, const struct err *why)
{
	fake_branch_on_down(arg, why);
}

static void link_on_retry(void *arg, struct link *l, const struct err *why, nsec_t in)
{
	fake_branch_on_retry(arg, why);
}

static int dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		struct err *e)
{
	const struct fake_branch *b = arg;
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) | ROLE_BIT(ROLE_SM) };

	return net_dial(b->ctx,
			&(struct net_target){ .host = b->to, .port = *b->port, .expect = &x }, h,
			out, e);
}

void fake_branch_init(struct fake_branch *b, struct loop *loop, struct mem_net *net,
		      const struct identity *id)
{
	*b = (struct fake_branch){ .loop = loop, .net = net, .id = *id };
	rng_init(&b->rng, hash_sip13(&(struct hash_key){ 0 }, id->host, strlen(id->host)));
	str_copy(b->host, sizeof(b->host), id->host);
}

void fake_branch_open(struct fake_branch *b)
{
	if (!b->ctx)
		ck_assert_int_eq(mem_ctx_open(b->net, &b->id, &b->ctx, NULL), 0);
}

void fake_branch_dial(struct fake_branch *b, const struct msg_hello *hello)
{
	const struct link_conf conf = { .loop = b->loop,
					.rng = &b->rng,
					.handler = { .on_up = link_on_up,
						     .on_msg = link_on_msg,
						     .on_down = link_on_down,
						     .on_retry = link_on_retry,
						     .arg = b } };

	fake_branch_open(b);
	b->is_up = false;
	b->link = link_dial(&conf, &(struct link_dialer){ dial, b }, hello);
	ck_assert_ptr_nonnull(b->link);
}

void fake_branch_close(struct fake_branch *b)
{
	link_close(b->link, "the branch ends");
	b->link = NULL;
	b->is_up = false;
}

void fake_branch_done(struct fake_branch *b)
{
	net_ctx_free(b->ctx);
	b->ctx = NULL;
}

/* --- what it sends */

void fake_branch_send(struct fake_branch *b, const struct msg *m)
{
	ck_assert_int_eq(link_send(b->link, m), 0);
}

void fake_branch_reply(struct fake_branch *b, uint64_t id, uint32_t action, const char *objects,
		       const char *value)
{
	const struct msg_entry entry = { .action = action,
					 .objects = objects,
					 .value = { (const uint8_t *)value, strlen(value) } };

	fake_branch_send(b, &(struct msg){ .type = MSG_REPLY,
					   .reply = { .id = id, .entry = &entry, .nentry = 1 } });
}

void fake_branch_report(struct fake_branch *b, uint32_t node, bool full, const struct msg_object *o,
			size_t n)
{
	fake_branch_send(b, &(struct msg){ .type = MSG_DIRECTORY,
					   .directory = { full, node, o, n, false } });
}
