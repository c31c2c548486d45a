/* SPDX-License-Identifier: Apache-2.0 */
/* The services of measurements. */
#include "common/omis/text/token.h"
#include "mainsm/measure/measure.h"
#include "mainsm/service/service.h"

#include <stdlib.h>

#define WHY_MAX_BYTES (32 * 1024) /* twenty diagnostics with the lines that they are about */
#define INFO_MAX_BYTES SERVICE_VALUE_MAX_BYTES

static int report_why(struct service_call *c, const char *objects, int rc, struct buf *why)
{
	unsigned status = rc == -ERR_NOTFOUND ? STATUS_UNKNOWN_OBJECT : status_from_err(rc);

	if (rc == -ERR_NOMEM || !why->n)
		rc = reply_add(c->into, c->action, objects, status, err_name(rc));
	else
		rc = reply_add_n(c->into, c->action, objects, status, buf_bytes(why));
	buf_done(why);
	return rc;
}

static int create(struct service_call *c)
{
	const struct omis_value *p = c->call->param;
	const struct measure_request wanted = { &p[0], service_text(c, 1), service_text(c, 2),
						&p[3], &p[4] };
	struct buf why = BUF_INIT(WHY_MAX_BYTES);
	const char *token = NULL;
	int rc = measure_create(c->services->conf.measures, c->session, &wanted, &token, &why);

	if (rc)
		return report_why(c, NULL, rc, &why);
	buf_done(&why);
	return reply_add(c->into, c->action, token, STATUS_OK, token);
}

/* --- each of a list */

static int each(struct service_call *c, void (*fn)(struct measure *m))
{
	struct service_list list = service_list(c, 0);
	int rc = 0;

	for (size_t i = 0; !rc && i < list.n; i++) {
		struct measure *m = measure_find(c->session, list.v[i].s.p);

		if (m)
			fn(m);
		else
			rc = service_unknown(c, list.v[i].s.p);
	}
	return rc;
}

static int stop(struct service_call *c)
{
	return each(c, measure_stop);
}

static int delete (struct service_call *c)
{
	int got = each(c, measure_delete);

	tool_csrs_event_gone(c->services->conf.csrs, c->session);
	return got;
}

static int change(struct service_call *c, bool add)
{
	struct service_list list = service_list(c, 0);
	int got = 0;

	for (size_t i = 0; got >= 0 && i < list.n; i++) {
		struct measure *m = measure_find(c->session, list.v[i].s.p);
		struct buf why = BUF_INIT(WHY_MAX_BYTES);

		got = m ? measure_change(m, &c->call->param[1], add, &why) : 0;
		if (!m)
			got = service_unknown(c, list.v[i].s.p);
		else if (got)
			got = report_why(c, list.v[i].s.p, got, &why);
		buf_done(&why);
	}
	return got;
}

static int add(struct service_call *c)
{
	return change(c, true);
}

static int remove_objects(struct service_call *c)
{
	return change(c, false);
}

static int report_info(struct service_call *c, bool of_any_tool)
{
	struct service_list list = service_list(c, 0);
	int rc = 0;

	for (size_t i = 0; !rc && i < list.n; i++) {
		const char *token = list.v[i].s.p;
		const struct measure *m = of_any_tool
						  ? measures_find(c->services->conf.measures, token)
						  : measure_find(c->session, token);
		struct buf b = BUF_INIT(INFO_MAX_BYTES);
		struct omis_writer w = OMIS_WRITER(&b);

		if (m)
			measure_info(m, service_int(c, 1), &w);
		rc = m ? service_value(c, token, &b) : service_unknown(c, token);
	}
	return rc;
}

static int get_info(struct service_call *c)
{
	return report_info(c, false);
}

static int look(struct service_call *c)
{
	return report_info(c, true);
}

static int list_all(struct service_call *c)
{
	struct buf b = BUF_INIT(INFO_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);

	measures_list(c->services->conf.measures, &w);
	return service_value(c, NULL, &b);
}

