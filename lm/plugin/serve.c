/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/plugin/serve.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/services/added.h"

#include <dlfcn.h>
#include <string.h>

#define LISTS_MAX 8 /* of a result, within each other: below OMIS_DEPTH_MAX */

/* --- loading */

int serve_load(const char *path, const struct omig_plugin **out, struct err *e)
{
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct omig_plugin *p = so ? dlsym(so, "omig_plugin") : NULL;
	char why[ERR_TEXT_BYTES / 2] = "";

	if (!so)
		return err_set(e, ERR_INVALID, "it cannot be loaded: %s", dlerror());
	if (!p)
		return err_set(e, ERR_INVALID,
			       "%s has no symbol omig_plugin: it is not a plug-in of Omig", path);
	if (p->version != OMIG_PLUGIN_VERSION)
		return err_set(e, ERR_INVALID,
			       "%s is made for version %u of plug-ins, this lm has version %d: "
			       "compile it again",
			       path, p->version, OMIG_PLUGIN_VERSION);
	if (!p->name || !p->services)
		return err_set(e, ERR_INVALID, "%s has no name or no services", path);
	if (p->open && p->open(why, sizeof(why)))
		return err_set(e, ERR_SYS, "it refused to open: %s",
			       why[0] ? why : "without a reason");
	*out = p;
	return 0;
}

static const char *text_of(const char *s)
{
	return s ? s : "";
}

static enum added_metric metric_of(unsigned flags)
{
	return flags & OMIG_PLUGIN_COUNTER ? ADDED_COUNTER
	       : flags & OMIG_PLUGIN_VALUE ? ADDED_VALUE
					   : ADDED_NO_METRIC;
}

static int write_service(const struct omig_plugin *p, const struct omig_plugin_service *s,
			 struct buf *out, struct err *e)
{
	struct added_service *a = NULL;
	int rc = added_service_new(
		&(struct added_spec){ .name = s->name,
				      .plugin = p->name,
				      .params = text_of(s->parameters),
				      .result = text_of(s->result),
				      .help = text_of(s->help),
				      .changes = s->flags & OMIG_PLUGIN_CHANGES,
				      .of_processes = s->flags & OMIG_PLUGIN_OF_PROCESSES,
				      .metric = metric_of(s->flags) },
		&a, e);

	if (!rc && !s->serve)
		rc = err_set(e, ERR_INVALID, "%s has no function", s->name);
	if (!rc)
		added_service_write(out, a);
	added_service_free(a);
	return rc;
}

int serve_about(const struct omig_plugin *p, struct buf *out, struct err *e)
{
	struct omis_writer w = OMIS_WRITER(out);
	int rc = 0;

	omis_write_string(&w, p->name);
	omis_write_string(&w, text_of(p->summary));
	buf_putc(out, '\n');
	for (size_t i = 0; !rc && p->services[i].name; i++)
		rc = i < PLUGIN_SERVICES_MAX ? write_service(p, &p->services[i], out, e)
					     : err_set(e, ERR_LIMIT, "it has more than %d services",
						       PLUGIN_SERVICES_MAX);
	if (!rc && out->failed)
		rc = err_set(e, ERR_LIMIT, "its definitions have more than %d bytes",
			     PLUGIN_TEXT_MAX_BYTES);
	return rc;
}

/* --- one call: what its functions may ask and add */

struct serving {
	struct omig_plugin_call head;
	const struct omis_values *in;
	int32_t pid;
	struct omis_writer w;
	unsigned lists; /* open ones */
	bool is_wrong; /* lists that do not match */
	char why[ERR_TEXT_BYTES / 2];
};

/* clang-format off */
static struct serving *of(const struct omig_plugin_call *c)
{
	return (struct serving *)(uintptr_t)c; /* the first member */
}
/* clang-format on */

