/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/why/report.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/ring/calls.h"
#include "tools/term/table.h"
#include "tools/why/culprits.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

/* --- places and numbers */

const char *report_host(const struct report *r, uint32_t host)
{
	return host < r->hosts->n ? r->hosts->host[host].name : "?";
}

/* ", " or " and " before item i of n. */
static const char *between(size_t i, size_t n)
{
	return !i ? "" : i + 1 == n ? " and " : ", ";
}

static void put_hosts(const struct report *r, const struct why_finding *f, struct buf *out)
{
	for (size_t i = 0; i < f->nhost; i++)
		buf_printf(out, "%s%s", between(i, f->nhost), report_host(r, f->host[i]));
}

static bool has_place(const struct why_finding *f)
{
	return f->nrank || f->nhost || f->npair;
}

void report_place(const struct report *r, const struct why_finding *f, struct buf *out)
{
	if (f->is_host && f->nhost) {
		put_hosts(r, f, out);
	} else if (f->nrank) {
		buf_puts(out, f->nrank == 1 ? "rank " : "ranks ");
		for (size_t i = 0; i < f->nrank; i++)
			buf_printf(out, "%s%d", between(i, f->nrank), f->rank[i]);
		if (f->nhost) {
			buf_puts(out, " on ");
			put_hosts(r, f, out);
		}
	} else {
		for (size_t i = 0; i < f->npair; i++)
			buf_printf(out, "%srank %d for rank %d", between(i, f->npair),
				   f->pair[i].from, f->pair[i].to);
	}
}

#define SHARE_BYTES 16

/* In percent: "18", "0.7"; "-" for NaN. */
static const char *percent(char out[SHARE_BYTES], double share)
{
	if (isnan(share))
		snprintf(out, SHARE_BYTES, "-");
	else
		snprintf(out, SHARE_BYTES, "%.*f", fabs(share) < 0.0995 ? 1 : 0, share * 100);
	return out;
}

/* "18 % [16, 20]" */
static void put_range(struct buf *out, struct why_range v)
{
	char value[SHARE_BYTES], low[SHARE_BYTES], high[SHARE_BYTES];

	buf_printf(out, "%s %% [%s, %s]", percent(value, v.value), percent(low, v.low),
		   percent(high, v.high));
}

static void put_time(struct buf *out, nsec_t at)
{
	time_t seconds = (time_t)(at / NSEC_PER_SEC);
	char text[16] = "?";
	struct tm t;

	if (localtime_r(&seconds, &t))
		strftime(text, sizeof(text), "%H:%M:%S", &t);
	buf_puts(out, text);
}

const struct why_finding *report_find(const struct report *r, int64_t number)
{
	const struct why_finding *f;
	size_t n = why_findings(r->why, &f);

	for (size_t i = 0; i < n; i++)
		if ((int64_t)f[i].number == number)
			return &f[i];
	return NULL;
}

size_t report_above(const struct report *r, double share)
{
	const struct why_finding *f;
	size_t n = why_findings(r->why, &f), above = 0;

	for (size_t i = 0; i < n; i++)
		above += f[i].state != WHY_GONE && f[i].severity.value > share;
	return above;
}

/* --- one finding */

/* The MPI call in which ranks were longest lately; NULL: the hypothesis is not about one class. */
static const char *call_of(const struct report *r, enum why_id id)
{
	static const struct {
		enum why_id id;
		enum why_class class;
	} rows[] = { { WHY_W1, WHY_BARRIER }, { WHY_W2, WHY_NXN },  { WHY_W3, WHY_FROM_ROOT },
		     { WHY_W4, WHY_TO_ROOT }, { WHY_W6, WHY_SEND }, { WHY_W14, WHY_RMA_SYNC },
		     { WHY_W15, WHY_FILE } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t k = r->kept->n; rows[i].id == id && k > 0; k--) {
			int call = r->kept->block[k - 1].call[rows[i].class];

			if (call >= 0)
				return call_get((unsigned)call)->name;
		}
	return NULL;
}

/* "ranks wait at MPI_Barrier for rank 17 on node3", or the words of the hypothesis. */
static void put_words(const struct report *r, const struct why_finding *f, struct buf *out)
{
	const char *call = call_of(r, f->id);
	bool waits = f->id == WHY_W1 || f->id == WHY_W2 || f->id == WHY_W3 || f->id == WHY_W4 ||
		     f->id == WHY_W14;

	if (waits && call && (f->nrank || f->nhost)) {
		buf_printf(out, "ranks wait at %s for ", call);
		report_place(r, f, out);
		return;
	}
	buf_puts(out, why_hypothesis(f->id)->words);
	if (call)
		buf_printf(out, ", mostly in %s", call);
	if (has_place(f)) {
		buf_puts(out, ": ");
		report_place(r, f, out);
	}
}

