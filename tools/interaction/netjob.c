/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/interaction/netjob.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "interaction/form/netput.h"
#include "tools/interaction/netset.h"
#include "tools/interaction/netshow.h"
#include "tools/term/outfile.h"
#include "tools/term/say.h"
#include "tools/term/term.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* output of one interaction; memory is exhausted before */
#define OUTPUT_MAX_BYTES ((size_t)1 << 36)
#define WRITE_BYTES (256 * 1024)
#define UNFIT_SHOWN 5 /* interactions that could not be analysed, in words */

struct job {
	enum netjob_kind kind;
	const struct netjob_options *options;
	struct outfile file;
	struct buf out;
	struct buf first; /* the first interaction, until it is known to be the only one; or the
			   * slowest of a set's paths */
	int64_t slowest;
	struct nettotal total;
	struct netclock clock;
	char **node; /* owned: names, for clocks */
	size_t nnode, node_cap;
	uint64_t shown, unfit;
};

int netjob_add_change(void *into, const char *text, struct err *e)
{
	struct netjob_options *w = into;

	if (w->nchange == NETJOB_CHANGES_MAX)
		return err_set(e, ERR_LIMIT, "at most %d changes", NETJOB_CHANGES_MAX);
	if (!strchr(text, ',') || !strrchr(text, '='))
		return err_set(e, ERR_INVALID, "it is VERTEX,VERTEX=TIME: v1,v2=5ms");
	w->change[w->nchange++] = text;
	return 0;
}

/* --- changes of arcs */

static int read_time(const char *s, int64_t *out)
{
	return !str_to_i64(s, 0, INT64_MAX, out) ? 0 : opt_to_nsec_unit(s, 0, INT64_MAX, out);
}

static uint32_t find_vertex(const struct network *w, const char *name, struct err *e)
{
	uint32_t v = network_find(w, name);

	if (v == NETWORK_NONE)
		err_set(e, ERR_NOTFOUND, "there is no vertex '%s'", name);
	return v;
}

/* The arc from a vertex to out->head; with two of them, that of the sub-task. */
static int find_arc(const struct network *w, uint32_t tail, const char *task,
		    struct netretime_change *out, struct err *e)
{
	uint64_t id = 0;
	int found = 0;

	if (task && str_to_u64(task, 0, UINT64_MAX, &id))
		return err_set(e, ERR_INVALID, "'%s' is not a sub-task", task);
	for (int k = 0; k < 2; k++) {
		struct network_arc a;

		if (!network_arc(w, out->head, k, &a) || a.tail != tail ||
		    (task && network_id(w, a.task) != id))
			continue;
		out->is_ending = k;
		found++;
	}
	if (found == 1)
		return 0;
	return found ? err_set(e, ERR_INVALID,
			       "two arcs join them: name the sub-task, as in V1,V2@3=5ms")
		     : err_set(e, ERR_NOTFOUND, "no arc leads from one to the other");
}

static int read_change(const struct network *w, const char *text, struct netretime_change *out,
		       struct err *e)
{
	char copy[3 * (NAME_MAX_BYTES + 1)], *head, *time, *task;
	uint32_t from, to;
	int64_t length;

	if (!str_copy(copy, sizeof(copy), text))
		return err_set(e, ERR_LIMIT, "it is too long");
	time = strrchr(copy, '=');
	head = strchr(copy, ',');
	*time++ = '\0';
	*head++ = '\0';
	task = strrchr(head, '@');
	if (task && network_find(w, head) == NETWORK_NONE)
		*task++ = '\0';
	else
		task = NULL;
	if (read_time(time, &length))
		return err_set(e, ERR_INVALID, "'%s' is not a time: a number of ns, or 5ms", time);
	from = find_vertex(w, copy, e);
	to = from == NETWORK_NONE ? from : find_vertex(w, head, e);
	if (to == NETWORK_NONE)
		return -ERR_NOTFOUND;
	*out = (struct netretime_change){ .head = to, .length = length };
	return find_arc(w, from, task, out, e);
}

