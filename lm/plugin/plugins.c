/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/plugin/plugins.h"

#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/store/store.h"
#include "lm/helper/helper.h"
#include "lm/plugin/plugin_file.h"

#include <stdlib.h>
#include <string.h>

#define SWEEP_NS NSEC_PER_SEC
#define FILE_MAX_BYTES (PLUGINS_MAX * 4096) /* a path each */

struct plugins {
	struct plugins_conf conf;
	struct list all, removed; /* removed ones stay until their processes are reaped */
	struct loop_timer *sweep;
	struct store store;
};

static const struct store_kind kind = {
	.what = "plugins", .version = 1, .max_bytes = FILE_MAX_BYTES, .is_expendable = true
};

/* --- one plug-in */

static void drop_services(struct plugin *p)
{
	while (p->nservice)
		added_service_free(p->service[--p->nservice]);
}

static void plugin_free(struct plugin *p)
{
	list_del(&p->link);
	helper_ask_forget(p->asking);
	helper_free(p->helper);
	drop_services(p);
	buf_done(&p->about);
	free(p->path);
	free(p->name);
	free(p->summary);
	free(p);
}

static void wake(struct plugin *p)
{
	while (!list_is_empty(&p->waiting)) {
		struct plugin_wait *w = list_entry(p->waiting.next, struct plugin_wait, link);

		list_del(&w->link);
		if (!p->is_known) {
			w->plugin = NULL;
			w->e = p->last;
		}
		w->fn(w->arg);
	}
}

void plugin_wait(struct plugin *p, struct plugin_wait *w)
{
	w->plugin = p;
	list_push_back(&p->waiting, &w->link);
}

void plugin_unwait(struct plugin_wait *w)
{
	list_del(&w->link);
}

static void remember(struct plugin *p, const struct err *e)
{
	p->last = *e;
	p->last.code = e->code ? e->code : ERR_SYS;
}

static nsec_t backoff(unsigned row)
{
	nsec_t pause = PLUGIN_BACKOFF_MIN_NS;

	for (unsigned i = 1; i < row && pause < PLUGIN_BACKOFF_MAX_NS; i++)
		pause *= 2;
	return pause < PLUGIN_BACKOFF_MAX_NS ? pause : PLUGIN_BACKOFF_MAX_NS;
}

/* The process has ended by itself, by a fault, or because it was killed. */
static void on_lost(void *arg)
{
	struct plugin *p = arg;

	p->ends++;
	p->row++;
	p->not_before = loop_now(p->owner->conf.loop) + backoff(p->row);
}

enum plugin_state plugin_state(const struct plugin *p)
{
	if (p->asking)
		return PLUGIN_STARTING;
	if (!p->is_known)
		return PLUGIN_FAILED;
	return helper_pid(p->helper) ? PLUGIN_READY : PLUGIN_WAITING;
}

bool plugin_may_call(const struct plugin *p, struct err *e)
{
	nsec_t left = p->not_before - loop_now(p->owner->conf.loop);

	if (!p->row || left <= 0)
		return true;
	err_set(e, ERR_AGAIN,
		"the process of plug-in %s has ended (%u in a row); a call in %.1f s starts it again",
		p->name, p->row, (double)left * 1e-9);
	return false;
}

void plugin_succeeded(struct plugin *p)
{
	p->calls++;
	p->row = 0;
}

void plugin_failed(struct plugin *p, const struct err *e)
{
	p->calls++;
	p->errors++;
	remember(p, e);
}

/* --- what it offers */

static const struct plugin *find_name(const struct plugins *all, const char *name)
{
	list_each (i, &all->all)
		if (str_eq(list_entry(i, struct plugin, link)->name, name))
			return list_entry(i, struct plugin, link);
	return NULL;
}

