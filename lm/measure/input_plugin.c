/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of plug-ins. The process of a plug-in is asked MEASUREMENTS_LEAD_NS before a read,
 * because its answer takes time. The read uses the answer, and has its time. Without an answer
 * since the read before, there is no value.
 */
#include "common/base/str.h"
#include "lm/measure/input_internal.h"
#include "lm/plugin/plugin_metric.h"

#include <stdlib.h>

struct plugged {
	struct plugin_value *ask; /* owned; NULL: no answer is awaited */
	struct loop *loop; /* borrowed */
	nsec_t (*now)(void *arg); /* system time */
	void *arg;
	bool has_value, is_new; /* is_new: no read has used it */
	double value;
	nsec_t asked_at, asked, answered; /* system time: of the last request, and of the value */
	struct err why; /* why there is no value; code 0: none was requested yet */
};

int plugged_open(struct input *in, struct err *e)
{
	if (in->source->regions.n != 1 || !pmsl_builtin_is_plugged(in->source->regions.v[0]))
		return err_set(e, ERR_INVALID, "%s is of one metric of a plug-in", in->metric.name);
	in->plugged = calloc(1, sizeof(*in->plugged));
	return in->plugged ? 0 : err_nomem(e);
}

void plugged_done(struct input *in)
{
	if (in->plugged)
		plugin_value_free(in->plugged->ask);
	free(in->plugged);
	in->plugged = NULL;
}

static void on_value(void *arg, int rc, double value, const struct err *e)
{
	struct plugged *g = arg;

	plugin_value_free(g->ask);
	g->ask = NULL;
	g->has_value = !rc;
	if (rc) {
		g->why = *e;
		return;
	}
	g->is_new = true;
	g->value = value;
	g->asked = g->asked_at;
	g->answered = g->now(g->arg);
	g->why.code = 0;
}

void plugged_ask(struct input *in, const struct plugged_from *from)
{
	struct plugged *g = in->plugged;
	const struct proc *p = in->proc;
	bool is_of_node = in->from == INPUT_NODE;
	struct err e = { 0 };

	if (!g || g->ask || in->is_closed || (!is_of_node && (!p || !p->held)))
		return;
	g->now = from->now;
	g->arg = from->arg;
	g->asked_at = from->now(from->arg);
	if (plugin_value_ask(from->plugins,
			     &(struct plugin_value_ask){ .metric = in->source->regions.v[0],
							 .pid = is_of_node ? 0 : p->pid,
							 .start = is_of_node ? 0 : p->start,
							 .fn = on_value,
							 .arg = g },
			     &g->ask, &e)) {
		g->has_value = false;
		g->why = e;
	}
}

bool plugged_is_new(const struct input *in)
{
	return in->plugged && in->plugged->has_value && in->plugged->is_new;
}

const char *plugged_fault(const struct input *in)
{
	return in->plugged->why.code ? in->plugged->why.text : NULL;
}

bool plugged_sample(struct input *in, struct measurement_value *v)
{
	struct plugged *g = in->plugged;

	v->value = g->value;
	return g->has_value && g->is_new;
}

void plugged_used(struct input *in, struct flow_token *t)
{
	struct plugged *g = in->plugged;

	if (flow_token_has_value(t)) {
		t->oldest = g->asked;
		t->newest = g->answered;
	}
	g->is_new = false;
}