static int read_changes(const struct job *j, const struct network *w, struct netretime_change *c)
{
	struct err e = { 0 };

	for (unsigned i = 0; i < j->options->nchange; i++)
		if (read_change(w, j->options->change[i], &c[i], &e))
			return cmd_fail(e.code == ERR_NOTFOUND ? CMD_NOTFOUND : CMD_USAGE,
					"--what-if %s: %s", j->options->change[i], e.text);
	return CMD_OK;
}

/* --- one interaction */

static int fail(const struct err *e)
{
	return cmd_fail(CMD_FAILURE, "%s", e->text);
}

/* Results that are computed on request. */
struct extra {
	struct netretime_change change[NETJOB_CHANGES_MAX];
	struct netretime retimed;
	struct netpath *near;
	size_t nnear;
};

static void put_json(const struct job *j, struct json *to, const struct netsplit_part *p,
		     const struct netanalysis *a, const struct extra *x)
{
	if (j->kind == NETJOB_ANALYZE) {
		netput_result(to, p->name, p->w, a);
	} else {
		json_key_str(to, "name", p->name);
		json_key_i64(to, "RT", netpath_response(p->w));
	}
	if (j->kind == NETJOB_PATH) {
		json_key_i64(to, "cp_length", a->path.length);
		json_key_bool(to, "cp_unique", a->path.is_unique);
		netput_path(to, "critical_path", p->w, &a->path);
	} else if (j->kind == NETJOB_STATES) {
		netput_states(to, p->w, &a->spent);
		json_key_bool(to, "member", a->spent.is_member);
	}
	if (x->near)
		netput_near(to, p->w, x->near, x->nnear);
	if (j->options->nchange)
		netput_what_if(to, p->w, x->change, j->options->nchange, &x->retimed);
}

static int put_text(const struct job *j, struct buf *to, const struct netsplit_part *p,
		    const struct netanalysis *a, const struct extra *x)
{
	int rc = netshow_verdict(to, p->name, p->w, a);

	if (!rc && j->options->nchange)
		rc = netshow_what_if(to, p->w, x->change, j->options->nchange, &x->retimed);
	if (rc || j->kind == NETJOB_WHAT_IF)
		return rc;
	buf_puts(to, "\n");
	rc = j->kind == NETJOB_PATH ? netshow_path(to, p->w, &a->path)
				    : netshow_states(to, p->w, a);
	return rc || !x->near ? rc : netshow_near(to, p->w, x->near, x->nnear);
}

static int find_extra(const struct job *j, const struct network *w, struct extra *x)
{
	struct err e = { 0 };
	int status = read_changes(j, w, x->change);

	if (status != CMD_OK)
		return status;
	if (j->options->near && netpath_near(w, j->options->near, &x->near, &x->nnear, &e))
		return fail(&e);
	if (j->options->nchange && netretime(w, x->change, j->options->nchange, &x->retimed, &e))
		return fail(&e);
	return CMD_OK;
}

static void extra_done(struct extra *x)
{
	netretime_done(&x->retimed);
	for (size_t i = 0; i < x->nnear; i++)
		netpath_done(&x->near[i]);
	free(x->near);
}

static int put_one(struct job *j, struct buf *to, const struct netsplit_part *p,
		   const struct netanalysis *a)
{
	struct extra x = { .near = NULL };
	int status = find_extra(j, p->w, &x), rc = 0;
	struct json json;

	if (status == CMD_OK && j->options->json) {
		json_init(&json, to);
		json_object(&json);
		put_json(j, &json, p, a, &x);
		json_object_end(&json);
		rc = json_end(&json);
	} else if (status == CMD_OK) {
		rc = put_text(j, to, p, a, &x);
	}
	extra_done(&x);
	return rc ? cmd_fail(CMD_FAILURE, "out of memory") : status;
}

