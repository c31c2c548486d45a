/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of a set as text. */
#include "eventlog/lifeline/lifewords.h"
#include "tools/interaction/netshow.h"
#include "tools/interaction/netstage.h"
#include "tools/term/table.h"

#include <inttypes.h>
#include <math.h>

static const char *of_quantile(char out[LIFEWORDS_TIME_BYTES], const struct nettotal *t,
			       const struct nettotal_part *p, double q)
{
	return lifewords_time(out, (nsec_t)nettotal_quantile(t, p, q));
}

static void row(struct table *table, const struct nettotal *t, const struct nettotal_part *p)
{
	char text[LIFEWORDS_TIME_BYTES];

	table_cell(table, "%s", *p->name ? p->name : "no object");
	table_cell(table, "%s", lifewords_time(text, p->sum));
	if (t->response.sum > 0)
		table_cell(table, "%.1f %%", (double)p->sum * 100 / (double)t->response.sum);
	else
		table_cell(table, "-");
	table_cell(table, "%s", lifewords_time(text, p->sum / (int64_t)t->response.n));
	table_cell(table, "%s", of_quantile(text, t, p, 0.5));
	table_cell(table, "%s", of_quantile(text, t, p, 0.95));
	table_cell(table, "%s", lifewords_time(text, p->most));
	table_cell(table, "%" PRIu64, p->n);
}

static int put_parts(struct buf *out, const struct nettotal *t, const char *head,
		     const struct nettotal_list *l)
{
	const char *heads[] = { head, "SUM", "SHARE", "MEAN", "MEDIAN", "P95", "MOST", "N" };
	size_t shown = l->n < NETSHOW_ROWS ? l->n : NETSHOW_ROWS;
	struct table *table;

	if (!l->n)
		return 0;
	buf_puts(out, "\n");
	table = table_new(8, heads, "lrrrrrrr");
	for (size_t i = 0; table && i < shown; i++)
		row(table, t, l->part[i]);
	if (table_end(table, 0, out))
		return -ERR_NOMEM;
	if (l->n > shown)
		buf_printf(out, "... and %zu more\n", l->n - shown);
	return 0;
}

static void put_verdict(struct buf *out, const struct nettotal *t)
{
	const struct nettotal_part *all = &t->response;
	char sum[LIFEWORDS_TIME_BYTES], mean[LIFEWORDS_TIME_BYTES], p95[LIFEWORDS_TIME_BYTES],
		most[LIFEWORDS_TIME_BYTES], n[LIFEWORDS_TIME_BYTES + 8];

	buf_printf(out, "%s interactions took %s in all", lifewords_count(n, all->n),
		   lifewords_time(sum, all->sum));
	if (t->uses.n && all->sum > 0)
		buf_printf(out, ": %.1f %% of it with %s in use",
			   (double)t->uses.part[0]->sum * 100 / (double)all->sum,
			   *t->uses.part[0]->name ? t->uses.part[0]->name : "no object");
	buf_puts(out, ".\n");
	for (size_t i = 0; i < t->uses.n; i++) {
		if (!netstage_is_one(t->uses.part[i]->name))
			continue;
		netstage_put(out, t->uses.part[i]->name, t->uses.part[i]->sum, all->sum);
		break;
	}
	buf_printf(out, "Response time: mean %s, 95 %% within %s; the slowest took %s%s%s.\n",
		   lifewords_time(mean, all->sum / (int64_t)all->n), of_quantile(p95, t, all, 0.95),
		   lifewords_time(most, all->most), *t->slowest ? ": " : "", t->slowest);
}

int netshow_words(struct buf *out, const struct nettotal *t)
{
	if (t->response.n)
		put_verdict(out, t);
	return out->failed ? -ERR_NOMEM : 0;
}

int netshow_total(struct buf *out, const struct nettotal *t)
{
	int rc;

	if (!t->response.n) {
		buf_puts(out, "No interaction of the set.\n");
		return 0;
	}
	put_verdict(out, t);
	rc = put_parts(out, t, "STATE", &t->states);
	return rc ? rc : put_parts(out, t, "IN USE", &t->uses);
}