/* "1 in 4 million by chance": E bounds the probability of a false finding by 1 / E. */
static void put_odds(double log_e, struct buf *out)
{
	double odds = exp(fmin(log_e, 25));

	if (odds >= 1e9)
		buf_puts(out, "less than 1 in a billion by chance");
	else if (odds >= 1e6)
		buf_printf(out, "1 in %.0f million by chance", odds * 1e-6);
	else if (odds >= 1e4)
		buf_printf(out, "1 in %.0f,000 by chance", odds * 1e-3);
	else
		buf_printf(out, "1 in %.0f by chance", odds);
}

static void put_sure(const struct why_finding *f, struct buf *out)
{
	if (!f->is_sure) {
		buf_puts(out, has_place(f) ? "the loss is sure, its place is likely"
					   : "sure, without a place");
		return;
	}
	buf_puts(out, "sure (");
	put_odds(f->log_e, out);
	buf_puts(out, ")");
}

#define INDENT "     "

static void put_ratio(const struct why_finding *f, struct buf *out)
{
	if (isnan(f->ratio.value))
		return;
	buf_printf(out, INDENT "%s outside of MPI %.2f times ",
		   f->is_host	   ? "its ranks are"
		   : f->nrank == 1 ? "the rank is"
				   : "the ranks are",
		   f->ratio.value);
	if (isfinite(f->ratio.high))
		buf_printf(out, "[%.2f, %.2f] ", f->ratio.low, f->ratio.high);
	buf_printf(out, "as long as the median rank%s\n",
		   isfinite(f->ratio.high) ? "" : " (too few blocks for an interval)");
}

/* The processor time of a rank with several threads is more than its time. */
static void put_processor(const struct report *r, const struct why_finding *f, struct buf *out)
{
	struct culprits_mean c = culprits_mean(f, r->kept);
	char compute[SHARE_BYTES], ready[SHARE_BYTES];

	if (isnan(c.compute))
		return;
	buf_printf(out, INDENT "on a processor for %s %% of the time",
		   percent(compute, fmin(c.compute, 1)));
	if (!isnan(c.run_delay))
		buf_printf(out, ", ready without one for %s %%",
			   percent(ready, fmin(c.run_delay, 1)));
	buf_puts(out, "\n");
}

/* Mean of the blocks that are kept; NaN: not known. */
static double foreign_of(const struct report *r, uint32_t host)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->kept->n; i++) {
		const struct why_block *b = &r->kept->block[i].block;

		if (host >= b->nhost || isnan(b->host[host].figure[WHY_FOREIGN]))
			continue;
		sum += b->host[host].figure[WHY_FOREIGN];
		n++;
	}
	return n ? sum / (double)n : (double)NAN;
}

#define FOREIGN_LEAST 0.1 /* processors: what daemons of the system use is no news */

static void put_foreign(const struct report *r, const struct why_finding *f, struct buf *out)
{
	for (size_t i = 0; i < f->nhost; i++) {
		double busy = foreign_of(r, f->host[i]);

		if (busy >= FOREIGN_LEAST)
			buf_printf(out, INDENT "%s has %.1f processors busy with other programs\n",
				   report_host(r, f->host[i]), busy);
	}
}

static const char *advice_of(enum why_id cause)
{
	switch (cause) {
	case WHY_C1:
		return "give it less work, or let the others go on meanwhile";
	case WHY_C2:
		return "pin each rank to a processor of its own, or leave the host out";
	case WHY_C3:
		return "leave the host out, or raise its quota";
	case WHY_C4:
		return "use less memory on that host";
	case WHY_C8:
		return "look where it sleeps or waits: omig stacks";
	case WHY_C5:
		return "move the files to a faster disk, or out of the loop";
	default:
		return NULL;
	}
}

