/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters, integrators and trace buffers: their tokens are minted here, their cells and parts are
 * made by the lms.
 */
#include "common/base/buf.h"
#include "common/omis/services/check.h"
#include "common/omis/text/token.h"
#include "mainsm/directory/numbers.h"
#include "mainsm/service/service.h"

#include <stdlib.h>

/* While the lms make the cells. */
struct making {
	struct service_call c; /* .run NULL: no request waits for it */
	struct token token;
	struct list runs; /* the one that asks them */
};

/*
 * The object exists if some process has it, or if there are no processes: refusals have an entry
 * each.
 */
static void add_result(struct making *m, const struct reply *r)
{
	struct reply *into = m->c.into;
	size_t nerror = r ? 0 : 1;

	for (size_t i = 0; r && i < r->nentry; i++)
		if (status_is_error(r->entry[i].status)) {
			reply_add_n(into, m->c.action, r->entry[i].objects, r->entry[i].status,
				    bytes_at(r->entry[i].value, r->entry[i].nvalue));
			nerror++;
		}
	service_pass_missing(&m->c, r);
	if (!nerror || (r && nerror < r->nentry))
		reply_add(into, m->c.action, m->token.s, STATUS_OK, m->token.s);
	else
		pa_set_del(m->c.session->pas, m->token.s);
}

static void on_made(void *arg, struct reply *r)
{
	struct making *m = arg;
	struct run *run = m->c.run;

	if (run)
		add_result(m, r);
	reply_free(r);
	free(m);
	if (run)
		run_here_done(run);
}

static void abandon(void *arg)
{
	struct making *m = arg;

	m->c.run = NULL;
	executor_cancel(m->c.services->conf.executor, &m->runs);
}

/* ":omig_pa_create([p_1_x,...],pa_c_1)", checked. */
static int make_request(const struct service_call *c, const char *token, struct omis_request **out)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	int rc;

	buf_puts(&b, ":omig_pa_create(");
	omis_write_value(&w, &c->call->param[0]);
	omis_write_token(&w, token);
	buf_putc(&b, ')');
	rc = b.failed ? -ERR_LIMIT : omis_read_inner(buf_str(&b), b.n, out, NULL);
	buf_done(&b);
	return rc;
}

static int ask_lms(struct service_call *c, struct making *m)
{
	const struct service_inquiry how = { &m->runs, on_made, abandon, m };
	struct omis_request *request = NULL;
	int rc = make_request(c, m->token.s, &request);

	if (!rc)
		rc = service_ask_branches(c, &request, &how);
	omis_request_free(request);
	return rc;
}

/* Returns true if processes were named and none exists: entries report that. */
static bool names_none(const struct service_call *c)
{
	bool is_reported = false;

	for (size_t i = 0; i < c->into->nentry; i++)
		is_reported |= c->into->entry[i].action == c->action &&
			       status_is_error(c->into->entry[i].status);
	return is_reported && service_list(c, 0).n == 0;
}

static int create(struct service_call *c, enum token_kind kind)
{
	struct making *m;
	int rc;

	if (names_none(c))
		return 0;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ERR_NOMEM;
	m->c = *c;
	list_init(&m->runs);
	token_print_number(&m->token, kind, numbers_mint(c->services->conf.numbers, NUMBER_PA));
	rc = pa_set_add(c->session->pas, m->token.s, &c->call->param[0]);
	if (!rc) {
		rc = ask_lms(c, m);
		if (!rc)
			return 1;
		pa_set_del(c->session->pas, m->token.s);
	}
	free(m);
	return rc;
}

static int counter_local(struct service_call *c)
{
	return create(c, TOKEN_COUNTER_LOCAL);
}

static int counter_global(struct service_call *c)
{
	return create(c, TOKEN_COUNTER_GLOBAL);
}

static int integrator_local(struct service_call *c)
{
	return create(c, TOKEN_INTEGRATOR_LOCAL);
}

static int integrator_global(struct service_call *c)
{
	return create(c, TOKEN_INTEGRATOR_GLOBAL);
}

static int trace_buffer(struct service_call *c)
{
	return create(c, TOKEN_TRACE_BUFFER);
}

/* The lms get the same call: it was planned before the objects are removed here. */
static int delete (struct service_call *c)
{
	struct service_list list = service_list(c, 0);

	for (size_t i = 0; i < list.n; i++)
		pa_set_del(c->session->pas, list.v[i].s.p);
	return 0;
}

const struct service mainsm_pa_services[] = {
	{ "pa_counter_local_create", counter_local },
	{ "pa_counter_global_create", counter_global },
	{ "pa_counter_delete", delete },
	{ "pa_integrator_local_create", integrator_local },
	{ "pa_integrator_global_create", integrator_global },
	{ "pa_integrator_delete", delete },
	{ "trace_buffer_create", trace_buffer },
	{ "trace_buffer_delete", delete },
	{ 0 },
};
