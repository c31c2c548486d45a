/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts that run a piece: their confirmations, connections and losses. */
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/omis/text/status.h"
#include "sm/measure/measure_internal.h"
#include "tree/loading.h"
#include "tree/wire.h"

#include <stdlib.h>
#include <string.h>

/* --- one piece */

/* b NULL: the piece runs at no branch. */
static void set_branch(struct site_measure *m, struct host_piece *s, const struct branch *b)
{
	s->branch = b ? b->index : STAGE_NOWHERE;
	stage_place_sender(m->stage, s->token.s, s->is_refused ? STAGE_NOWHERE : s->branch);
}

static void note_sms(struct site_measure *m)
{
	const struct branches *bs = nodes_branches(m->f->conf.nodes);
	const struct standing_part *p;

	m->is_above_sms = false;
	for (size_t i = 0; !m->is_above_sms && (p = standing_at(m->standing, i)); i++)
		m->is_above_sms = branches_at(bs, p->branch) && branches_at(bs, p->branch)->is_sm;
}

void piece_free(struct site_measure *m, struct host_piece *s)
{
	stage_drop_sender(m->stage, s->token.s);
	m->f->stats.bytes -= s->ngraph;
	smap_del(&m->parts, s->token.s);
	free(s->graph);
	free(s);
}

/* Returns the current branch of the host; NULL: it is not connected. */
static struct branch *branch_of(const struct site_measure *m, const struct host_piece *s)
{
	struct node *n = nodes_find(m->f->conf.nodes, s->node);

	return n && n->branch->link ? n->branch : NULL;
}

/* --- sending */

static struct host_piece *piece_of(const struct site_measure *m, struct list *in_branch)
{
	return smap_find(&m->parts, list_entry(in_branch, struct node, in_branch)->token);
}

/* Sends all pieces for the hosts of a branch: an sm ends those that are not named. */
static int send_share(void *arg, const struct standing_part *p)
{
	struct site_measure *m = arg;
	const struct branch *b = branches_at(nodes_branches(m->f->conf.nodes), p->branch);
	struct loading x = { .branches = nodes_branches(m->f->conf.nodes),
			     .branch = p->branch,
			     .head = { .measurement = m->id,
				       .tool = m->tool,
				       .identity = m->identity,
				       .version = p->version,
				       .start_ns = m->reads.start,
				       .every_ns = m->reads.every,
				       .read = (uint64_t)m->reads.read } };
	const struct host_piece *s;
	int rc;

	list_each (i, &b->nodes)
		if ((s = piece_of(m, i)))
			loading_add(&x, s->token.s, s->graph, s->ngraph);
	rc = loading_end(&x);
	list_each (i, &b->nodes)
		if (!rc && piece_of(m, i))
			set_branch(m, piece_of(m, i), b);
	return rc;
}

static void end_share(void *arg, const struct standing_part *p)
{
	const struct site_measure *m = arg;
	const struct msg end = { .type = MSG_FLOW_END, .flow_end = { m->id } };

	branches_send(nodes_branches(m->f->conf.nodes), p->branch, &end);
}

/* Pieces without memory are sent when hosts move next. */
void site_measure_settle(struct site_measure *m)
{
	struct smap_iter i = { 0 };

	if (m->has_more)
		return;
	standing_begin(m->standing, false);
	while (smap_next(&m->parts, &i)) {
		struct host_piece *s = i.value;
		const struct branch *b = branch_of(m, s);

		if (!b)
			set_branch(m, s, NULL);
		else
			standing_add(m->standing, b->index, s->number);
	}
	standing_commit(m->standing);
	note_sms(m);
	site_measure_check_read(m);
}

/* --- confirmations */

void site_measure_complain(struct site_measure *m, const char *object, unsigned status,
			   const char *why)
{
	if (m->answer && m->answer->nentry < SITE_MEASURES_ENTRIES_MAX)
		reply_add_n(m->answer, 0, object, status, bytes_at(why, strlen(why)));
}

static void send_answer(struct site_measure *m)
{
	const struct site_measures_conf *conf = &m->f->conf;
	struct msg ack = { .type = MSG_FLOW_ACK,
			   .flow_ack = { .measurement = m->id, .version = m->version } };

	wire_send_ack(&(struct wire_sink){ conf->send, conf->arg }, &ack, m->answer,
		      SITE_MEASURES_ENTRIES_MAX);
	reply_free(m->answer);
	m->answer = NULL;
}

