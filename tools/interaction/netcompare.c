/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/interaction/netcompare.h"

#include "common/json/json.h"
#include "eventlog/lifeline/lifewords.h"
#include "interaction/set/nettotal.h"
#include "stats/interval.h"
#include "stats/welch.h"
#include "tools/interaction/netshow.h"
#include "tools/term/outfile.h"
#include "tools/term/say.h"
#include "tools/term/table.h"
#include "tools/term/term.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define OUTPUT_MAX_BYTES (64u << 20)

/* A state or use in one of the sets, with its mean time in an interaction of each. */
struct change {
	const char *name;
	bool is_state;
	double before, after;
};

struct comparison {
	struct nettotal set[2];
	struct change *change;
	size_t n;
	struct welch_difference response;
	bool is_known; /* both sets have two interactions and more */
};

/* --- reading */

static int take(void *arg, const struct netread_one *one)
{
	struct netanalysis a;
	struct err e = { 0 };
	int rc;

	if (one->part.outcome != NETSPLIT_WHOLE)
		return CMD_OK;
	rc = netanalysis_run(one->part.w, &a, &e);
	if (!rc) {
		rc = nettotal_add(arg, one->part.name, one->part.w, &a, &e);
		netanalysis_done(&a);
	}
	return rc ? cmd_fail(CMD_FAILURE, "%s", e.text) : CMD_OK;
}

static int read_set(const struct netread_options *w, char *file, struct nettotal *t)
{
	char *files[] = { file, NULL };
	struct netread_report report;
	int status = netread_files(w, files, take, t, &report);

	if (!netread_has_result(status))
		return status;
	if (report.incomplete || report.wrong)
		cmd_warn("%s: %" PRIu64 " interactions are incomplete or wrong, and do not count",
			 file, report.incomplete + report.wrong);
	return t->response.n ? status
			     : cmd_fail(CMD_FAILURE, "%s: no interaction of the set", file);
}

/* --- differences */

static double mean_of(const struct nettotal *t, const struct nettotal_part *p)
{
	return p ? (double)p->sum / (double)t->response.n : 0;
}

static void add_changes(struct comparison *c, const struct nettotal_list *a,
			const struct nettotal_list *b, bool is_state)
{
	for (size_t i = 0; i < a->n; i++)
		c->change[c->n++] = (struct change){
			a->part[i]->name, is_state, mean_of(&c->set[0], a->part[i]),
			mean_of(&c->set[1], smap_find(&b->names, a->part[i]->name))
		};
	for (size_t i = 0; i < b->n; i++)
		if (!smap_find(&a->names, b->part[i]->name))
			c->change[c->n++] = (struct change){ b->part[i]->name, is_state, 0,
							     mean_of(&c->set[1], b->part[i]) };
}

static int by_change(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	double p = fabs(x->after - x->before), q = fabs(y->after - y->before);

	if (x->is_state != y->is_state)
		return x->is_state ? -1 : 1;
	return (p < q) - (p > q);
}

static struct welch_mean mean_with_error(const struct moments *m)
{
	return (struct welch_mean){ moments_mean(m), sqrt(moments_variance(m) / (double)m->n),
				    (double)m->n - 1 };
}

static int compare(struct comparison *c)
{
	const struct nettotal *a = &c->set[0], *b = &c->set[1];
	size_t most = a->states.n + b->states.n + a->uses.n + b->uses.n;
	struct welch_mean before, after;

	c->change = calloc(most + 1, sizeof(*c->change));
	if (!c->change)
		return -ERR_NOMEM;
	add_changes(c, &a->states, &b->states, true);
	add_changes(c, &a->uses, &b->uses, false);
	qsort(c->change, c->n, sizeof(*c->change), by_change);
	c->is_known = a->response.n > 1 && b->response.n > 1;
	if (!c->is_known)
		return 0;
	before = mean_with_error(&a->moments);
	after = mean_with_error(&b->moments);
	if (before.error > 0 || after.error > 0)
		c->response = welch_compare(&before, &after, 0, NETCOMPARE_LEVEL);
	else
		c->response = (struct welch_difference){ .value = after.mean - before.mean,
							 .is_sure = after.mean != before.mean };
	return 0;
}

/* --- output */

static const char *name_of(const struct change *c)
{
	return *c->name ? c->name : "no object";
}

static const char *change_text(char out[LIFEWORDS_TIME_BYTES + 1], double change)
{
	out[0] = change < 0 ? '-' : '+';
	lifewords_time(out + 1, (nsec_t)fabs(change));
	return out;
}