static void put_causes(const struct report *r, const struct why_finding *f, struct buf *out)
{
	for (size_t i = 0; i < f->ncause; i++) {
		const struct why_cause *c = &f->cause[i];

		buf_puts(out, INDENT);
		put_range(out, c->share);
		buf_printf(out, " of the excess%s: %s%s\n", has_place(f) ? "" : " of late ranks",
			   why_hypothesis(c->id)->words, c->is_sure ? "" : " (likely)");
		if (c->id == WHY_C2)
			put_foreign(r, f, out);
	}
	if (!f->ncause && !isnan(f->ratio.value))
		buf_puts(out, INDENT "no cause of that is known\n");
}

static void put_since(const struct why_finding *f, struct buf *out)
{
	buf_puts(out, INDENT "since ");
	put_time(out, f->since);
	if (f->state == WHY_GONE) {
		buf_puts(out, ", gone at ");
		put_time(out, f->until);
	}
	if ((int64_t)f->ranks_covered < f->ranks_of)
		buf_printf(out, "; %u of %lld ranks replied", f->ranks_covered,
			   (long long)f->ranks_of);
	buf_puts(out, "\n");
}

static void put_commands(const struct report *r, const struct why_finding *f, struct buf *out)
{
	const char *advice = f->ncause ? advice_of(f->cause[0].id) : NULL;
	struct commands c;

	commands_of(r, f, &c);
	for (size_t i = 0; i < c.n; i++)
		buf_printf(out, INDENT "see: %s\n", c.line[i]);
	if (advice && f->cause[0].is_sure && has_place(f))
		buf_printf(out, INDENT "try: %s\n", advice);
}

void report_finding(const struct report *r, const struct term *t, const struct why_finding *f,
		    struct buf *out)
{
	buf_printf(out, "%s%-2u  %s", term_paint(t, TERM_BOLD), f->number,
		   f->is_lower_bound ? "at least " : "");
	put_range(out, f->severity);
	buf_puts(out, "  ");
	put_words(r, f, out);
	buf_puts(out, term_paint(t, TERM_PLAIN));
	buf_puts(out, "  ");
	put_sure(f, out);
	buf_puts(out, "\n");
	put_ratio(f, out);
	put_processor(r, f, out);
	put_causes(r, f, out);
	put_since(f, out);
	put_commands(r, f, out);
}

/* --- the whole */

static void put_head(const struct report *r, const struct why_summary *s, struct buf *out)
{
	char low[SHARE_BYTES], high[SHARE_BYTES], value[SHARE_BYTES];

	buf_printf(out, "%s, %lld ranks on %u host%s: ", r->program[0] ? r->program : r->job,
		   (long long)s->ranks_of, s->hosts, s->hosts == 1 ? "" : "s");
	if (isnan(s->useful.value)) {
		buf_puts(out, "nothing was measured\n");
		return;
	}
	buf_printf(out, "%s %% of the time is outside of MPI (%s to %s), ",
		   percent(value, s->useful.value), percent(low, s->useful.low),
		   percent(high, s->useful.high));
	buf_printf(out, "%s %% is in MPI calls.  Looked for %.0f s\n",
		   percent(value, 1 - s->useful.value), (double)(s->end - s->begin) * 1e-9);
}

/* The symptom with the largest loss; WHY_IDS: none is known. */
static enum why_id largest(const struct why_summary *s)
{
	enum why_id id = WHY_IDS;
	double most = -1;

	for (size_t i = WHY_W1; i < WHY_C1; i++) {
		if (isnan(s->of[i].severity.value) || s->of[i].severity.value <= most)
			continue;
		most = s->of[i].severity.value;
		id = (enum why_id)i;
	}
	return id;
}

static size_t count_of(const struct why_summary *s, enum why_verdict v)
{
	size_t n = 0;

	for (size_t i = WHY_W1; i < WHY_C1; i++)
		n += s->of[i].verdict == v;
	return n;
}

/* Nothing was found: how much was examined, and what is near to the threshold. */
static void put_nothing(const struct report *r, const struct why_summary *s, struct buf *out)
{
	size_t ruled_out = count_of(s, WHY_RULED_OUT) + count_of(s, WHY_CLOSED),
	       open = count_of(s, WHY_OPEN);
	enum why_id id = largest(s);
	char share[SHARE_BYTES];

	buf_printf(out, "nothing above %s %%: ", percent(share, r->threshold));
	buf_printf(out, "looked at %zu symptoms in %zu blocks", ruled_out + open, s->blocks);
	if (id < WHY_IDS)
		buf_printf(out, ", the largest is %s at %s %%", why_hypothesis(id)->name,
			   percent(share, s->of[id].severity.value));
	buf_puts(out, "\n");
	if (open)
		buf_printf(out, "%zu of them are still open: look longer with --for\n", open);
}

