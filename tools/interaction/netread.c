/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/interaction/netread.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/cli/progress.h"
#include "eventlog/sort/evsort.h"
#include "interaction/form/netjson.h"
#include "interaction/form/netlog.h"
#include "interaction/form/netthread.h"
#include "tools/term/say.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WRONG_SHOWN 5 /* events of logs that are not vertices; the others are counted */
#define NODES_MAX 65536

struct netread {
	const struct netread_options *options;
	struct netuse *use; /* uses of objects in logs, and in lists by node */
	struct netsplit *split;
	struct evsort *sort;
	uint64_t sorted; /* vertices of logs */
	netread_fn fn;
	void *arg;
	struct netread_report *report;
	char **node; /* owned */
	size_t nnode, node_cap;
	struct smap nodes; /* -> index + 1 */
	struct netlog log;
	struct netthread thread;
	struct netweave *weave; /* NULL: the log has no messages, steps or requests */
	uint64_t recorded, begun, sources; /* events of recorders, begins of steps, sources */
	uint64_t bad; /* events that should be vertices */
	int status; /* status of fn, when it has ended the reading */
	const char *path; /* path of the JSON that is read */
	struct evfile *file;
	struct progress progress;
	uint64_t bytes;
};

int netread_add_term(void *into, const char *text, struct err *e)
{
	struct netread_terms *t = into;

	if (t->n == NETREAD_TERMS_MAX)
		return err_set(e, ERR_LIMIT, "at most %d of them", NETREAD_TERMS_MAX);
	t->text[t->n++] = text;
	return 0;
}

/* --- declarations of the command line */

static int declare_state(struct netuse *use, const char *text, struct err *e)
{
	const char *sign = strchr(text, '=');
	uint32_t object[NETUSE_TERMS_MAX];
	char name[NAME_MAX_BYTES + 1];
	size_t n;
	int rc;

	if (!sign || sign == text || sign - text > NAME_MAX_BYTES)
		return err_set(e, ERR_INVALID, "--state is NAME=OBJECT+OBJECT");
	memcpy(name, text, (size_t)(sign - text));
	name[sign - text] = '\0';
	rc = netlog_objects(use, bytes_at(sign + 1, strlen(sign + 1)), object, &n, e);
	return rc ? rc : netuse_add_state(use, name, object, n, e);
}

static int declare(const struct netread_options *w, struct netuse *use, struct err *e)
{
	uint32_t object[NETUSE_TERMS_MAX];
	size_t n;
	int rc = 0;

	for (unsigned i = 0; i < w->inherit.n && !rc; i++) {
		const char *name = w->inherit.text[i];

		rc = netuse_object(use, name, strlen(name), &object[0], e);
		rc = rc ? rc : netuse_declare(use, object[0], NETUSE_INHERIT, e);
	}
	for (unsigned i = 0; i < w->state.n && !rc; i++)
		rc = declare_state(use, w->state.text[i], e);
	for (unsigned i = 0; i < w->member.n && !rc; i++) {
		const char *text = w->member.text[i];

		rc = netlog_objects(use, bytes_at(text, strlen(text)), object, &n, e);
		rc = rc ? rc : netuse_add_member(use, object, n, e);
	}
	return rc;
}

/* --- networks on their way out */

static int pass_on(struct netread *r, const struct netsplit_part *p)
{
	struct netread_one one = { *p, (const char *const *)r->node, r->nnode };

	r->report->interactions++;
	r->report->incomplete += p->outcome == NETSPLIT_INCOMPLETE;
	r->report->wrong += p->outcome == NETSPLIT_WRONG;
	progress_end(&r->progress);
	r->status = r->fn(r->arg, &one);
	return r->status == CMD_OK ? 0 : -ERR_CLOSED;
}

static int on_split(void *arg, const struct netsplit_part *given, struct err *e)
{
	struct netsplit_part p = *given;
	struct err why = { 0 };
	int rc = p.outcome == NETSPLIT_WHOLE ? network_build(p.w, &why) : 0;

	if (rc == -ERR_NOMEM)
		return err_nomem(e);
	if (rc) {
		p.outcome = NETSPLIT_WRONG;
		p.why = &why;
	}
	return pass_on(arg, &p);
}

static int on_network(void *arg, const char *name, struct network *w, struct err *e)
{
	struct netread *r = arg;
	struct netsplit_part p = { .name = name, .w = w };
	int rc = declare(r->options, w->use, e);

	rc = rc ? rc : network_build(w, e);
	p.outcome = rc == -ERR_NOTFOUND ? NETSPLIT_INCOMPLETE : NETSPLIT_WHOLE;
	return rc && rc != -ERR_NOTFOUND ? rc : pass_on(r, &p);
}

