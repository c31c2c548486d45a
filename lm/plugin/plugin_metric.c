/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/plugin/plugin_metric.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/text/value.h"
#include "lm/helper/helper.h"
#include "lm/plugin/plugins.h"

#include <math.h>
#include <stdlib.h>

struct plugin_value {
	struct plugins *all;
	struct plugin_value_ask q; /* the name is owned */
	char metric[PLUGIN_NAME_MAX + 1];
	struct helper_ask *ask; /* NULL: answered */
	struct buf text;
};

/* The process of a plug-in is not trusted: it may answer anything. */
static int read_number(const struct buf *text, double *out, struct err *e)
{
	struct omis_values *v = NULL;
	int rc = omis_parse_values((const char *)text->p, text->n, &v, e);

	if (!rc && (v->n != 1 || !omis_value_double(&v->v[0], out) || !isfinite(*out)))
		rc = err_set(e, ERR_INVALID, "the plug-in did not return one finite number");
	omis_values_free(v);
	return rc;
}

static void finish(struct plugin_value *v, int rc, double value, const struct err *e)
{
	const struct added_service *a;
	struct plugin *p = plugins_find(v->all, v->metric, &a);

	v->ask = NULL;
	if (p && rc)
		plugin_failed(p, e);
	else if (p)
		plugin_succeeded(p);
	v->q.fn(v->q.arg, rc, value, e);
}

static void on_answer(void *arg, const struct tracer_msg *m)
{
	struct plugin_value *v = arg;
	struct err e = { 0 };
	double value = 0;
	int rc;

	if (m->type == TRACER_BYTES) {
		buf_put(&v->text, m->bytes, m->nbytes);
		if (m->what)
			return;
		rc = v->text.failed ? err_set(&e, ERR_LIMIT, "the plug-in returned too much")
				    : read_number(&v->text, &value, &e);
	} else {
		rc = err_set(&e, m->type == TRACER_FAILED ? (enum err_code)m->what : ERR_PROTO,
			     "%s", m->ntext ? m->text[0] : "it answers something else");
	}
	finish(v, rc, value, &e);
}

static int send(struct plugin_value *v, struct plugin *p, struct err *e)
{
	struct tracer_msg *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return err_nomem(e);
	m->type = TRACER_PLUGIN_CALL;
	m->pid = v->q.pid;
	m->start = v->q.start;
	m->text[m->ntext++] = v->metric;
	rc = helper_ask(p->helper, m, &(struct helper_reply){ on_answer, v }, &v->ask, e);
	free(m);
	return rc;
}

int plugin_value_ask(struct plugins *all, const struct plugin_value_ask *q,
		     struct plugin_value **out, struct err *e)
{
	const struct added_service *a = NULL;
	struct plugin *p = plugins_find(all, q->metric, &a);
	struct plugin_value *v;
	int rc;

	if (!p || !added_service_is_metric(a) || a->spec.of_processes != (q->pid != 0))
		return err_set(e, ERR_UNSUPPORTED, "no plug-in of this node has the metric %.60s",
			       q->metric);
	if (!plugin_may_call(p, e))
		return -ERR_AGAIN;
	v = calloc(1, sizeof(*v));
	if (!v)
		return err_nomem(e);
	v->all = all;
	v->q = *q;
	str_copy(v->metric, sizeof(v->metric), q->metric);
	v->q.metric = v->metric;
	buf_init(&v->text, PLUGIN_REPLY_MAX_BYTES);
	rc = send(v, p, e);
	if (rc)
		plugin_value_free(v);
	else
		*out = v;
	return rc;
}

void plugin_value_free(struct plugin_value *v)
{
	if (!v)
		return;
	helper_ask_forget(v->ask);
	buf_done(&v->text);
	free(v);
}