static const struct omis_value *find(const struct omig_plugin_call *c, unsigned i, size_t k)
{
	const struct omis_values *in = of(c)->in;

	if (i >= in->n)
		return NULL;
	if (in->v[i].kind == OMIS_LIST)
		return k < in->v[i].list.n ? &in->v[i].list.v[k] : NULL;
	return k ? NULL : &in->v[i];
}

static size_t count(const struct omig_plugin_call *c, unsigned i)
{
	const struct omis_values *in = of(c)->in;

	if (i >= in->n)
		return 0;
	return in->v[i].kind == OMIS_LIST ? in->v[i].list.n : 1;
}

static int64_t get_int(const struct omig_plugin_call *c, unsigned i, size_t k)
{
	const struct omis_value *v = find(c, i, k);
	int64_t out = 0;

	return v && omis_value_i64(v, &out) ? out : 0;
}

static double get_float(const struct omig_plugin_call *c, unsigned i, size_t k)
{
	const struct omis_value *v = find(c, i, k);
	double out = 0;

	return v && omis_value_double(v, &out) ? out : 0;
}

static const char *get_text(const struct omig_plugin_call *c, unsigned i, size_t k, size_t *n)
{
	const struct omis_value *v = find(c, i, k);
	const char *text = v ? omis_value_text(v, n) : NULL;

	if (!text && n)
		*n = 0;
	return text ? text : "";
}

static int32_t pid(const struct omig_plugin_call *c)
{
	return of(c)->pid;
}

static void put_int(struct omig_plugin_call *c, int64_t v)
{
	omis_write_int(&of(c)->w, v);
}

static void put_float(struct omig_plugin_call *c, double v)
{
	omis_write_float(&of(c)->w, v);
}

static void put_text(struct omig_plugin_call *c, const void *p, size_t n)
{
	if (str_is_utf8(p, n) && (!n || !memchr(p, 0, n)))
		omis_write_string_n(&of(c)->w, p, n);
	else
		omis_write_binary(&of(c)->w, p, n);
}

static void list(struct omig_plugin_call *c, int begins)
{
	struct serving *s = of(c);

	if (begins ? s->lists == LISTS_MAX : !s->lists) {
		s->is_wrong = true;
	} else if (begins) {
		s->lists++;
		omis_write_list(&s->w);
	} else {
		s->lists--;
		omis_write_list_end(&s->w);
	}
}

static int fail(struct omig_plugin_call *c, const char *why)
{
	struct serving *s = of(c);

	str_escape(s->why, sizeof(s->why), why, strlen(why));
	return -1;
}

static const struct omig_plugin_functions functions = {
	count, get_int, get_float, get_text, pid, put_int, put_float, put_text, list, fail,
};

static int run(const struct omig_plugin_service *service, struct serving *s, struct err *e)
{
	int got = service->serve(&s->head);

	if (got || s->why[0])
		return err_set(e, ERR_SYS, "%s",
			       s->why[0] ? s->why : "the plug-in failed without a reason");
	if (s->is_wrong || s->lists)
		return err_set(e, ERR_INVALID,
			       "the result of the plug-in begins and ends lists that do not match");
	if (s->w.b->failed)
		return err_set(e, ERR_LIMIT, "the result has more than %d bytes",
			       PLUGIN_REPLY_MAX_BYTES);
	return 0;
}

int serve_call(const struct omig_plugin *p, const struct tracer_msg *m, struct buf *out,
	       struct err *e)
{
	const struct omig_plugin_service *service = p->services;
	struct serving s = { .head = { &functions }, .pid = m->pid, .w = OMIS_WRITER(out) };
	struct omis_values *in = NULL;
	int rc;

	while (service->name && !str_eq(service->name, m->text[0]))
		service++;
	if (!service->name)
		return err_set(e, ERR_NOTFOUND, "the plug-in has no service %.60s", m->text[0]);
	rc = omis_parse_values((const char *)m->bytes, m->nbytes, &in, e);
	s.in = in;
	if (!rc)
		rc = run(service, &s, e);
	omis_values_free(in);
	return rc;
}