static void put_names(const struct why_summary *s, enum why_verdict v, const char *head,
		      struct buf *out)
{
	size_t n = 0;

	for (size_t i = WHY_W1; i < WHY_IDS; i++)
		if (s->of[i].verdict == v)
			buf_printf(out, "%s%s", n++ ? ", " : head,
				   why_hypothesis((enum why_id)i)->name);
	if (n)
		buf_puts(out, "\n");
}

/* Hypotheses with the same reason are in one line. */
static void put_untestable(const struct why_summary *s, struct buf *out)
{
	for (size_t i = WHY_W; i < WHY_IDS; i++) {
		const char *why = s->of[i].reason ? s->of[i].reason : "";
		bool is_first = s->of[i].verdict == WHY_UNTESTABLE;
		size_t n = 0;

		for (size_t k = WHY_W; k < i && is_first; k++)
			is_first = s->of[k].verdict != WHY_UNTESTABLE ||
				   !str_eq(s->of[k].reason ? s->of[k].reason : "", why);
		for (size_t k = i; k < WHY_IDS && is_first; k++)
			if (s->of[k].verdict == WHY_UNTESTABLE &&
			    str_eq(s->of[k].reason ? s->of[k].reason : "", why))
				buf_printf(out, "%s%s", n++ ? ", " : "not testable: ",
					   why_hypothesis((enum why_id)k)->name);
		if (n)
			buf_printf(out, " (%s)\n", why[0] ? why : "no evidence");
	}
}

static void put_silent(const struct report *r, const struct why_summary *s, struct buf *out)
{
	if (r->silent_blocks)
		buf_printf(
			out,
			"%zu of %zu blocks are incomplete: some hosts did not reply; in the last "
			"one %lld of %lld objects did\n",
			r->silent_blocks, s->blocks, (long long)r->answered, (long long)r->asked);
	if (r->has_ended)
		buf_puts(out, "the job has ended\n");
}

void report_show(const struct report *r, const struct term *t, struct buf *out)
{
	const struct why_finding *f;
	size_t n = why_findings(r->why, &f);
	struct why_summary s;

	why_summary(r->why, &s);
	buf_puts(out, term_paint(t, TERM_BOLD));
	put_head(r, &s, out);
	buf_puts(out, term_paint(t, TERM_PLAIN));
	put_silent(r, &s, out);
	if (s.blocks && !n)
		put_nothing(r, &s, out);
	for (size_t i = 0; i < n && i < REPORT_FINDINGS_SHOWN; i++) {
		buf_puts(out, "\n");
		report_finding(r, t, &f[i], out);
	}
	if (n > REPORT_FINDINGS_SHOWN)
		buf_printf(out, "\n%zu more: --json has all\n", n - REPORT_FINDINGS_SHOWN);
	if (n)
		buf_puts(out, "\n");
	put_names(&s, WHY_RULED_OUT, "ruled out: ", out);
	put_names(&s, WHY_OPEN, "open: ", out);
	put_untestable(&s, out);
}

/* --- all hypotheses */

static const char *verdict_words(enum why_verdict v)
{
	static const char *const words[] = { "not tested", "open", "found", "ruled out",
					     "not testable" };

	return words[v];
}

int report_all(const struct report *r, struct buf *out)
{
	static const char *const heads[] = { "HYPOTHESIS", "STATE", "LOSS", "FROM", "TO", "ABOUT" };
	struct table *t = table_new(ARRAY_LEN(heads), heads, "llrrrl");
	char share[SHARE_BYTES];
	struct why_summary s;

	why_summary(r->why, &s);
	for (size_t i = 0; t && i < WHY_IDS; i++) {
		const struct why_hypothesis *h = why_hypothesis((enum why_id)i);
		const char *reason = s.of[i].reason;

		table_cell(t, "%s%s %s", h->parent == WHY_IDS ? "" : "  ", h->id, h->name);
		table_cell(t, "%s", verdict_words(s.of[i].verdict));
		table_cell(t, "%s", percent(share, s.of[i].severity.value));
		table_cell(t, "%s", percent(share, s.of[i].severity.low));
		table_cell(t, "%s", percent(share, s.of[i].severity.high));
		table_cell(t, "%s", reason ? reason : h->words);
	}
	return table_end(t, 0, out);
}
