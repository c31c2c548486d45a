/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the request, and its batches. */
#include "lm/contract/contract.h"

#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/time/timebase.h"
#include "interaction/online/netspec.h"

#include <stdlib.h>
#include <string.h>

static struct contract *own(const struct csr *c)
{
	return c->own;
}

/*
 * Sends a ready batch. Without a process there is no buffer for it: the batch counts as lost at
 * the parent.
 */
static void on_batch(void *arg, struct bytes batch)
{
	struct csr *c = arg;
	const struct csrs_conf *conf = &c->owner->conf;

	if (own(c)->proc)
		csr_fire(c, &(struct happening){
				    .proc = own(c)->proc,
				    .time = timebase_at(conf->timebase, loop_now(conf->loop)),
				    .own_name = "block",
				    .own_bytes = batch.p,
				    .own_nbytes = batch.n,
				    .never_holds = true });
}

/* Copies pointers to the texts of a list. -ERR_NOMEM. */
static int take_list(const struct omis_value *v, struct netspec_list *out)
{
	out->text = calloc(v->list.n + 1, sizeof(*out->text));
	if (!out->text)
		return -ERR_NOMEM;
	for (; out->n < v->list.n; out->n++)
		out->text[out->n] = omis_value_text(&v->list.v[out->n], NULL);
	return 0;
}

static int declare(const struct omis_call *event, struct netuse **out, struct err *e)
{
	struct netspec s = { .inherit = { .n = 0 } };
	int rc = take_list(&event->param[1], &s.inherit);

	rc = rc ? rc : take_list(&event->param[2], &s.states);
	rc = rc ? rc : take_list(&event->param[3], &s.members);
	rc = rc ? err_nomem(e) : netspec_declare(&s, out, e);
	free(s.inherit.text);
	free(s.states.text);
	free(s.members.text);
	return rc;
}

static int begin(struct csr *c, struct netuse **take, bool is_plain, struct err *e)
{
	struct netonline_plan plan = { .is_lowest = true,
				       .is_plain = is_plain,
				       .most = CONTRACT_VERTICES_MAX,
				       .idle_ns = CONTRACT_IDLE_NS,
				       .age_ns = CONTRACT_AGE_NS,
				       .send = on_batch,
				       .arg = c };
	int rc = rng_fill_random(&plan.sender, sizeof(plan.sender), e);

	own(c)->use = *take;
	return rc ? rc : netonline_new(take, &plan, &own(c)->online, e);
}

static int read_event(struct csr *c, const struct omis_call *event, struct reply *r)
{
	struct netuse *use = NULL;
	struct err e = { 0 };
	int64_t is_plain = 0;
	int rc;

	c->own = calloc(1, sizeof(struct contract));
	if (!own(c))
		return -ERR_NOMEM;
	omis_value_i64(&event->param[4], &is_plain);
	rc = declare(event, &use, &e);
	rc = rc ? rc : begin(c, &use, is_plain != 0, &e);
	netuse_free(use);
	if (rc && rc != -ERR_NOMEM)
		reply_add_error(r, 0, "", STATUS_PARAMETER_ERROR, "%s", e.text);
	return rc;
}

static void free_event(struct csr *c)
{
	if (!own(c))
		return;
	netonline_free(own(c)->online);
	free(own(c));
}

/* A new version of the request replaces the old one without a moment in which events are off. */
static struct csr *before(const struct csr *c)
{
	list_each (i, &c->owner->all) {
		struct csr *other = list_entry(i, struct csr, link);

		if (other != c && str_eq(other->token, c->token))
			return other;
	}
	return NULL;
}

/* The remaining arcs are sent before the csr ends. */
static void leave(struct csr *c)
{
	struct err e;

	contract_note_losses(c);
	netonline_end(own(c)->online, &e);
}

static const struct event_kind kinds[] = { { .service = "thread_writes_arcs" }, { NULL } };

const struct event_source_ops contract_source = { .kind = kinds,
						  .read = read_event,
						  .free = free_event,
						  .before = before,
						  .leave = leave,
						  .site = &contract_site,
						  .has_blocks = true };