static int on_event(void *arg, const struct network_event *ev, struct err *e)
{
	struct netread *r = arg;

	return netsplit_add(r->split, ev, NULL, e);
}

static int on_node(void *arg, const char *name, uint32_t *out, struct err *e)
{
	struct netread *r = arg;
	void *known = smap_find(&r->nodes, name);
	int rc;

	*out = (uint32_t)((uintptr_t)known - 1);
	if (known)
		return 0;
	rc = array_grow(&r->node, &r->node_cap, r->nnode + 1, sizeof(*r->node), NODES_MAX);
	if (rc)
		return err_set(e, (enum err_code) - rc, "more than %d nodes", NODES_MAX);
	r->node[r->nnode] = str_dup(name);
	if (!r->node[r->nnode] ||
	    smap_put(&r->nodes, name, (void *)(uintptr_t)(r->nnode + 1), NULL)) {
		free(r->node[r->nnode]);
		return err_nomem(e);
	}
	*out = (uint32_t)r->nnode++;
	return 0;
}

/* --- clocks */

static int64_t on_time(void *arg, uint32_t node, int64_t t)
{
	struct netread *r = arg;

	logmerge_correct(r->options->clocks, r->node[node], &t);
	return t;
}

/* Reports which clocks were corrected, and by how much. */
static int report_clocks(const struct netread *r)
{
	const struct logmerge_clocks *c = r->options->clocks;
	char ahead[OPT_NSEC_BYTES];

	for (size_t i = 0; c && i < c->n; i++) {
		const struct logmerge_clock *x = &c->clock[i];

		if (!x->events)
			return cmd_fail(CMD_NOTFOUND, "--clock: no event is of node %s", x->node);
		cmd_warn("clock of %s: %" PRIu64 " events moved by %s%s", x->node, x->events,
			 x->ahead > 0 ? "-" : "+",
			 opt_from_nsec(ahead, x->ahead < 0 ? -x->ahead : x->ahead));
	}
	return CMD_OK;
}

/* --- JSON */

static int fill(void *arg, const uint8_t **p, size_t *n, struct err *e)
{
	struct netread *r = arg;
	uint64_t size = evfile_size(r->file);
	int rc = evfile_bytes(r->file, p, n, e);

	if (!rc)
		r->bytes += *n;
	if (!rc && progress_is_due(&r->progress) && size)
		progress_show(&r->progress, "%" PRIu64 " MB, %u %%", r->bytes >> 20,
			      (unsigned)(r->bytes * 100 / size));
	return rc;
}

static int blame(const struct netread *r, const struct err *e)
{
	const char *name = str_eq(r->path, "-") ? "standard input" : r->path;

	if (e->line && e->col)
		return cmd_fail(CMD_FAILURE, "%s:%u:%u: %s", name, e->line, e->col, e->text);
	if (e->line)
		return cmd_fail(CMD_FAILURE, "%s:%u: %s", name, e->line, e->text);
	return cmd_fail(CMD_FAILURE, "%s: %s", name, e->text);
}

static int read_json(void *arg, const char *path, struct evfile *f)
{
	struct netread *r = arg;
	struct netjson_taker to = { on_network, on_event, on_node,
				    r->options->clocks ? on_time : NULL, r };
	struct netjson_report report = { 0 };
	struct err e = { 0 };
	struct jsonread json;
	int rc;

	r->path = path;
	r->file = f;
	r->bytes = 0;
	progress_begin(&r->progress, r->options->log.is_quiet);
	jsonread_init(&json, fill, r);
	rc = netjson_read(&json, r->use, &to, &report, &e);
	jsonread_done(&json);
	progress_end(&r->progress);
	if (report.unknown_keys)
		cmd_warn("%s:%u: key '%s' is unknown and was ignored (%" PRIu64
			 " such keys in all)",
			 path, report.unknown_line, report.unknown_key, report.unknown_keys);
	if (r->status != CMD_OK)
		return r->status;
	return rc ? blame(r, &e) : CMD_OK;
}

/* --- event logs */

static void complain(struct netread *r, const struct event *ev, const struct err *e)
{
	if (++r->bad <= WRONG_SHOWN)
		cmd_warn("event %" PRIu64 " (%s): %s", ev->number + 1, ev->type->name, e->text);
}