static int check_service(const struct plugin *p, const struct added_service *a, struct err *e)
{
	const struct added_service *same;
	const struct plugin *other = plugins_find(p->owner, a->s.name, &same);

	if (other)
		return err_set(e, ERR_INVALID, "plug-in %s (%s) has a service %s already",
			       other->name, other->path, a->s.name);
	if (!str_eq(a->spec.plugin, p->name))
		return err_set(e, ERR_PROTO, "%s is not of plug-in %s", a->s.name, p->name);
	return p->nservice < PLUGIN_SERVICES_MAX
		       ? 0
		       : err_set(e, ERR_LIMIT, "more than %d services", PLUGIN_SERVICES_MAX);
}

static int take_service(struct plugin *p, const char *line, size_t n, struct err *e)
{
	struct added_service *a = NULL;
	int rc = added_service_read(line, n, &a, e);

	if (!rc)
		rc = check_service(p, a, e);
	if (rc)
		added_service_free(a);
	else
		p->service[p->nservice++] = a;
	return rc;
}

/* On failure the former ones stay. */
static int set_names(struct plugin *p, const char *name, const char *summary, struct err *e)
{
	char *own_name = str_dup(name), *own_summary = str_dup(summary);

	if (!own_name || !own_summary) {
		free(own_name);
		free(own_summary);
		return err_nomem(e);
	}
	free(p->name);
	free(p->summary);
	p->name = own_name;
	p->summary = own_summary;
	return 0;
}

static int take_head(struct plugin *p, const char *line, size_t n, struct err *e)
{
	struct omis_values *v = NULL;
	int rc = omis_parse_values(line, n, &v, e);
	const char *name = rc ? NULL : omis_values_text(v, 0);
	const char *summary = rc ? NULL : omis_values_text(v, 1);
	const struct plugin *other = name ? find_name(p->owner, name) : NULL;

	if (!rc && (!name || !summary || !name[0]))
		rc = err_set(e, ERR_PROTO, "it has no name");
	if (!rc && other)
		rc = err_set(e, ERR_INVALID,
			     "%s is the name of %s already: omig plugin remove %s first", name,
			     other->path, name);
	if (!rc)
		rc = set_names(p, name, summary, e);
	omis_values_free(v);
	return rc;
}

static int check_room(const struct plugins *all, struct err *e)
{
	struct buf b = BUF_INIT(PLUGIN_TEXT_MAX_BYTES);
	int rc = 0;

	plugins_write(all, &b);
	if (b.failed)
		rc = err_set(e, ERR_LIMIT,
			     "the definitions of all plug-ins have more than %d bytes",
			     PLUGIN_TEXT_MAX_BYTES);
	buf_done(&b);
	return rc;
}

static int take_about(struct plugin *p, struct err *e)
{
	const char *at = (const char *)p->about.p, *end = at + p->about.n;
	int rc = p->about.failed ? err_set(e, ERR_LIMIT, "its definitions are too long") : 0;

	for (bool is_head = true; !rc && at < end; is_head = false) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((stop ? stop : end) - at);

		rc = is_head ? take_head(p, at, n, e) : take_service(p, at, n, e);
		at += n + 1;
	}
	if (!rc && !p->nservice)
		rc = err_set(e, ERR_INVALID, "it has no services");
	return rc ? rc : check_room(p->owner, e);
}

static void refuse(struct plugin *p, const struct err *e)
{
	remember(p, e);
	drop_services(p);
	helper_stop(p->helper, e->text);
	if (p->name[0])
		p->name[0] = 0; /* another one may have it */
	log_warn("lm", "plug-in not loaded path=%s reason=\"%s\"", p->path, e->text);
}

