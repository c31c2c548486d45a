/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/studies/why_study.h"

#include "common/cli/progress.h"
#include "common/json/json.h"
#include "stats/student.h"
#include "why/symptom.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TRUTH_BLOCKS_MAX 400 /* of the long run: its error is small beside that of a search */
#define TRUTH_RANKS 65536 /* blocks times ranks, for more than 160 ranks */
#define TRUTH_BLOCKS_MIN 20
#define TRUTH_SEED UINT64_C(0x9e3779b97f4a7c15) /* not one of the searches */

struct why_range why_study_share(uint64_t k, uint64_t n)
{
	double z = normal_two_sided(0.95), d = (double)n, p, middle, half;

	if (!n)
		return (struct why_range){ NAN, 0, 1 };
	p = (double)k / d;
	middle = (p + z * z / (2 * d)) / (1 + z * z / d);
	half = z / (1 + z * z / d) * sqrt(p * (1 - p) / d + z * z / (4 * d * d));
	return (struct why_range){ p, fmax(middle - half, 0), fmin(middle + half, 1) };
}

/* --- one search */

static unsigned truth_blocks(size_t ranks)
{
	size_t n = TRUTH_RANKS / ranks;

	return n > TRUTH_BLOCKS_MAX   ? TRUTH_BLOCKS_MAX
	       : n < TRUTH_BLOCKS_MIN ? TRUTH_BLOCKS_MIN
				      : (unsigned)n;
}

/* The mean loss of each hypothesis over a long run, in which the plant is always there. */
static int measure_truth(const struct why_study_conf *c, struct why_study_result *out,
			 struct err *e)
{
	struct simulated_conf program = c->program;
	struct moments loss[WHY_SYMPTOMS] = { { 0 } };
	struct simulated s;
	struct view v = { 0 };
	int rc;

	program.seed = TRUTH_SEED;
	program.from = program.until = 0;
	rc = simulated_init(&s, &program, e);
	for (unsigned k = 0; !rc && k < truth_blocks(c->program.ranks); k++) {
		struct why_block b = simulated_next(&s);

		rc = view_reserve(&v, &b, e);
		if (rc)
			break;
		view_update(&v, &b);
		for (size_t i = 0; i < WHY_SYMPTOMS; i++) {
			const struct why_explained none = { .n = 0 };

			moments_add(&loss[i],
				    why_loss(&v, (enum why_id)i, &none, c->options.threshold).low);
		}
	}
	for (size_t i = 0; i < WHY_SYMPTOMS; i++)
		out->truth[i] = moments_mean(&loss[i]);
	view_done(&v);
	simulated_done(&s);
	return rc;
}

/* True if f names what is planted, or one of both culprits. */
static bool is_place_right(const struct simulated *s, const struct why_finding *f)
{
	size_t second = (s->culprit + 1) % s->conf.ranks;

	if (simulated_name(s->conf.plant)->cause == WHY_IDS)
		return !f->nrank && !f->is_host;
	if (s->conf.plant == SIMULATED_SLOW_HOST)
		return f->is_host && f->nhost == 1 && f->host[0] == s->culprit;
	if (f->is_host || !f->nrank)
		return false;
	for (size_t i = 0; i < f->nrank; i++)
		if (f->rank[i] != (int32_t)s->culprit &&
		    (s->conf.plant != SIMULATED_TWO || f->rank[i] != (int32_t)second))
			return false;
	return true;
}

/* The results of one search. */
struct searched {
	bool has_false, has_false_place, is_found;
	struct why_finding right; /* if it is found */
	bool is_first;
};

static void judge(const struct why_study_result *out, const struct simulated *s, double threshold,
		  const struct why *w, struct searched *r)
{
	const struct why_finding *f;
	size_t n = why_findings(w, &f);

	r->is_found = false;
	for (size_t i = 0; i < n; i++) {
		bool is_right = f[i].id == simulated_name(s->conf.plant)->id;

		r->has_false = r->has_false || !(out->truth[f[i].id] > threshold);
		r->has_false_place =
			r->has_false_place ||
			(f[i].is_sure && (f[i].nrank || f[i].is_host) && !is_place_right(s, &f[i]));
		if (!is_right || r->is_found || f[i].state == WHY_GONE)
			continue;
		r->is_found = true;
		r->is_first = !i;
		r->right = f[i];
	}
}

