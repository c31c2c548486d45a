/* SPDX-License-Identifier: Apache-2.0 */
#include "common/omis/services/added.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>

#define OWN_PARAMS_MAX (OMIS_PARAMS_MAX - 1) /* parameters behind the list of objects */

/* --- names and types */

static bool is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n && !s[n] && n <= PLUGIN_NAME_MAX && s[0] >= 'a' && s[0] <= 'z';
}

static int check_names(const struct added_spec *s, struct err *e)
{
	if (!is_name(s->plugin))
		return err_set(e, ERR_INVALID,
			       "'%.60s' is not a name of a plug-in: up to %d of a-z 0-9 _",
			       s->plugin, PLUGIN_NAME_MAX);
	if (!is_name(s->name))
		return err_set(e, ERR_INVALID,
			       "'%.60s' is not a name of a service: up to %d of a-z 0-9 _", s->name,
			       PLUGIN_NAME_MAX);
	if (omis_service_find(s->name, strlen(s->name)) || str_has_prefix(s->name, "omig_"))
		return err_set(e, ERR_INVALID, "%s is a built-in service, or begins as one",
			       s->name);
	if (!str_is_utf8(s->help, strlen(s->help)) || !str_is_utf8(s->result, strlen(s->result)))
		return err_set(e, ERR_INVALID, "the help or the result of %s is not UTF-8",
			       s->name);
	return 0;
}

/* pmsl/text/unit.h reads it. */
static bool is_unit(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_%*/^0123456789");

	return n && !s[n];
}

static int check_metric(const struct added_spec *s, struct err *e)
{
	if (s->metric && s->params[0])
		return err_set(e, ERR_INVALID, "%s is a metric, which has no parameters", s->name);
	if (s->metric && s->changes)
		return err_set(e, ERR_INVALID, "%s is a metric, which changes nothing", s->name);
	if (s->metric && !is_unit(s->result))
		return err_set(e, ERR_INVALID,
			       "the result of %s is its unit, as \"B\", \"reads\" or \"1\"",
			       s->name);
	if (s->metric && strpbrk(s->help, "\r\n"))
		return err_set(e, ERR_INVALID, "the help of the metric %s is one line", s->name);
	return 0;
}

static int find_type(const char *word)
{
	static const char *const words[] = { "int", "float", "string", "token", "binary", "any" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_eq(words[i], word))
			return (int)i;
	return -1;
}

/* True if set_default() of the check accepts the default. */
static bool is_default(const struct omis_param *p)
{
	int64_t i;

	if (p->list)
		return str_eq(p->def, "[]");
	if (p->type == OMIS_T_STRING)
		return str_eq(p->def, "\"\"");
	return (p->type == OMIS_T_INT || p->type == OMIS_T_FLOAT) &&
	       !str_to_i64(p->def, INT32_MIN, INT32_MAX, &i);
}

/* --- parsing of "int* name = 0" */

static char *cut_default(char *text, struct omis_param *p)
{
	char *eq = strchr(text, '=');

	if (eq) {
		*eq = 0;
		p->def = str_trim(eq + 1);
	}
	return str_trim(text);
}

static int read_param(char *text, struct omis_param *p, struct err *e)
{
	char *word = cut_default(text, p), *name = strchr(word, ' ');
	size_t n;
	int type;

	if (!name)
		return err_set(e, ERR_INVALID, "a parameter is a type and a name, not '%.60s'",
			       word);
	*name = 0;
	n = strlen(word);
	p->list = n && word[n - 1] == '*';
	if (p->list)
		word[n - 1] = 0;
	type = find_type(word);
	p->name = str_trim(name + 1);
	if (type < 0)
		return err_set(e, ERR_INVALID,
			       "'%.40s' is not a type: int, float, string, token, binary or any, "
			       "with * a list",
			       word);
	p->type = (enum omis_type)type;
	if (!is_name(p->name))
		return err_set(e, ERR_INVALID, "'%.60s' is not a name of a parameter", p->name);
	if (p->def && !is_default(p))
		return err_set(e, ERR_INVALID,
			       "%s has no such default: an integer, \"\" or [] for a list",
			       p->name);
	return 0;
}