static void on_about(void *arg, const struct tracer_msg *m)
{
	struct plugin *p = arg;
	struct err e = { 0 };
	int rc = 0;

	if (m->type == TRACER_BYTES) {
		buf_put(&p->about, m->bytes, m->nbytes);
		if (m->what)
			return;
		rc = take_about(p, &e);
	} else {
		rc = err_set(&e, m->type == TRACER_FAILED ? (enum err_code)m->what : ERR_PROTO,
			     "%s", m->ntext ? m->text[0] : "it answers something else");
	}
	p->asking = NULL;
	buf_done(&p->about);
	p->is_known = !rc;
	if (rc) {
		refuse(p, &e);
	} else {
		p->row = 0;
		log_notice("lm", "plug-in loaded name=%s path=%s services=%zu", p->name, p->path,
			   p->nservice);
		p->owner->conf.on_change(p->owner->conf.arg);
	}
	wake(p);
}

static int start(struct plugin *p, struct err *e)
{
	static const struct tracer_msg about = { .type = TRACER_PLUGIN_ABOUT };
	const struct plugins_conf *c = &p->owner->conf;

	buf_init(&p->about, PLUGIN_TEXT_MAX_BYTES);
	p->helper = helper_new(&(struct helper_conf){
		.loop = c->loop,
		.program = c->program,
		.argument = p->path,
		.sent_max = 1,
		.answer_max = PLUGIN_ANSWER_MAX_NS,
		.fails_waiting = true,
		.ended = "the process of the plug-in has ended: a fault, or by itself",
		.hangs = "the plug-in did not answer within 1.5 s, so its process was ended" });
	if (!p->helper)
		return err_nomem(e);
	helper_listen(p->helper, &(struct helper_listener){ .on_lost = on_lost, .arg = p });
	helper_keep(p->helper, 1); /* it may have state: it never ends for idleness */
	p->on.look = p->helper;
	return helper_ask(p->helper, &about, &(struct helper_reply){ on_about, p }, &p->asking, e);
}

static struct plugin *plugin_new(struct plugins *all, const char *path)
{
	struct plugin *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->owner = all;
	list_init(&p->link);
	list_init(&p->waiting);
	p->path = str_dup(path);
	p->name = str_dup("");
	p->summary = str_dup("");
	if (p->path && p->name && p->summary)
		return p;
	plugin_free(p);
	return NULL;
}

/* --- all of them */

/* Calls of a removed plug-in have ended with its helper, so only the helper is awaited. */
static void on_sweep(void *arg)
{
	struct plugins *all = arg;

	list_each_safe (i, &all->removed) {
		struct plugin *p = list_entry(i, struct plugin, link);

		if (helper_has_ended(p->helper))
			plugin_free(p);
	}
	if (!list_is_empty(&all->removed))
		loop_timer_arm(all->sweep, SWEEP_NS);
}

struct plugins *plugins_new(const struct plugins_conf *c)
{
	struct plugins *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->conf = *c;
	list_init(&all->all);
	list_init(&all->removed);
	all->store = STORE_INIT(&kind, c->disk, c->file);
	all->sweep = loop_timer_new(c->loop, on_sweep, all);
	if (all->sweep)
		return all;
	plugins_free(all);
	return NULL;
}

void plugins_free(struct plugins *all)
{
	if (!all)
		return;
	list_each_safe (i, &all->all)
		plugin_free(list_entry(i, struct plugin, link));
	list_each_safe (i, &all->removed)
		plugin_free(list_entry(i, struct plugin, link));
	loop_timer_free(all->sweep);
	free(all);
}

const struct list *plugins_all(const struct plugins *all)
{
	return &all->all;
}

static struct plugin *find_path(const struct plugins *all, const char *path, size_t *n)
{
	struct plugin *found = NULL;

	*n = 0;
	list_each (i, &all->all) {
		struct plugin *p = list_entry(i, struct plugin, link);

		++*n;
		if (str_eq(p->path, path))
			found = p;
	}
	return found;
}

