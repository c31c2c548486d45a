/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/summary/summary.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "tools/results/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_BYTES 80
#define SECONDS_MAX 1e10 /* three hundred years: sums of these are exact enough, and finite */
#define COUNT_MAX ((uint64_t)1 << 53) /* other readers use doubles, exact up to here */

/* The reader's place in the document, for errors. */
struct reader {
	struct err *e;
	char place[PLACE_BYTES]; /* "sections[0].processes[3]" */
	size_t n;
};

static size_t enter(struct reader *r, const char *list, size_t i)
{
	size_t before = r->n;
	int n = snprintf(r->place + r->n, PLACE_BYTES - r->n, "%s%s[%zu]", r->n ? "." : "", list,
			 i);

	r->n = n > 0 && r->n + (size_t)n < PLACE_BYTES ? r->n + (size_t)n : PLACE_BYTES - 1;
	return before;
}

static void leave(struct reader *r, size_t before)
{
	r->n = before;
	r->place[before] = '\0';
}

static int refuse(const struct reader *r, const char *member, const char *why)
{
	return err_set(r->e, ERR_PARSE, "%s%s%s %s", r->place, r->n && *member ? "." : "", member,
		       why);
}

static int no_room(const struct reader *r, const char *list)
{
	return err_set(r->e, ERR_LIMIT, "%s%s%s has too many elements", r->place, r->n ? "." : "",
		       list);
}

/* --- members */

struct range {
	double min, max;
};
static const struct range times = { -SECONDS_MAX, SECONDS_MAX }, spans = { 0, SECONDS_MAX },
			  counts = { 0, (double)COUNT_MAX }, numbers = { 0, INT32_MAX },
			  or_none = { -1, INT32_MAX }, /* -1 is none */
	or_no_end = { -1, (double)COUNT_MAX };

static int read_real(const struct reader *r, struct json_object *o, const char *key,
		     struct range in, double *out)
{
	double v = results_member(o, key);

	if (!(v >= in.min && v <= in.max))
		return refuse(r, key, "is not a number in its range");
	*out = v;
	return 0;
}

/* null means unknown. */
static int read_real_or_null(const struct reader *r, struct json_object *o, const char *key,
			     struct range in, double *out)
{
	if (!results_get(o, key)) {
		*out = NAN;
		return 0;
	}
	return read_real(r, o, key, in, out);
}

static int read_int(const struct reader *r, struct json_object *o, const char *key, struct range in,
		    int64_t *out)
{
	double v = 0;
	int rc = read_real(r, o, key, in, &v);

	if (!rc && v != floor(v))
		rc = refuse(r, key, "is not a whole number");
	if (!rc)
		*out = (int64_t)v;
	return rc;
}

static int read_u64(const struct reader *r, struct json_object *o, const char *key, uint64_t *out)
{
	int64_t v = 0;
	int rc = read_int(r, o, key, counts, &v);

	*out = (uint64_t)v;
	return rc;
}

static int read_text(const struct reader *r, struct json_object *v, const char *key, char *out,
		     size_t size)
{
	const char *s = results_text(v, NULL);

	if (!s || (*s && !str_is_name(s, strlen(s))) || strlen(s) >= size)
		return refuse(r, key, "is not a name");
	str_copy(out, size, s);
	return 0;
}

static int read_name(const struct reader *r, struct json_object *o, const char *key,
		     char out[SUMMARY_NAME_BYTES])
{
	return read_text(r, results_get(o, key), key, out, SUMMARY_NAME_BYTES);
}

/* Finds a required array. */
static int read_list(const struct reader *r, struct json_object *o, const char *key,
		     struct json_object **out)
{
	*out = results_get(o, key);
	return results_is_array(*out) ? 0 : refuse(r, key, "is not an array");
}

/* --- processes */

static int read_call(const struct reader *r, struct json_object *o, struct summary_section *of,
		     struct summary_process *p)
{
	char name[SUMMARY_NAME_BYTES], class[SUMMARY_NAME_BYTES];
	struct summary_call c = { 0 }, *to;
	int rc = read_name(r, o, "name", name), index = 0;

