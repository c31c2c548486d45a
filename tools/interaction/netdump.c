/* SPDX-License-Identifier: Apache-2.0 */
/* Networks as events of a log, which omig interaction reads back; and as pictures. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "interaction/picture/netpicture.h"
#include "tools/events/logwrite.h"
#include "tools/interaction/netfiles.h"
#include "tools/interaction/netshow.h"
#include "tools/term/outfile.h"
#include "tools/term/say.h"

#include <inttypes.h>
#include <string.h>

#define FIELDS 10
#define USES_MAX_BYTES 60000 /* bytes of the uses of an event: a record has 64 KB */

/* The event of a vertex. */
struct draft {
	struct evfield field[FIELDS];
	struct evvalue value[FIELDS];
	unsigned n;
	struct buf use, child_use;
	char name[64], vertex[NETWORK_NAME_BYTES];
};

static void put_text(struct draft *d, const char *field, const char *text)
{
	d->field[d->n] = (struct evfield){ field, EV_STRING };
	d->value[d->n++] =
		(struct evvalue){ .kind = EV_STRING, .n = (uint32_t)strlen(text), .s = text };
}

static void put_number(struct draft *d, const char *field, uint64_t v)
{
	d->field[d->n] = (struct evfield){ field, EV_INT64 };
	d->value[d->n++] = (struct evvalue){ .kind = EV_INT64, .i64 = (int64_t)v };
}

static void put_uses(struct draft *d, const struct network *w, const struct network_vertex *v)
{
	for (uint32_t i = 0; i < v->nops; i++) {
		const struct network_use *op = &w->op[v->ops + i];
		struct buf *to = op->is_child ? &d->child_use : &d->use;

		buf_printf(to, "%s%c%s", to->n ? " " : "", op->is_end ? '-' : '+',
			   netuse_object_name(w->use, op->object));
	}
	if (d->use.n)
		put_text(d, "use", buf_str(&d->use));
	if (d->child_use.n)
		put_text(d, "child_use", buf_str(&d->child_use));
}

static void make(struct draft *d, const struct netread_one *one, uint32_t at)
{
	const struct network *w = one->part.w;
	const struct network_vertex *v = &w->v[at];

	d->n = 0;
	buf_clear(&d->use);
	buf_clear(&d->child_use);
	snprintf(d->name, sizeof(d->name), "interaction.%s",
		 network_kind_name((enum network_kind)v->kind));
	put_text(d, "v", network_name(w, at, d->vertex));
	put_number(d, "st", network_id(w, v->task));
	if (v->kind == NETWORK_FORK) {
		put_number(d, "new", network_id(w, v->other));
		put_text(d, "via", v->is_message ? "message" : "thread");
	} else if (v->kind == NETWORK_JOIN) {
		put_number(d, "with", network_id(w, v->other));
	} else if (v->kind == NETWORK_SOURCE && *one->part.name) {
		put_text(d, "i", one->part.name);
	}
	if (v->node != NETWORK_NONE)
		put_text(d, "node", one->node[v->node]);
	put_uses(d, w, v);
	if (v->blocks)
		put_number(d, "blocks", 1);
}

struct dump {
	const struct netfiles_options *options;
	const struct netuse *declared; /* whose declarations are written */
	struct logwrite *to;
	struct draft draft;
	uint64_t n, events;
};

static int write_vertex(struct dump *d, const struct netread_one *one, uint32_t at)
{
	struct evtype type = { .field = d->draft.field };
	struct event ev = { .type = &type, .value = d->draft.value };

	make(&d->draft, one, at);
	if (d->draft.use.failed || d->draft.child_use.failed)
		return cmd_fail(CMD_FAILURE, "too many uses at one vertex");
	type.name = d->draft.name;
	type.nfield = d->draft.n;
	ev.wall_ns = one->part.w->v[at].t;
	ev.ticks = (uint64_t)ev.wall_ns;
	ev.number = d->events++;
	return logwrite_event(d->to, &ev);
}

static int write_declaration(struct dump *d, const char *word, int64_t t)
{
	struct evtype type = { .name = word, .nfield = d->draft.n, .field = d->draft.field };
	struct event ev = { .type = &type,
			    .value = d->draft.value,
			    .wall_ns = t,
			    .ticks = (uint64_t)t,
			    .number = d->events++ };

	return logwrite_event(d->to, &ev);
}

/* "db net"; a list of NETUSE_TERMS_MAX names fits into a record. */
static void put_objects(struct draft *d, const struct netuse *u, const uint32_t *object, size_t n)
{
	buf_clear(&d->use);
	for (size_t i = 0; i < n; i++)
		buf_printf(&d->use, "%s%s", i ? " " : "", netuse_object_name(u, object[i]));
	put_text(d, "objects", buf_str(&d->use));
}