/* An interaction that is incomplete or wrong, as JSON; in text it is a warning. */
static int put_unfit(struct job *j, struct buf *to, const struct netsplit_part *p)
{
	bool is_wrong = p->outcome == NETSPLIT_WRONG;
	struct buf why = BUF_INIT(4 * ERR_TEXT_BYTES);
	struct json json;
	int rc = 0;

	if (p->why)
		buf_puts(&why, p->why->text);
	else
		network_put_missing(p->w, &why);
	if (++j->unfit <= UNFIT_SHOWN)
		cmd_warn("interaction %s%sis %s%s", p->name, *p->name ? " " : "",
			 is_wrong ? "wrong: " : "incomplete, without ", buf_str(&why));
	if (j->options->json) {
		json_init(&json, to);
		json_object(&json);
		json_key_str(&json, "name", p->name);
		json_key_str(&json, is_wrong ? "wrong" : "incomplete", buf_str(&why));
		if (is_wrong && p->why->line)
			json_key_u64(&json, "place", p->why->line);
		json_key_u64(&json, "vertices", p->w->n);
		json_object_end(&json);
		rc = json_end(&json);
	}
	buf_done(&why);
	return rc ? cmd_fail(CMD_FAILURE, "out of memory") : CMD_OK;
}

/* --- all of them */

/* Analyses of a set show totals, and the slowest path; JSON and what-if show each interaction. */
static bool shows_each(const struct job *j)
{
	return j->options->json || j->kind == NETJOB_WHAT_IF;
}

static bool shows_slowest(const struct job *j)
{
	return j->kind == NETJOB_PATH && !j->options->json;
}

static int keep_slowest(struct job *j, const struct buf *one, int64_t response)
{
	if (response <= j->slowest)
		return CMD_OK;
	j->slowest = response;
	buf_clear(&j->first);
	buf_put(&j->first, one->p, one->n);
	return j->first.failed ? cmd_fail(CMD_FAILURE, "out of memory") : CMD_OK;
}

/* The first interaction is delayed: if it is the only one, it is the whole document. */
static int put_next(struct job *j, struct buf *one)
{
	if (!j->shown++) {
		buf_put(&j->first, one->p, one->n);
		return j->first.failed ? cmd_fail(CMD_FAILURE, "out of memory") : CMD_OK;
	}
	if (!shows_each(j))
		return CMD_OK;
	if (j->shown == 2) {
		buf_puts(&j->out, j->options->json ? "{\"networks\":[" : "");
		buf_put(&j->out, j->first.p, j->first.n);
		buf_done(&j->first);
	}
	buf_puts(&j->out, j->options->json ? ",\n" : "\n");
	buf_put(&j->out, one->p, one->n);
	if (j->out.failed)
		return cmd_fail(CMD_FAILURE, "out of memory");
	return outfile_put(&j->file, &j->out, WRITE_BYTES);
}

static int analyse(struct job *j, const struct netsplit_part *p, struct buf *one)
{
	struct netanalysis a;
	struct err e = { 0 };
	int status;

	if (netanalysis_run(p->w, &a, &e))
		return fail(&e);
	status = nettotal_add(&j->total, p->name, p->w, &a, &e) ? fail(&e) : CMD_OK;
	if (status == CMD_OK && (shows_each(j) || !j->shown || shows_slowest(j)))
		status = put_one(j, one, p, &a);
	if (status == CMD_OK && shows_slowest(j) && j->shown)
		status = keep_slowest(j, one, a.path.length);
	else if (!j->shown)
		j->slowest = a.path.length;
	netanalysis_done(&a);
	return status;
}

static int add_clocks(struct job *j, const struct netread_one *one)
{
	struct err e = { 0 };

	if (array_grow(&j->node, &j->node_cap, one->nnode, sizeof(*j->node), SIZE_MAX / 16))
		return cmd_fail(CMD_FAILURE, "out of memory");
	for (; j->nnode < one->nnode; j->nnode++) {
		j->node[j->nnode] = str_dup(one->node[j->nnode]);
		if (!j->node[j->nnode])
			return cmd_fail(CMD_FAILURE, "out of memory");
	}
	return netclock_add(&j->clock, one->part.w, &e) ? fail(&e) : CMD_OK;
}