	rc = rc ? rc : read_name(r, o, "class", class);
	rc = rc ? rc : read_u64(r, o, "count", &c.count);
	rc = rc ? rc : read_real(r, o, "seconds", spans, &c.seconds);
	rc = rc ? rc : read_u64(r, o, "bytes_out", &c.bytes_out);
	rc = rc ? rc : read_u64(r, o, "bytes_in", &c.bytes_in);
	if (rc)
		return rc;
	index = summary_name(of, name, class);
	for (size_t i = 0; index >= 0 && i < p->ncall; i++)
		if (p->call[i].of == (unsigned)index)
			return refuse(r, "name", "is there twice");
	to = index < 0 ? NULL : summary_add_call(p);
	if (!to)
		return index == -ERR_NOMEM ? err_nomem(r->e) : no_room(r, "calls");
	c.of = (unsigned)index;
	c.is_open = results_truth(results_get(o, "open"), false);
	*to = c;
	return 0;
}

static int read_calls(struct reader *r, struct json_object *o, struct summary_section *of,
		      struct summary_process *p)
{
	struct json_object *list = results_get(o, "calls");
	int rc = 0;

	if (!list)
		return 0;
	p->has_calls = true;
	rc = read_list(r, o, "calls", &list);
	for (size_t i = 0; !rc && i < results_count(list); i++) {
		size_t place = enter(r, "calls", i);

		rc = read_call(r, results_item(list, i), of, p);
		leave(r, place);
	}
	return rc;
}

static int read_partner(const struct reader *r, struct json_object *o, struct summary_process *p)
{
	struct summary_partner v = { 0 }, *to;
	int rc = read_int(r, o, "rank", or_none, &v.rank);

	rc = rc ? rc : read_u64(r, o, "count", &v.count);
	rc = rc ? rc : read_u64(r, o, "sends", &v.sends);
	rc = rc ? rc : read_real(r, o, "seconds", spans, &v.seconds);
	rc = rc ? rc : read_u64(r, o, "bytes_out", &v.bytes_out);
	rc = rc ? rc : read_u64(r, o, "bytes_in", &v.bytes_in);
	if (rc)
		return rc;
	to = summary_add_partner(p);
	if (!to)
		return no_room(r, "partners");
	*to = v;
	return 0;
}

static int read_partners(struct reader *r, struct json_object *o, struct summary_process *p)
{
	struct json_object *list = results_get(o, "partners");
	int rc = 0;

	if (!list)
		return 0;
	p->has_partners = true;
	rc = read_list(r, o, "partners", &list);
	if (!rc && results_count(list) > SUMMARY_PARTNERS_MAX + 1)
		rc = no_room(r, "partners");
	for (size_t i = 0; !rc && i < results_count(list); i++) {
		size_t place = enter(r, "partners", i);

		rc = read_partner(r, results_item(list, i), p);
		leave(r, place);
	}
	return rc;
}

static int read_process(struct reader *r, struct json_object *o, struct summary_section *of)
{
	struct summary_process *p = summary_add_process(of);
	int64_t status = -1;
	int rc;

	if (!p)
		return no_room(r, "processes");
	rc = read_int(r, o, "rank", or_none, &p->rank);
	rc = rc ? rc : read_name(r, o, "host", p->host);
	rc = rc ? rc : read_int(r, o, "pid", numbers, &p->pid);
	rc = rc ? rc : read_name(r, o, "program", p->program);
	rc = rc ? rc : read_int(r, o, "exit_status", or_none, &status);
	rc = rc ? rc : read_real(r, o, "began", times, &p->began_s);
	rc = rc ? rc : read_real(r, o, "seconds", spans, &p->seconds);
	rc = rc ? rc : read_real_or_null(r, o, "cpu_seconds", spans, &p->cpu_s);
	rc = rc ? rc : read_real_or_null(r, o, "memory_bytes", counts, &p->rss_bytes);
	p->exit_status = (int)status;
	p->is_final = results_truth(results_get(o, "final"), false);
	rc = rc ? rc : read_calls(r, o, of, p);
	return rc ? rc : read_partners(r, o, p);
}

/* --- slices */

static int read_slice_call(const struct reader *r, struct json_object *o,
			   struct summary_section *of, struct summary_slice *slice, size_t *cap)
{
	char name[SUMMARY_NAME_BYTES];
	double seconds = results_number(results_item(o, 1), -1);
	int rc = read_text(r, results_item(o, 0), "", name, sizeof(name)), index;