/* Classes, states and alternatives, once for all networks that share them. */
static int write_declarations(struct dump *d, const struct network *w)
{
	const struct netuse *u = w->use;
	int64_t t = w->n ? w->v[0].t : 0;
	int status = CMD_OK;
	size_t n;

	d->declared = u;
	for (unsigned i = 0; i < netuse_objects(u) && status == CMD_OK; i++) {
		if (!netuse_is_declared(u, i))
			continue;
		d->draft.n = 0;
		put_text(&d->draft, "name", netuse_object_name(u, i));
		put_text(&d->draft, "class",
			 netuse_object_class(u, i) == NETUSE_INHERIT ? "inherit" : "local");
		status = write_declaration(d, "interaction.object", t);
	}
	for (unsigned i = 0; i < netuse_states(u) && status == CMD_OK; i++) {
		const uint32_t *object = netuse_state_objects(u, i, &n);

		d->draft.n = 0;
		put_text(&d->draft, "name", netuse_state_name(u, i));
		put_objects(&d->draft, u, object, n);
		status = write_declaration(d, "interaction.state", t);
	}
	for (unsigned i = 0; i < netuse_members(u) && status == CMD_OK; i++) {
		const uint32_t *object = netuse_member_objects(u, i, &n);

		d->draft.n = 0;
		put_objects(&d->draft, u, object, n);
		status = write_declaration(d, "interaction.member", t);
	}
	return status;
}

static int take_dump(void *arg, const struct netread_one *one)
{
	struct dump *d = arg;
	int status = CMD_OK;

	if (!netread_is_chosen(one, d->options->only))
		return CMD_OK;
	d->n++;
	if (d->declared != one->part.w->use)
		status = write_declarations(d, one->part.w);
	for (uint32_t i = 0; i < one->part.w->n && status == CMD_OK; i++)
		status = write_vertex(d, one, i);
	return status;
}

int netfiles_dump(const struct netfiles_options *w, char **files)
{
	struct dump d = { .options = w };
	struct netread_report report;
	int status = logwrite_open(w->to ? w->to : "bp", w->output, &d.to), end;

	if (status != CMD_OK)
		return status;
	buf_init(&d.draft.use, USES_MAX_BYTES);
	buf_init(&d.draft.child_use, USES_MAX_BYTES);
	status = netread_files(&w->read, files, take_dump, &d, &report);
	if (netread_has_result(status)) {
		end = logwrite_finish(d.to);
		status = end != CMD_OK ? end : status;
		if (!d.n && w->only)
			status = netread_fail_none(w->only);
	}
	logwrite_close(d.to);
	buf_done(&d.draft.use);
	buf_done(&d.draft.child_use);
	return status;
}

/* --- pictures */

static const struct form {
	const char *name, *end;
	int (*draw)(struct buf *out, const struct netpicture *p, struct err *e);
} forms[] = {
	{ "svg", ".svg", netpicture_svg },	  { "html", ".html", netpicture_html },
	{ "dot", ".dot", netpicture_dot },	  { "dot", ".gv", netpicture_dot },
	{ "chrome", ".json", netpicture_chrome }, { "otlp", ".otlp", netpicture_otlp },
};

struct drawing {
	const struct netfiles_options *options;
	const struct form *form;
	struct buf out;
	uint64_t n;
};

/* Finds the form by the option, else by the name of the file. */
static const struct form *find_form(const struct netfiles_options *w)
{
	size_t n = w->output ? strlen(w->output) : 0;

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		size_t len = strlen(forms[i].end);

		if (w->to ? str_eq(w->to, forms[i].name)
			  : n > len && str_eq(w->output + n - len, forms[i].end))
			return &forms[i];
	}
	return w->to || w->output ? NULL : &forms[0];
}

static int draw(struct drawing *d, const struct netread_one *one, const struct netanalysis *a)
{
	struct buf words = BUF_INIT(1u << 20);
	struct netpicture p = { .name = one->part.name,
				.w = one->part.w,
				.a = a,
				.node = one->node,
				.is_equal = d->options->is_equal };
	struct err e = { 0 };
	int rc = netshow_verdict(&words, one->part.name, one->part.w, a);

	p.words = buf_str(&words);
	rc = rc ? err_nomem(&e) : d->form->draw(&d->out, &p, &e);
	buf_done(&words);
	return rc ? cmd_fail(CMD_FAILURE, "%s", e.text) : CMD_OK;
}

static int take_drawing(void *arg, const struct netread_one *one)
{
	struct drawing *d = arg;
	struct netanalysis a;
	struct err e = { 0 };
	int status;

	if (one->part.outcome != NETSPLIT_WHOLE || !netread_is_chosen(one, d->options->only))
		return CMD_OK;
	if (d->n++)
		return cmd_fail(CMD_USAGE, "several interactions: --only NAME chooses one");
	if (netanalysis_run(one->part.w, &a, &e))
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	status = draw(d, one, &a);
	netanalysis_done(&a);
	return status;
}

int netfiles_draw(const struct netfiles_options *w, char **files)
{
	struct drawing d = { .options = w,
			     .form = find_form(w),
			     .out = BUF_INIT(NETPICTURE_MAX_BYTES) };
	struct netread_report report;
	int status, end;

	if (!d.form)
		return cmd_fail(CMD_USAGE, "a picture is svg, html, dot, chrome or otlp: --to, or "
					   "a file in .svg, .html, .dot, .json, .otlp");
	status = netread_files(&w->read, files, take_drawing, &d, &report);
	if (netread_has_result(status)) {
		end = d.n ? outfile_write(w->output, &d.out)
			  : cmd_fail(CMD_NOTFOUND, "there is no such interaction that is whole");
		status = end != CMD_OK ? end : status;
	}
	buf_done(&d.out);
	return status;
}