static void count(const struct simulated *s, const struct searched *r, struct why_study_result *out)
{
	const struct why_finding *f = &r->right;
	const struct simulated_name *name = simulated_name(s->conf.plant);

	out->searches++;
	out->with_false += r->has_false;
	out->false_places += r->has_false_place;
	if (!r->is_found)
		return;
	out->found++;
	out->first_in_list += r->is_first;
	moments_add(&out->blocks_until, f->blocks_until_found);
	out->place_right += is_place_right(s, f);
	out->cause_named += f->ncause > 0;
	out->cause_right += f->ncause > 0 && f->cause[0].id == name->cause;
	out->covered +=
		f->severity.low <= out->truth[f->id] && out->truth[f->id] <= f->severity.high;
}

/* Other programs on this machine do not count. */
static double processor_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int search_once(const struct why_study_conf *c, uint64_t seed, struct why_study_result *out,
		       struct err *e)
{
	struct simulated_conf program = c->program;
	struct searched r = { .has_false = false };
	struct why *w = why_new(&c->options, e);
	struct simulated s;
	int rc;

	if (!w)
		return -e->code;
	program.seed = seed;
	rc = simulated_init(&s, &program, e);
	for (unsigned k = 0; !rc && k < c->blocks; k++) {
		struct why_block b = simulated_next(&s);
		double begin = processor_seconds(), seconds;

		rc = why_add(w, &b, e);
		seconds = processor_seconds() - begin;
		out->seconds += seconds;
		out->seconds_max = fmax(out->seconds_max, seconds);
		out->blocks++;
		out->virtual_seconds += (double)(b.end - b.begin) / 1e9;
		judge(out, &s, c->options.threshold, w, &r);
	}
	if (!rc)
		count(&s, &r, out);
	simulated_done(&s);
	why_free(w);
	return rc;
}

static void show_progress(struct progress *p, uint64_t done, uint64_t of)
{
	if (progress_is_due(p))
		progress_show(p,
			      "%.0f s, %" PRIu64 " of %" PRIu64
			      " searches; ctrl-C shows the results so far",
			      progress_seconds(p), done, of);
}

static bool must_end(const struct why_study_conf *c)
{
	return c->must_end && c->must_end();
}

int why_study_run(const struct why_study_conf *c, struct why_study_result *out, struct err *e)
{
	struct progress p = { 0 };
	uint64_t of = c->last - c->first + 1;
	int rc;

	*out = (struct why_study_result){ .searches = 0 };
	progress_begin(&p, c->is_json);
	rc = measure_truth(c, out, e);
	for (uint64_t i = 0; !rc && i < of && !must_end(c); i++) {
		show_progress(&p, i, of);
		rc = search_once(c, c->first + i, out, e);
	}
	progress_end(&p);
	return rc;
}

int why_study_show(const struct why_study_conf *c, struct err *e)
{
	struct buf b = BUF_INIT(16384);
	struct why_study_result r;
	int rc = why_study_run(c, &r, e);

	if (rc)
		return rc;
	if (must_end(c))
		fprintf(c->is_json ? stderr : stdout, "interrupted: partial results\n");
	if (c->is_json)
		why_study_print_json(c, &r, &b);
	else
		why_study_print(c, &r, &b);
	fputs(buf_str(&b), stdout);
	fflush(stdout);
	buf_done(&b);
	return 0;
}

/* --- results */

static void print_share(struct buf *out, const char *words, uint64_t k, uint64_t n)
{
	struct why_range r = why_study_share(k, n);

	if (!n) {
		buf_printf(out, "%s: -\n", words);
		return;
	}
	buf_printf(out, "%s: %" PRIu64 " of %" PRIu64 ", %.3g %% [%.3g, %.3g]\n", words, k, n,
		   100 * r.value, 100 * r.low, 100 * r.high);
}

