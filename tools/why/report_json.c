/* SPDX-License-Identifier: Apache-2.0 */
/* Unknown figures are null. */
#include "tools/why/report.h"

#include <math.h>

#define SCHEMA 1 /* version of the form below */
#define LOG_E_MAX 690 /* exp() of more is not a finite number */

static void put_time(struct json *j, const char *key, nsec_t at)
{
	json_key_double(j, key, at ? (double)at * 1e-9 : (double)NAN);
}

static void put_range(struct json *j, const char *const key[3], struct why_range v)
{
	json_key_double(j, key[0], v.value);
	json_key_double(j, key[1], v.low);
	json_key_double(j, key[2], v.high);
}

static void put_place(const struct report *r, const struct why_finding *f, struct json *j)
{
	json_key_array(j, "ranks");
	for (size_t i = 0; i < f->nrank; i++)
		json_i64(j, f->rank[i]);
	json_array_end(j);
	json_key_array(j, "hosts");
	for (size_t i = 0; i < f->nhost; i++)
		json_str(j, report_host(r, f->host[i]));
	json_array_end(j);
	json_key_bool(j, "is_host", f->is_host);
	json_key_array(j, "pairs");
	for (size_t i = 0; i < f->npair; i++) {
		json_array(j);
		json_i64(j, f->pair[i].from);
		json_i64(j, f->pair[i].to);
		json_array_end(j);
	}
	json_array_end(j);
}

static void put_causes(const struct why_finding *f, struct json *j)
{
	static const char *const share[] = { "share", "low", "high" };

	json_key_array(j, "causes");
	for (size_t i = 0; i < f->ncause; i++) {
		const struct why_hypothesis *h = why_hypothesis(f->cause[i].id);

		json_object(j);
		json_key_str(j, "id", h->id);
		json_key_str(j, "name", h->name);
		put_range(j, share, f->cause[i].share);
		json_key_str(j, "sure", f->cause[i].is_sure ? "sure" : "likely");
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_commands(const struct report *r, const struct why_finding *f, struct json *j)
{
	struct commands c;

	commands_of(r, f, &c);
	json_key_array(j, "commands");
	for (size_t i = 0; i < c.n; i++)
		json_str(j, c.line[i]);
	json_array_end(j);
}

void report_finding_json(const struct report *r, const struct why_finding *f, struct json *j)
{
	static const char *const severity[] = { "severity", "low", "high" };
	static const char *const ratio[] = { "ratio", "ratio_low", "ratio_high" };
	const struct why_hypothesis *h = why_hypothesis(f->id);
	struct why_summary s;

	why_summary(r->why, &s);
	json_key_i64(j, "v", SCHEMA);
	json_key_str(j, "kind", "finding");
	json_key_u64(j, "id", f->number);
	json_key_str(j, "hypothesis", h->id);
	json_key_str(j, "name", h->name);
	json_key_str(j, "state", why_state_name(f->state));
	put_range(j, severity, f->severity);
	json_key_bool(j, "is_lower_bound", f->is_lower_bound);
	json_key_double(j, "e", exp(fmin(f->log_e, LOG_E_MAX)));
	json_key_str(j, "sure", f->is_sure ? "sure" : "likely");
	put_time(j, "since", f->since);
	put_time(j, "until", f->until);
	put_place(r, f, j);
	put_range(j, ratio, f->ratio);
	put_causes(f, j);
	json_key_str(j, "evidence", h->evidence);
	put_commands(r, f, j);
	json_key_object(j, "coverage");
	json_key_u64(j, "ranks", f->ranks_covered);
	json_key_i64(j, "of", f->ranks_of);
	json_object_end(j);
	json_key_double(j, "found_after_s", (double)(f->found - s.begin) * 1e-9);
}

/* --- the last line */

static void put_ids(const struct why_summary *s, enum why_verdict v, const char *key,
		    struct json *j)
{
	json_key_array(j, key);
	for (size_t i = 0; i < WHY_IDS; i++)
		if (s->of[i].verdict == v)
			json_str(j, why_hypothesis((enum why_id)i)->id);
	json_array_end(j);
}

static void put_untestable(const struct why_summary *s, struct json *j)
{
	json_key_array(j, "untestable");
	for (size_t i = 0; i < WHY_IDS; i++) {
		if (s->of[i].verdict != WHY_UNTESTABLE)
			continue;
		json_object(j);
		json_key_str(j, "id", why_hypothesis((enum why_id)i)->id);
		json_key_str(j, "reason", s->of[i].reason);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_all(const struct why_summary *s, struct json *j)
{
	static const char *const severity[] = { "severity", "low", "high" };
	static const char *const words[] = { "closed", "open", "found", "ruled_out", "untestable" };

	json_key_array(j, "hypotheses");
	for (size_t i = 0; i < WHY_IDS; i++) {
		const struct why_hypothesis *h = why_hypothesis((enum why_id)i);

		json_object(j);
		json_key_str(j, "id", h->id);
		json_key_str(j, "name", h->name);
		json_key_str(j, "parent",
			     h->parent == WHY_IDS ? NULL : why_hypothesis(h->parent)->id);
		json_key_str(j, "state", words[s->of[i].verdict]);
		put_range(j, severity, s->of[i].severity);
		json_key_double(j, "e", exp(fmin(s->of[i].log_e, LOG_E_MAX)));
		json_key_str(j, "reason", s->of[i].reason);
		json_object_end(j);
	}
	json_array_end(j);
}

void report_summary_json(const struct report *r, bool all, struct json *j)
{
	static const char *const useful[] = { "useful", "useful_low", "useful_high" };
	struct why_summary s;

	why_summary(r->why, &s);
	json_key_i64(j, "v", SCHEMA);
	json_key_str(j, "kind", "summary");
	json_key_str(j, "job", r->job);
	json_key_str(j, "program", r->program);
	json_key_i64(j, "ranks", s.ranks_of);
	json_key_u64(j, "hosts", s.hosts);
	put_range(j, useful, s.useful);
	json_key_double(j, "seconds", (double)(s.end - s.begin) * 1e-9);
	json_key_u64(j, "blocks", s.blocks);
	json_key_u64(j, "silent_blocks", r->silent_blocks);
	json_key_bool(j, "has_ended", r->has_ended);
	json_key_bool(j, "is_done", s.is_done);
	put_ids(&s, WHY_RULED_OUT, "ruled_out", j);
	put_ids(&s, WHY_OPEN, "open", j);
	put_untestable(&s, j);
	if (all)
		put_all(&s, j);
	json_key_u64(j, "findings", s.findings);
}