int plugins_add(struct plugins *all, const char *path, struct plugin **out, struct err *e)
{
	size_t n;
	struct plugin *p = find_path(all, path, &n);
	bool was_stored;
	int rc = plugin_file_check(path, e);

	if (rc)
		return rc;
	*out = p;
	if (p && plugin_state(p) != PLUGIN_FAILED)
		return 0;
	if (!p && n >= PLUGINS_MAX)
		return err_set(e, ERR_LIMIT, "this lm has %d plug-ins already", PLUGINS_MAX);
	was_stored = p && p->is_stored;
	if (p)
		plugin_drop(p);
	p = plugin_new(all, path);
	if (!p)
		return err_nomem(e);
	p->is_stored = was_stored;
	list_push_back(&all->all, &p->link);
	rc = start(p, e);
	if (rc)
		plugin_free(p);
	else
		*out = p;
	return rc;
}

static int save(struct plugins *all, struct err *e)
{
	struct buf b = BUF_INIT(FILE_MAX_BYTES);
	int rc;

	if (!all->conf.file)
		return 0;
	list_each (i, &all->all)
		if (list_entry(i, struct plugin, link)->is_stored)
			buf_printf(&b, "%s\n", list_entry(i, struct plugin, link)->path);
	rc = store_write(&all->store, &b, e);
	buf_done(&b);
	return rc;
}

int plugin_store(struct plugin *p, struct err *e)
{
	p->is_stored = true;
	return save(p->owner, e);
}

void plugin_drop(struct plugin *p)
{
	list_del(&p->link);
	list_push_back(&p->owner->removed, &p->link);
	p->is_known = false;
	drop_services(p);
	helper_ask_forget(p->asking);
	p->asking = NULL;
	helper_stop(p->helper, "the plug-in was removed");
	wake(p);
	loop_timer_arm(p->owner->sweep, SWEEP_NS);
}

int plugins_remove(struct plugins *all, const char *name, struct err *e)
{
	struct plugin *found = NULL;

	list_each (i, &all->all) {
		struct plugin *p = list_entry(i, struct plugin, link);

		if (str_eq(p->name, name) || str_eq(p->path, name))
			found = p;
	}
	if (!found)
		return err_set(e, ERR_NOTFOUND, "there is no plug-in %.80s", name);
	plugin_drop(found);
	all->conf.on_change(all->conf.arg);
	return save(all, e);
}

struct plugin *plugins_find(struct plugins *all, const char *service,
			    const struct added_service **out)
{
	list_each (i, &all->all) {
		struct plugin *p = list_entry(i, struct plugin, link);

		for (size_t k = 0; k < p->nservice; k++)
			if (str_eq(p->service[k]->s.name, service)) {
				*out = p->service[k];
				return p;
			}
	}
	return NULL;
}

void plugins_write(const struct plugins *all, struct buf *b)
{
	list_each (i, &all->all) {
		const struct plugin *p = list_entry(i, struct plugin, link);

		for (size_t k = 0; k < p->nservice; k++)
			added_service_write(b, p->service[k]);
	}
}

/* --- those that are there at the start */

static struct plugin *load(struct plugins *all, const char *path)
{
	struct plugin *p = NULL;
	struct err e = { 0 };

	if (plugins_add(all, path, &p, &e)) {
		log_warn("lm", "plug-in not loaded path=%s reason=\"%s\"", path, e.text);
		return NULL;
	}
	return p;
}

static int load_line(void *arg, char *line, struct err *e)
{
	struct plugin *p = load(arg, line);

	if (p)
		p->is_stored = true;
	return 0;
}

static void load_list(struct plugins *all, const char *list)
{
	char *words = str_dup(list), *rest = words, *path;

	while (words && (path = strtok_r(rest, " \t", &rest)))
		load(all, path);
	free(words);
}

void plugins_load(struct plugins *all, const char *list)
{
	struct err e = { 0 };

	load_list(all, list ? list : "");
	if (all->conf.file && store_read_lines(&all->store, load_line, all, &e))
		log_warn("lm", "the list of plug-ins cannot be read reason=\"%s\"", e.text);
}