static void print_planted(const struct why_study_conf *c, const struct why_study_result *r,
			  struct buf *out)
{
	const struct simulated_name *name = simulated_name(c->program.plant);
	const struct why_hypothesis *h = why_hypothesis(name->id);

	buf_printf(out, "planted: %s, a loss of %.3g %% by %s (%s)\n", name->name,
		   100 * r->truth[name->id], h->id, h->name);
	print_share(out, "found", r->found, r->searches);
	buf_printf(out, "found after: %.3g blocks in the mean, at most %.0f\n",
		   moments_mean(&r->blocks_until), r->blocks_until.max);
	print_share(out, "first in the list", r->first_in_list, r->found);
	if (name->cause != WHY_IDS) {
		print_share(out, "place right", r->place_right, r->found);
		print_share(out, "cause right", r->cause_right, r->cause_named);
	}
	print_share(out, "interval has the loss", r->covered, r->found);
}

void why_study_print(const struct why_study_conf *c, const struct why_study_result *r,
		     struct buf *out)
{
	print_share(out, "searches with a false finding", r->with_false, r->searches);
	print_share(out, "searches with a false place that is sure", r->false_places, r->searches);
	if (simulated_name(c->program.plant)->id != WHY_IDS && r->searches)
		print_planted(c, r, out);
	buf_printf(
		out,
		"%zu ranks on %zu hosts, %u blocks of %.3g s, noise %s, dependence %.3g, threshold %.3g %%, alpha %.3g\n",
		c->program.ranks, c->program.hosts, c->blocks,
		r->virtual_seconds / (double)r->blocks, c->noise_text, c->program.dependence,
		100 * c->options.threshold, c->options.alpha);
	buf_printf(out, "cost of a block: %.3g ms of a processor in the mean, at most %.3g ms\n",
		   1e3 * r->seconds / (double)r->blocks, 1e3 * r->seconds_max);
}

static void add_share(struct json *j, const char *name, uint64_t k, uint64_t n)
{
	struct why_range r = why_study_share(k, n);

	json_key_object(j, name);
	json_key_u64(j, "count", k);
	json_key_u64(j, "of", n);
	json_key_double(j, "low", r.low);
	json_key_double(j, "high", r.high);
	json_object_end(j);
}

void why_study_print_json(const struct why_study_conf *c, const struct why_study_result *r,
			  struct buf *out)
{
	const struct simulated_name *name = simulated_name(c->program.plant);
	struct json j;

	json_init(&j, out);
	json_object(&j);
	json_key_str(&j, "plant", name->name);
	json_key_u64(&j, "ranks", c->program.ranks);
	json_key_u64(&j, "hosts", c->program.hosts);
	json_key_u64(&j, "blocks", c->blocks);
	json_key_u64(&j, "searches", r->searches);
	json_key_double(&j, "threshold", c->options.threshold);
	json_key_double(&j, "alpha", c->options.alpha);
	json_key_double(&j, "loss", name->id == WHY_IDS ? NAN : r->truth[name->id]);
	add_share(&j, "false_findings", r->with_false, r->searches);
	add_share(&j, "false_places", r->false_places, r->searches);
	add_share(&j, "found", r->found, r->searches);
	add_share(&j, "first_in_list", r->first_in_list, r->found);
	add_share(&j, "place_right", r->place_right, r->found);
	add_share(&j, "cause_right", r->cause_right, r->cause_named);
	add_share(&j, "covered", r->covered, r->found);
	json_key_double(&j, "blocks_until_found", moments_mean(&r->blocks_until));
	json_key_double(&j, "block_seconds", r->seconds / (double)r->blocks);
	json_key_double(&j, "block_seconds_max", r->seconds_max);
	json_object_end(&j);
	buf_putc(out, '\n');
}