/* --- requests that wait until branches have loaded, or reads are closed */

struct waiting {
	struct service_call c;
	size_t waits; /* number of measurements, and one more during the setup */
	size_t n;
	struct waiting_for {
		struct waiting *all;
		struct token token;
	} one[];
};

static void one_done(struct waiting *w)
{
	struct run *run = w->c.run;

	if (--w->waits)
		return;
	free(w);
	run_here_done(run);
}

static void abandon(void *arg)
{
	struct waiting *w = arg;

	for (size_t i = 0; i < w->n; i++)
		measures_forget_waiter(w->c.services->conf.measures, w->one[i].token.s, &w->one[i]);
	free(w);
}

static void on_loaded(void *arg)
{
	one_done(((struct waiting_for *)arg)->all);
}

static void on_read(void *arg, const char *values)
{
	struct waiting_for *one = arg;
	const struct service_call *c = &one->all->c;

	if (values)
		reply_add(run_reply(c->run), c->action, one->token.s, STATUS_OK, values);
	else
		reply_add(run_reply(c->run), c->action, one->token.s, STATUS_UNSPECIFIED_ERROR,
			  "the measurement has ended");
	one_done(one->all);
}

static int begin_start(struct measure *m, struct waiting_for *one)
{
	return measure_start(m, on_loaded, one);
}

static int begin_read(struct measure *m, struct waiting_for *one)
{
	return measure_read(m, on_read, one);
}

struct beginning {
	int (*fn)(struct measure *m, struct waiting_for *one);
	const char *refused; /* -ERR_INVALID */
};

static int begin_one(struct service_call *c, struct waiting *w, const char *token,
		     const struct beginning *b)
{
	struct measure *m = measure_find(c->session, token);
	struct waiting_for *one = &w->one[w->n];
	int rc;

	if (!m)
		return service_unknown(c, token);
	one->all = w;
	snprintf(one->token.s, sizeof(one->token.s), "%s", token);
	w->n++;
	w->waits++;
	rc = b->fn(m, one);
	if (!rc)
		return 0;
	w->waits--;
	return reply_add(c->into, c->action, token,
			 rc == -ERR_INVALID ? STATUS_UNSPECIFIED_ERROR : status_from_err(rc),
			 rc == -ERR_INVALID ? b->refused : err_name(rc));
}

static int begin(struct service_call *c, const struct beginning *b)
{
	struct service_list list = service_list(c, 0);
	struct waiting *w = calloc(1, sizeof(*w) + list.n * sizeof(w->one[0]));
	int rc = 0;

	if (!w)
		return -ERR_NOMEM;
	w->c = *c;
	w->waits = 1;
	for (size_t i = 0; !rc && i < list.n; i++)
		rc = begin_one(c, w, list.v[i].s.p, b);
	if (rc) {
		abandon(w);
		return rc;
	}
	if (--w->waits == 0) {
		free(w);
		return 0;
	}
	run_set_abandon(c->run, abandon, w);
	return 1;
}

static int start(struct service_call *c)
{
	return begin(c, &(struct beginning){ begin_start, "the measurement runs already" });
}

static int read_now(struct service_call *c)
{
	return begin(c, &(struct beginning){ begin_read, "the measurement does not run" });
}

/* Adds nothing: dfg_look reports the pieces of mainsm. */
static int look_below(struct service_call *c)
{
	return 0;
}

const struct service mainsm_measure_services[] = {
	{ "dfg_add", add },	      { "dfg_create", create },		{ "dfg_delete", delete },
	{ "dfg_get_info", get_info }, { "dfg_list", list_all },		{ "dfg_look", look },
	{ "dfg_read", read_now },     { "dfg_remove", remove_objects }, { "dfg_start", start },
	{ "dfg_stop", stop },	      { "omig_dfg_look", look_below },	{ 0 },
};
