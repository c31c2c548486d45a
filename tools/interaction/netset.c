/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/interaction/netset.h"

#include "common/json/json.h"

#include <math.h>

static void put_quantile(struct json *j, const char *key, const struct nettotal *t,
			 const struct nettotal_part *p, double q)
{
	json_key_double(j, key, round(nettotal_quantile(t, p, q)));
}

static void put_part(struct json *j, const struct nettotal *t, const struct nettotal_part *p)
{
	json_key_i64(j, "sum", p->sum);
	if (t->response.n)
		json_key_double(j, "mean", (double)p->sum / (double)t->response.n);
	put_quantile(j, "median", t, p, 0.5);
	put_quantile(j, "p95", t, p, 0.95);
	json_key_i64(j, "max", p->most);
	json_key_u64(j, "interactions", p->n);
}

static void put_parts(struct json *j, const char *key, const struct nettotal *t,
		      const struct nettotal_list *l)
{
	json_key_object(j, key);
	for (size_t i = 0; i < l->n; i++) {
		json_key_object(j, l->part[i]->name);
		if (t->response.sum > 0)
			json_key_double(j, "share",
					(double)l->part[i]->sum / (double)t->response.sum);
		put_part(j, t, l->part[i]);
		json_object_end(j);
	}
	json_object_end(j);
}

void netset_put_total(struct json *j, const struct nettotal *t)
{
	json_key_object(j, "RT");
	put_part(j, t, &t->response);
	json_object_end(j);
	if (t->slowest)
		json_key_str(j, "slowest", t->slowest);
	put_parts(j, "composite", t, &t->states);
	put_parts(j, "exclusive", t, &t->uses);
}

int netset_put(struct buf *out, const struct nettotal *t, const struct netread_report *report)
{
	struct buf set = BUF_INIT(out->max);
	struct json j;
	int rc;

	json_init(&j, &set);
	json_object(&j);
	json_key_u64(&j, "interactions", t->response.n);
	json_key_u64(&j, "discarded", t->discarded);
	json_key_u64(&j, "incomplete", report->incomplete);
	json_key_u64(&j, "wrong", report->wrong);
	json_key_u64(&j, "repeated_events", report->repeated);
	netset_put_total(&j, t);
	json_object_end(&j);
	rc = json_end(&j);
	buf_puts(out, "],\n\"set\":");
	buf_put(out, set.p, set.n);
	buf_puts(out, "}\n");
	buf_done(&set);
	return rc || out->failed ? -ERR_NOMEM : 0;
}

static void put_pair(struct json *j, const struct netclock_pair *p, const char *const *node)
{
	json_object(j);
	json_key_str(j, "a", node[p->a]);
	json_key_str(j, "b", node[p->b]);
	json_key(j, "ahead_at_least");
	if (p->least == INT64_MIN)
		json_null(j);
	else
		json_i64(j, p->least);
	json_key(j, "ahead_at_most");
	if (p->most == INT64_MAX)
		json_null(j);
	else
		json_i64(j, p->most);
	json_key_u64(j, "messages_to_b", p->to_b);
	json_key_u64(j, "messages_to_a", p->to_a);
	json_key_u64(j, "backward", p->backward);
	json_key_bool(j, "constant", netclock_agrees(p));
	json_object_end(j);
}

int netset_clocks(struct buf *out, const struct netclock *c, const char *const *node)
{
	struct json j;
	int rc;

	json_init(&j, out);
	json_object(&j);
	json_key_array(&j, "clocks");
	for (size_t i = 0; i < c->n; i++)
		put_pair(&j, &c->pair[i], node);
	json_array_end(&j);
	json_object_end(&j);
	rc = json_end(&j);
	buf_puts(out, "\n");
	return rc;
}