static int read_params(char *text, struct omis_param *p, struct err *e)
{
	bool has_default = false;
	size_t n = 0;
	int rc = 0;

	text = str_trim(text);
	for (char *next = *text ? text : NULL; !rc && (text = next); n++) {
		next = strchr(text, ',');
		if (next)
			*next++ = 0;
		if (n == OWN_PARAMS_MAX)
			return err_set(e, ERR_INVALID, "more than %d parameters", OWN_PARAMS_MAX);
		rc = read_param(text, &p[n], e);
		if (!rc && has_default && !p[n].def)
			rc = err_set(e, ERR_INVALID, "%s needs a default as those before it",
				     p[n].name);
		has_default |= p[n].def != NULL;
	}
	return rc;
}

/* --- one service */

static const char *keep(char **at, const char *s)
{
	size_t n = strlen(s) + 1;
	char *to = *at;

	memcpy(to, s, n);
	*at += n;
	return to;
}

static void fill_service(struct added_service *a)
{
	const struct added_spec *spec = &a->spec;

	a->s = (struct omis_service){
		.name = spec->name,
		.extension = "plugin",
		.class = spec->changes ? OMIS_MANIP : OMIS_INFO,
		.object = spec->of_processes ? 'p' : 'n',
		.where = OMIS_AT_NODE,
		.right = spec->changes ? OMIS_MANIPULATE : OMIS_OBSERVE,
		.state = OMIS_DONE,
		.result = spec->result[0] ? spec->result : NULL,
		.help = spec->help,
	};
	a->s.param[0] = (struct omis_param){ .name = spec->of_processes ? "proc_list" : "node_list",
					     .type = OMIS_T_TOKEN,
					     .list = true,
					     .class = a->s.object };
}

int added_service_new(const struct added_spec *spec, struct added_service **out, struct err *e)
{
	size_t params = strlen(spec->params) + 1;
	size_t n = strlen(spec->name) + strlen(spec->plugin) + 2 * params + strlen(spec->result) +
		   strlen(spec->help) + 4;
	struct added_service *a;
	char *at, *words;
	int rc = n > PLUGIN_TEXT_MAX_BYTES ? err_set(e, ERR_INVALID, "a definition is too long")
					   : check_names(spec, e);

	if (!rc)
		rc = check_metric(spec, e);
	if (rc)
		return rc;
	a = calloc(1, sizeof(*a) + n);
	if (!a)
		return err_nomem(e);
	at = a->text;
	a->spec = *spec;
	a->spec.name = keep(&at, spec->name);
	a->spec.plugin = keep(&at, spec->plugin);
	a->spec.params = keep(&at, spec->params);
	a->spec.result = keep(&at, spec->result);
	a->spec.help = keep(&at, spec->help);
	words = at;
	keep(&at, spec->params);
	fill_service(a);
	rc = read_params(words, &a->s.param[1], e);
	if (rc)
		free(a);
	else
		*out = a;
	return rc ? err_add(e, "%s", spec->name) : 0;
}

void added_service_free(struct added_service *a)
{
	free(a);
}

/* --- the definition as text */

enum field { NAME, PLUGIN, PARAMS, RESULT, HELP, FLAGS, FIELDS };
enum { CHANGES = 1, OF_PROCESSES = 2, COUNTER = 4, VALUE = 8 };