/* With --request outside, bytes that nothing recorded has written begin an interaction. */
static bool is_outside(const struct netread *r)
{
	return r->options->request && str_eq(r->options->request, "outside") &&
	       r->thread.event.kind == NETWEAVE_READ && r->thread.event.is_unsent;
}

/* Returns 1: the event is sorted and read again. */
static int classify(struct netread *r, const struct event *ev, const char **node, struct err *e)
{
	int got = netlog_vertex(&r->log, r->use, ev, e);

	*node = r->log.node;
	if (got) {
		r->sources += got == 1 && r->log.vertex.kind == NETWORK_SOURCE;
		return got;
	}
	got = netthread_read(&r->thread, ev, e);
	*node = r->thread.node;
	if (got == 1) {
		r->recorded += netthread_is_recorded(&r->thread);
		r->begun += r->thread.event.kind == NETWEAVE_BEGIN || is_outside(r);
		r->report->other_events += !netthread_is_recorded(&r->thread);
	}
	return got;
}

/* Declarations count at once, vertices after the sort. */
static int take(void *arg, const struct event *ev)
{
	struct netread *r = arg;
	struct event moved = *ev;
	struct err e = { 0 };
	const char *node = "";
	int got = netlog_declare(r->use, ev, &e);

	if (got == 1)
		return CMD_OK;
	if (!got)
		got = classify(r, ev, &node, &e);
	if (got == -ERR_NOMEM || got == -ERR_LIMIT)
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	if (got < 0)
		complain(r, ev, &e);
	r->report->other_events += !got;
	if (got != 1)
		return CMD_OK;
	r->sorted++;
	if (r->options->clocks && *node)
		logmerge_correct(r->options->clocks, node, &moved.wall_ns);
	return evsort_put(r->sort, &moved, &e) ? cmd_fail(CMD_FAILURE, "%s", e.text) : CMD_OK;
}

/* --- messages of programs */

static int on_woven(void *arg, const struct network_event *ev, const char *name, struct err *e)
{
	struct netread *r = arg;

	return netsplit_add(r->split, ev, name, e);
}

static int open_weave(struct netread *r)
{
	const struct netread_options *w = r->options;
	const char *at = w->step ? w->step : w->request;
	enum netweave_mode mode = w->step		     ? NETWEAVE_STEP
				  : w->request || r->sources ? NETWEAVE_REQUEST
							     : NETWEAVE_ALL;

	if (at && !r->begun)
		return cmd_fail(CMD_NOTFOUND, "no event of the log begins '%s'", at);
	if (!at && !r->recorded)
		return CMD_OK;
	r->weave = netweave_new(r->use, mode, on_woven, r);
	return r->weave ? CMD_OK : cmd_fail(CMD_FAILURE, "out of memory");
}

static int weave(struct netread *r, struct err *e)
{
	struct netthread *t = &r->thread;
	int rc = *t->node ? on_node(r, t->node, &t->thread.node, e) : 0;

	if (!*t->node)
		t->thread.node = NETWORK_NONE;
	return rc ? rc : netweave_add(r->weave, &t->thread, &t->event, e);
}

/* A vertex of the program names the sub-task for which its thread works. */
static int weave_vertex(struct netread *r, const struct event *ev, struct err *e)
{
	const struct network_event *v = &r->log.vertex;

	netthread_find(&r->thread, ev);
	r->thread.event = (struct netweave_event){ .kind = NETWEAVE_VERTEX,
						   .t = ev->wall_ns,
						   .vertex = v->kind,
						   .id = v->task,
						   .other = v->other };
	return weave(r, e);
}

static int add_sorted(struct netread *r, const struct event *ev, struct err *e)
{
	struct netlog *l = &r->log;
	int got = netlog_vertex(l, r->use, ev, e), rc;

	if (got < 0)
		return got;
	if (!got) {
		got = r->weave ? netthread_read(&r->thread, ev, e) : 0;
		return got == 1 ? weave(r, e) : got;
	}
	rc = *l->node ? on_node(r, l->node, &l->vertex.node, e) : 0;
	rc = rc ? rc : netsplit_add(r->split, &l->vertex, l->interaction, e);
	return rc || !r->weave ? rc : weave_vertex(r, ev, e);
}

static int end_weave(struct netread *r, struct err *e)
{
	int rc = r->weave ? netweave_end(r->weave, e) : 0;

	if (r->weave)
		r->report->woven = *netweave_report(r->weave);
	return rc ? rc : netsplit_end(r->split, e);
}