	if (!rc && !(seconds >= 0 && seconds <= SECONDS_MAX))
		rc = refuse(r, "", "has no number in its range");
	if (rc)
		return rc;
	index = summary_name(of, name, "");
	if (index < 0 || array_grow(&slice->seconds, cap, (size_t)index + 1,
				    sizeof(*slice->seconds), SUMMARY_CALLS_MAX))
		return no_room(r, "calls");
	if ((size_t)index >= slice->n)
		slice->n = (size_t)index + 1;
	slice->seconds[index] += seconds;
	return 0;
}

static int read_slice(struct reader *r, struct json_object *o, struct summary_section *of,
		      struct summary_slice *slice)
{
	struct json_object *list;
	size_t cap = 0;
	int rc = read_real(r, o, "begin", times, &slice->begin_s);

	rc = rc ? rc : read_real(r, o, "end", times, &slice->end_s);
	rc = rc ? rc : read_real(r, o, "rank_seconds", spans, &slice->rank_s);
	rc = rc ? rc : read_list(r, o, "calls", &list);
	for (size_t i = 0; !rc && i < results_count(list); i++) {
		size_t place = enter(r, "calls", i);

		rc = read_slice_call(r, results_item(list, i), of, slice, &cap);
		leave(r, place);
	}
	return rc;
}

static int read_slices(struct reader *r, struct json_object *o, struct summary_section *of)
{
	struct json_object *list;
	int rc = read_list(r, o, "slices", &list);

	if (!rc && results_count(list) > SUMMARY_SLICES_MAX)
		rc = no_room(r, "slices");
	for (size_t i = 0; !rc && i < results_count(list); i++) {
		size_t place = enter(r, "slices", i);

		rc = read_slice(r, results_item(list, i), of, &of->slice[of->nslice++]);
		leave(r, place);
	}
	return rc;
}

/* --- sizes */

static int read_size(const struct reader *r, struct json_object *o, struct summary *s)
{
	struct summary_size v = { .to = -1 }, *to;
	int rc = read_name(r, o, "name", v.name);

	rc = rc ? rc : read_int(r, o, "from", counts, &v.from);
	rc = rc ? rc : read_int(r, o, "to", or_no_end, &v.to);
	rc = rc ? rc : read_u64(r, o, "count", &v.count);
	rc = rc ? rc : read_real(r, o, "seconds", spans, &v.seconds);
	rc = rc ? rc : read_u64(r, o, "bytes", &v.bytes);
	if (rc)
		return rc;
	if (v.to >= 0 && v.to < v.from)
		return refuse(r, "to", "is below from");
	to = summary_add_size(s);
	if (!to)
		return no_room(r, "sizes");
	*to = v;
	return 0;
}

static int read_sizes(struct reader *r, struct json_object *root, struct summary *s)
{
	struct json_object *list = results_get(root, "sizes");
	int rc = 0;

	if (!list)
		return 0;
	s->has_sizes = true;
	rc = read_list(r, root, "sizes", &list);
	for (size_t i = 0; !rc && i < results_count(list); i++) {
		size_t place = enter(r, "sizes", i);

		rc = read_size(r, results_item(list, i), s);
		leave(r, place);
	}
	return rc;
}

/* --- call sites */

static int read_place(const struct reader *r, struct json_object *o, const char *key,
		      char out[SUMMARY_TEXT_BYTES])
{
	struct json_object *v = results_get(o, key);

	return v ? read_text(r, v, key, out, SUMMARY_TEXT_BYTES) : 0;
}

static int read_site(const struct reader *r, struct json_object *o, struct summary *s)
{
	struct summary_site *v = summary_add_site(s);
	int rc = v ? read_name(r, o, "name", v->name) : no_room(r, "sites");

	rc = rc ? rc : read_place(r, o, "function", v->function);
	rc = rc ? rc : read_place(r, o, "source", v->source);
	rc = rc ? rc : read_place(r, o, "module", v->module);
	rc = rc ? rc : read_int(r, o, "address", counts, &v->address);
	rc = rc ? rc : read_u64(r, o, "count", &v->count);
	rc = rc ? rc : read_real(r, o, "seconds", spans, &v->seconds);
	rc = rc ? rc : read_real_or_null(r, o, "max_seconds", spans, &v->longest_s);
	rc = rc ? rc : read_u64(r, o, "bytes_out", &v->bytes_out);
	rc = rc ? rc : read_u64(r, o, "bytes_in", &v->bytes_in);
	rc = rc ? rc : read_int(r, o, "ranks", numbers, &v->ranks);
	rc = rc ? rc : read_int(r, o, "most_rank", or_none, &v->most_rank);
	return rc ? rc : read_real_or_null(r, o, "most_seconds", spans, &v->most_s);
}