void added_service_write(struct buf *b, const struct added_service *a)
{
	const struct added_spec *s = &a->spec;
	struct omis_writer w = OMIS_WRITER(b);

	omis_write_string(&w, s->name);
	omis_write_string(&w, s->plugin);
	omis_write_string(&w, s->params);
	omis_write_string(&w, s->result);
	omis_write_string(&w, s->help);
	omis_write_int(&w, (s->changes ? CHANGES : 0) | (s->of_processes ? OF_PROCESSES : 0) |
				   (s->metric == ADDED_COUNTER ? COUNTER : 0) |
				   (s->metric == ADDED_VALUE ? VALUE : 0));
	buf_putc(b, '\n');
}

int added_service_read(const char *line, size_t n, struct added_service **out, struct err *e)
{
	struct omis_values *v = NULL;
	const char *text[FLAGS];
	int64_t flags;
	int rc = omis_parse_values(line, n, &v, e);

	for (size_t i = 0; !rc && i < FLAGS; i++) {
		text[i] = v->n == FIELDS ? omis_values_text(v, i) : NULL;
		if (!text[i])
			rc = err_set(e, ERR_PARSE, "this is not a definition of a service");
	}
	if (!rc && !omis_values_i64(v, FLAGS, &flags))
		rc = err_set(e, ERR_PARSE, "this is not a definition of a service");
	if (!rc)
		rc = added_service_new(
			&(struct added_spec){ .name = text[NAME],
					      .plugin = text[PLUGIN],
					      .params = text[PARAMS],
					      .result = text[RESULT],
					      .help = text[HELP],
					      .changes = flags & CHANGES,
					      .of_processes = flags & OF_PROCESSES,
					      .metric = flags & COUNTER ? ADDED_COUNTER
							: flags & VALUE ? ADDED_VALUE
									: ADDED_NO_METRIC },
			out, e);
	omis_values_free(v);
	return rc;
}

/* --- calls */

static bool fits(const struct omis_param *p, const struct omis_value *v)
{
	static const enum omis_kind kinds[] = { OMIS_INT, OMIS_FLOAT, OMIS_STRING, OMIS_TOKEN,
						OMIS_BINARY };

	if (p->type == OMIS_T_ANY)
		return true;
	return v->kind == kinds[p->type] || (p->type == OMIS_T_FLOAT && v->kind == OMIS_INT);
}

static bool fits_param(const struct omis_param *p, const struct omis_value *v)
{
	if (!p->list)
		return fits(p, v);
	if (v->kind != OMIS_LIST)
		return false;
	for (size_t i = 0; i < v->list.n; i++)
		if (!fits(p, &v->list.v[i]))
			return false;
	return true;
}

bool added_service_takes(const struct added_service *a, const struct omis_value *list,
			 struct err *e)
{
	const struct omis_param *p = &a->s.param[1];
	size_t n = omis_service_nparam(&a->s) - 1;

	if (list->kind != OMIS_LIST || list->list.n != n) {
		err_set(e, ERR_INVALID, "%s takes %zu parameters behind its objects", a->s.name, n);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		if (!fits_param(&p[i], &list->list.v[i])) {
			err_set(e, ERR_INVALID, "parameter %s of %s has another type", p[i].name,
				a->s.name);
			return false;
		}
	return true;
}

bool added_service_is_metric(const struct added_service *a)
{
	return a->spec.metric != ADDED_NO_METRIC;
}

static const char *const carriers[2][2] = {
	{ "omig_plugin_info", "omig_plugin_manip" },
	{ "omig_plugin_proc_info", "omig_plugin_proc_manip" },
};

const struct omis_service *added_service_carrier(const struct added_service *a)
{
	const char *name = carriers[a->spec.of_processes][a->spec.changes];

	return omis_service_find(name, strlen(name));
}

const char *added_name_of(const struct omis_call *c)
{
	const char *name;

	for (size_t i = 0; i < 4; i++)
		if (str_eq(c->name, carriers[i / 2][i % 2]) && c->nparam == ADDED_PARAMS) {
			name = omis_value_text(&c->param[ADDED_NAME], NULL);
			return name ? name : c->name;
		}
	return c->name;
}