static bool is_waited_for(const struct site_measure *m, const struct host_piece *s)
{
	const struct standing_part *p = standing_find(m->standing, s->branch);

	return p && p->state == STANDING_WAITING;
}

static void on_settled(void *arg)
{
	struct site_measure *m = arg;
	struct smap_iter i = { 0 };

	if (!m->answer || m->has_more)
		return;
	while (smap_next(&m->parts, &i)) {
		const struct host_piece *s = i.value;

		if (is_waited_for(m, s))
			site_measure_complain(m, s->token.s, STATUS_UNSPECIFIED_ERROR,
					      "the host has not confirmed in time");
	}
	send_answer(m);
}

void site_measure_check_answer(struct site_measure *m)
{
	if (m->answer && !m->has_more)
		standing_check(m->standing, false);
}

struct standing *site_measure_standing_new(struct site_measure *m)
{
	return standing_new(&(struct standing_conf){ .loop = m->f->conf.loop,
						     .wait_max = SITE_MEASURES_ACK_MAX_NS,
						     .version = &m->f->version,
						     .send = send_share,
						     .end = end_share,
						     .settled = on_settled,
						     .arg = m });
}

/* The piece itself is refused: no values will arrive from there. */
static void note_refused(struct site_measure *m, const struct branch *b, const struct msg_entry *e)
{
	struct host_piece *s = smap_find(&m->parts, e->objects);

	if (!s || s->branch != b->index || !status_is_error(e->status))
		return;
	s->is_refused = true;
	set_branch(m, s, b);
}

/*
 * A refusal after the answer to the parent is sent separately: the host has returned and refuses.
 */
static void pass_on(struct site_measure *m, const struct msg_flow_ack *a)
{
	const struct msg ack = { .type = MSG_FLOW_ACK,
				 .flow_ack = { m->id, m->version, a->entry, a->nentry } };

	if (a->nentry)
		m->f->conf.send(m->f->conf.arg, &ack);
}

static bool owns_all(const struct branch *b, const struct msg_flow_ack *a)
{
	for (size_t i = 0; i < a->nentry; i++) {
		const char *objects = a->entry[i].objects;

		/*
		 * An entry that names an object of another host is reported as wrong under that
		 * name.
		 */
		if (token_class(objects, strlen(objects)) == 'n' &&
		    !branch_owns(b, objects, strlen(objects)))
			return false;
	}
	return true;
}

int site_measures_acked(struct site_measures *f, const struct branch *b,
			const struct msg_flow_ack *a, struct err *e)
{
	struct site_measure *m = map_find(&f->by_number, a->measurement);

	if (!m || !standing_has(m->standing, b->index, a->version)) {
		f->stats.strays++;
		return err_set(e, ERR_NOTFOUND, "a confirmation without a request");
	}
	if (!owns_all(b, a))
		return err_set(e, ERR_DENIED, "a confirmation about hosts that are not its own");
	standing_confirm(m->standing, b->index);
	for (size_t k = 0; k < a->nentry; k++) {
		note_refused(m, b, &a->entry[k]);
		if (m->answer && m->answer->nentry < SITE_MEASURES_ENTRIES_MAX)
			reply_add_n(m->answer, 0, a->entry[k].objects, a->entry[k].status,
				    a->entry[k].value);
	}
	if (!m->answer)
		pass_on(m, a);
	site_measure_check_answer(m);
	site_measure_check_read(m);
	return 0;
}

/* --- coming and going */

void site_measures_branch_down(struct site_measures *f, const struct branch *b)
{
	struct map_iter i = { 0 };

	while (map_next(&f->by_number, &i)) {
		struct site_measure *m = i.value;
		struct smap_iter k = { 0 };

		while (smap_next(&m->parts, &k)) {
			struct host_piece *s = k.value;

			if (s->branch != b->index)
				continue;
			set_branch(m, s, NULL);
		}
		standing_drop(m->standing, b->index);
		note_sms(m);
		site_measure_check_answer(m);
		site_measure_check_read(m);
	}
}