static void put_verdict(struct buf *out, const struct comparison *c)
{
	double a = moments_mean(&c->set[0].moments), b = moments_mean(&c->set[1].moments);
	char before[LIFEWORDS_TIME_BYTES], after[LIFEWORDS_TIME_BYTES],
		change[LIFEWORDS_TIME_BYTES + 1];
	const struct change *most = NULL;

	for (size_t i = 0; i < c->n && !most; i++)
		most = c->change[i].is_state ? NULL : &c->change[i];
	buf_printf(out, "The mean response time %s: %s before, %s after (%s",
		   !c->is_known		  ? "is of too few interactions for a sure answer"
		   : !c->response.is_sure ? "has not surely changed"
		   : b > a		  ? "has surely risen"
					  : "has surely fallen",
		   lifewords_time(before, (nsec_t)a), lifewords_time(after, (nsec_t)b),
		   change_text(change, b - a));
	if (a > 0)
		buf_printf(out, ", %+.1f %%", (b - a) * 100 / a);
	buf_puts(out, ").\n");
	if (most && most->after != most->before)
		buf_printf(out, "Most of the change is with %s in use: %s.\n", name_of(most),
			   change_text(change, most->after - most->before));
	buf_printf(out, "%" PRIu64 " interactions before, %" PRIu64 " after.\n\n",
		   c->set[0].response.n, c->set[1].response.n);
}

static int put_text(struct buf *out, const struct comparison *c)
{
	static const char *const heads[] = { "", "MEAN OF", "BEFORE", "AFTER", "CHANGE" };
	struct table *t = table_new(5, heads, "llrrr");

	put_verdict(out, c);
	for (size_t i = 0; t && i < c->n && i < 2 * NETSHOW_ROWS; i++) {
		const struct change *x = &c->change[i];
		char text[LIFEWORDS_TIME_BYTES + 1];

		table_cell(t, "%s", x->is_state ? "state" : "in use");
		table_cell(t, "%s", name_of(x));
		table_cell(t, "%s", lifewords_time(text, (nsec_t)x->before));
		table_cell(t, "%s", lifewords_time(text, (nsec_t)x->after));
		table_cell(t, "%s", change_text(text, x->after - x->before));
	}
	return table_end(t, 0, out);
}

static void put_list(struct json *j, const struct comparison *c, bool is_state)
{
	json_key_object(j, is_state ? "composite" : "exclusive");
	for (size_t i = 0; i < c->n; i++) {
		const struct change *x = &c->change[i];

		if (x->is_state != is_state)
			continue;
		json_key_object(j, x->name);
		json_key_double(j, "before", x->before);
		json_key_double(j, "after", x->after);
		json_key_double(j, "change", x->after - x->before);
		json_object_end(j);
	}
	json_object_end(j);
}

static int put_json(struct buf *out, const struct comparison *c)
{
	struct json j;
	int rc;

	json_init(&j, out);
	json_object(&j);
	json_key_object(&j, "RT");
	json_key_double(&j, "before", moments_mean(&c->set[0].moments));
	json_key_double(&j, "after", moments_mean(&c->set[1].moments));
	json_key_double(&j, "change",
			moments_mean(&c->set[1].moments) - moments_mean(&c->set[0].moments));
	json_key_double(&j, "half", c->is_known ? c->response.half : NAN);
	json_key_double(&j, "level", NETCOMPARE_LEVEL);
	json_key_bool(&j, "sure", c->response.is_sure);
	json_object_end(&j);
	json_key_object(&j, "interactions");
	json_key_u64(&j, "before", c->set[0].response.n);
	json_key_u64(&j, "after", c->set[1].response.n);
	json_object_end(&j);
	put_list(&j, c, true);
	put_list(&j, c, false);
	json_object_end(&j);
	rc = json_end(&j);
	buf_putc(out, '\n');
	return rc;
}

static int write_out(const struct comparison *c, bool json)
{
	struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
	int rc = json ? put_json(&out, c) : put_text(&out, c), status;

	if (!rc && !json)
		term_to_locale(&out);
	status = rc ? cmd_fail(CMD_FAILURE, "out of memory") : outfile_write(NULL, &out);
	if (status == CMD_OK && json)
		cmd_document();
	buf_done(&out);
	return status;
}

static int run(struct comparison *c, const struct netread_options *w, bool json, char **files)
{
	int worst = CMD_OK, status;

	for (int i = 0; i < 2; i++) {
		status = read_set(w, files[i], &c->set[i]);
		if (!netread_has_result(status))
			return status;
		worst = status != CMD_OK ? status : worst;
	}
	if (compare(c))
		return cmd_fail(CMD_FAILURE, "out of memory");
	status = write_out(c, json);
	if (status != CMD_OK)
		return status;
	return worst != CMD_OK ? worst : c->response.is_sure ? CMD_CHANGED : CMD_OK;
}

int netcompare_run(const struct netread_options *w, bool json, char **files)
{
	struct comparison c = { .n = 0 };
	int status;

	nettotal_init(&c.set[0]);
	nettotal_init(&c.set[1]);
	status = run(&c, w, json, files);
	nettotal_done(&c.set[0]);
	nettotal_done(&c.set[1]);
	free(c.change);
	return status;
}