static int read_sites(struct reader *r, struct json_object *root, struct summary *s)
{
	struct json_object *list = results_get(root, "sites");
	int rc = 0;

	if (!list)
		return 0;
	s->has_sites = true;
	rc = read_list(r, root, "sites", &list);
	for (size_t i = 0; !rc && i < results_count(list); i++) {
		size_t place = enter(r, "sites", i);

		rc = read_site(r, results_item(list, i), s);
		leave(r, place);
	}
	return rc;
}

/* --- the whole */

static int read_section(struct reader *r, struct json_object *o, struct summary *s)
{
	struct summary_section *of = summary_add_section(s);
	struct json_object *list;
	int rc;

	if (!of)
		return no_room(r, "sections");
	rc = read_int(r, o, "world_size", numbers, &of->world_size);
	rc = rc ? rc : read_list(r, o, "processes", &list);
	for (size_t i = 0; !rc && i < results_count(list); i++) {
		size_t place = enter(r, "processes", i);

		rc = read_process(r, results_item(list, i), of);
		leave(r, place);
	}
	return rc ? rc : read_slices(r, o, of);
}

static int read_notes(struct reader *r, struct json_object *root, struct summary *s)
{
	struct json_object *list;
	int rc = read_list(r, root, "missing", &list);

	for (size_t i = 0; !rc && i < results_count(list); i++) {
		size_t place = enter(r, "missing", i);
		char text[SUMMARY_TEXT_BYTES];

		rc = read_text(r, results_item(list, i), "", text, sizeof(text));
		if (!rc)
			summary_note(s, "%s", text);
		leave(r, place);
	}
	return rc;
}

static int check_format(const struct reader *r, struct json_object *root)
{
	int64_t version;
	int rc;

	if (!str_eq(results_text(results_get(root, "format"), ""), SUMMARY_FORMAT))
		return err_set(r->e, ERR_PARSE,
			       "this is not a summary; omig run --summary=FILE writes one");
	rc = read_int(r, root, "version", numbers, &version);
	if (!rc && version != SUMMARY_VERSION)
		rc = err_set(r->e, ERR_UNSUPPORTED,
			     "it has version %d of the format, and this omig reads %d",
			     (int)version, SUMMARY_VERSION);
	return rc;
}

/* Nanoseconds since 1970 need more digits than a double has. */
static int read_begun(const struct reader *r, struct json_object *root, int64_t *out)
{
	uint64_t v = results_u64(results_get(root, "begun_ns"), UINT64_MAX);

	if (v > INT64_MAX)
		return refuse(r, "begun_ns", "is not a number in its range");
	*out = (int64_t)v;
	return 0;
}

static int read_root(struct reader *r, struct json_object *root, struct summary *s)
{
	struct json_object *list;
	int64_t status = -1;
	int rc = check_format(r, root);

	rc = rc ? rc : read_name(r, root, "omig", s->omig);
	rc = rc ? rc : read_name(r, root, "job", s->job);
	rc = rc ? rc : read_name(r, root, "command", s->command);
	rc = rc ? rc : read_name(r, root, "measured", s->measured);
	rc = rc ? rc : read_begun(r, root, &s->begun_ns);
	rc = rc ? rc : read_real(r, root, "seconds", spans, &s->seconds);
	rc = rc ? rc : read_int(r, root, "exit_status", or_none, &status);
	s->exit_status = (int)status;
	rc = rc ? rc : read_notes(r, root, s);
	rc = rc ? rc : read_list(r, root, "sections", &list);
	for (size_t i = 0; !rc && i < results_count(list); i++) {
		size_t place = enter(r, "sections", i);

		rc = read_section(r, results_item(list, i), s);
		leave(r, place);
	}
	rc = rc ? rc : read_sizes(r, root, s);
	return rc ? rc : read_sites(r, root, s);
}

int summary_read(const char *text, size_t n, struct summary *s, struct err *e)
{
	struct reader r = { .e = e };
	struct json_object *root = NULL;
	int rc;

	if (n > SUMMARY_FILE_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "a summary has at most %u MiB",
			       SUMMARY_FILE_MAX_BYTES >> 20);
	rc = results_parse(text, n, &root, e);
	rc = rc ? rc : read_root(&r, root, s);
	results_free(root);
	if (rc)
		summary_done(s);
	else
		summary_sort(s);
	return rc;
}