static int split_sorted(struct netread *r)
{
	struct err e = { 0 };
	struct event ev;
	int got = 1, rc = open_weave(r);

	if (rc != CMD_OK)
		return rc;
	while (!rc && (got = evsort_next(r->sort, &ev, &e)) == 1)
		rc = add_sorted(r, &ev, &e);
	rc = rc ? rc : got < 0 ? got : end_weave(r, &e);
	if (r->status != CMD_OK)
		return r->status;
	return rc ? cmd_fail(CMD_FAILURE, "%s", e.text) : CMD_OK;
}

/* --- all of it */

/* Each line is a reason why a network lacks a part of the actions of the program. */
static void report_woven(const struct netweave_report *w)
{
	if (w->unsent)
		cmd_warn("%" PRIu64 " of %" PRIu64
			 " receives: their sends are not in the log, and join nothing",
			 w->unsent, w->receives);
	if (w->unreceived)
		cmd_warn("%" PRIu64 " of %" PRIu64
			 " sends: their receives are not in the log; these messages end at once",
			 w->unreceived, w->sends);
	if (w->outside)
		cmd_warn("%" PRIu64
			 " reads got bytes from outside: nothing that is recorded wrote them",
			 w->outside);
	if (w->unseen)
		cmd_warn("%" PRIu64 " processes have ended without a record: killed, or not seen",
			 w->unseen);
	if (w->partial)
		cmd_warn("%" PRIu64 " collective calls lack events of some of their ranks",
			 w->partial);
	if (w->uncertain)
		cmd_warn("%" PRIu64 " receives and collective calls are uncertain: another %s",
			 w->uncertain, "message may have the id");
}

static int read_all(struct netread *r, char **files)
{
	struct logread_options log = r->options->log;
	struct err e = { 0 };
	int rc, end;

	log.json = read_json;
	log.json_arg = r;
	if (declare(r->options, r->use, &e))
		return cmd_fail(CMD_USAGE, "%s", e.text);
	rc = logread_files(&log, files, take, r);
	if (rc != CMD_OK && rc != CMD_DAMAGED)
		return rc;
	end = split_sorted(r);
	end = end == CMD_OK ? report_clocks(r) : end;
	if (end != CMD_OK)
		return end;
	report_woven(&r->report->woven);
	r->report->repeated = netsplit_report(r->split)->repeated;
	if (r->bad)
		cmd_warn("%" PRIu64 " events have the name of a vertex, but not its fields",
			 r->bad);
	if (!r->report->interactions)
		return cmd_fail(CMD_FAILURE, "no interaction in %" PRIu64 " events",
				r->report->other_events);
	return r->bad || rc != CMD_OK ? CMD_DAMAGED : CMD_OK;
}

static void done(struct netread *r)
{
	netweave_free(r->weave);
	netthread_done(&r->thread);
	netsplit_free(r->split);
	evsort_free(r->sort);
	netuse_free(r->use);
	for (size_t i = 0; i < r->nnode; i++)
		free(r->node[i]);
	free(r->node);
	smap_done(&r->nodes);
	free(r);
}

int netread_files(const struct netread_options *w, char **files, netread_fn fn, void *arg,
		  struct netread_report *report)
{
	struct netread *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return cmd_fail(CMD_FAILURE, "out of memory");
	*r = (struct netread){ .options = w, .fn = fn, .arg = arg, .report = report };
	*report = (struct netread_report){ 0 };
	smap_init(&r->nodes);
	netthread_init(&r->thread, w->step ? w->step : w->request);
	r->use = netuse_new();
	r->split = r->use ? netsplit_new(r->use, NETSPLIT_VERTICES_MAX, on_split, r) : NULL;
	r->sort = evsort_new(NULL, EVSORT_MEMORY_BYTES);
	rc = r->split && r->sort ? read_all(r, files) : cmd_fail(CMD_FAILURE, "out of memory");
	done(r);
	if (rc == CMD_OK &&
	    (report->incomplete || report->wrong || report->woven.unsent || report->woven.partial))
		rc = CMD_PARTIAL;
	return rc;
}

bool netread_has_result(int status)
{
	return status == CMD_OK || status == CMD_DAMAGED || status == CMD_PARTIAL;
}

bool netread_is_chosen(const struct netread_one *one, const char *only)
{
	return !only || str_eq(only, one->part.name);
}

int netread_fail_none(const char *only)
{
	return cmd_fail(CMD_NOTFOUND, "there is no interaction '%s'", only);
}