static int take(void *arg, const struct netread_one *one)
{
	const struct netsplit_part *p = &one->part;
	struct buf text = BUF_INIT(OUTPUT_MAX_BYTES);
	struct job *j = arg;
	int status;

	if (!netread_is_chosen(one, j->options->only))
		return CMD_OK;
	if (p->outcome != NETSPLIT_WHOLE) {
		status = put_unfit(j, &text, p);
		if (status == CMD_OK && j->options->json && j->kind != NETJOB_CLOCKS)
			status = put_next(j, &text);
	} else if (j->kind == NETJOB_CLOCKS) {
		status = add_clocks(j, one);
	} else {
		status = analyse(j, p, &text);
		status = status == CMD_OK ? put_next(j, &text) : status;
	}
	buf_done(&text);
	return status;
}

static int finish_clocks(struct job *j)
{
	netclock_sort(&j->clock);
	if (j->options->json)
		return netset_clocks(&j->out, &j->clock, (const char *const *)j->node) ? -ERR_NOMEM
										       : 0;
	return netshow_clocks(&j->out, &j->clock, (const char *const *)j->node);
}

static int finish_set(struct job *j, const struct netread_report *report)
{
	nettotal_sort(&j->total);
	if (j->shown > 1 && j->options->json)
		return netset_put(&j->out, &j->total, report);
	if (j->shown > 1 && shows_slowest(j)) {
		netshow_words(&j->out, &j->total);
		buf_printf(&j->out,
			   "\nThe slowest of %" PRIu64 "; --only NAME shows another one.\n",
			   j->shown);
	} else if (j->shown > 1) {
		return shows_each(j) ? 0 : netshow_total(&j->out, &j->total);
	}
	buf_put(&j->out, j->first.p, j->first.n);
	if (j->options->json)
		buf_puts(&j->out, "\n");
	return 0;
}

static int finish(struct job *j, const struct netread_report *report)
{
	int rc = j->kind == NETJOB_CLOCKS ? finish_clocks(j) : finish_set(j, report);

	if (rc || j->out.failed)
		return cmd_fail(CMD_FAILURE, "out of memory");
	if (j->unfit > UNFIT_SHOWN)
		cmd_warn("%" PRIu64 " more interactions are incomplete or wrong",
			 j->unfit - UNFIT_SHOWN);
	if (report->repeated)
		cmd_warn("%" PRIu64 " events are there twice, and count once", report->repeated);
	if (!j->options->json)
		term_to_locale(&j->out);
	return outfile_put(&j->file, &j->out, 0);
}

int netjob_run(enum netjob_kind kind, const struct netjob_options *w, char **files)
{
	struct job j = { .kind = kind,
			 .options = w,
			 .out = BUF_INIT(OUTPUT_MAX_BYTES),
			 .first = BUF_INIT(OUTPUT_MAX_BYTES) };
	struct netread_report report;
	int status = outfile_open(&j.file, NULL), end;

	nettotal_init(&j.total);
	netclock_init(&j.clock);
	if (status == CMD_OK)
		status = netread_files(&w->read, files, take, &j, &report);
	if (netread_has_result(status)) {
		if (kind != NETJOB_CLOCKS && !j.shown && w->only)
			status = netread_fail_none(w->only);
		else if ((end = finish(&j, &report)) != CMD_OK)
			status = end;
		else if (w->json)
			cmd_document();
	}
	outfile_close(&j.file);
	nettotal_done(&j.total);
	netclock_done(&j.clock);
	for (size_t i = 0; i < j.nnode; i++)
		free(j.node[i]);
	free(j.node);
	buf_done(&j.out);
	buf_done(&j.first);
	return status;
}
