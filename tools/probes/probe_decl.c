/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/probes/probe_decl.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/cli/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SPELLED_BYTES 64 /* of a type */

static const struct probe_type types[] = {
	{ "bool", SEG_BOOL, "logical(c_bool)" },
	{ "_Bool", SEG_BOOL, "logical(c_bool)" },
	{ "char", SEG_I8, "integer(c_signed_char)" },
	{ "signed char", SEG_I8, "integer(c_signed_char)" },
	{ "unsigned char", SEG_U8, "integer(c_signed_char)" },
	{ "short", SEG_I16, "integer(c_short)" },
	{ "unsigned short", SEG_U16, "integer(c_short)" },
	{ "int", SEG_I32, "integer(c_int)" },
	{ "unsigned", SEG_U32, "integer(c_int)" },
	{ "long", SEG_I64, "integer(c_long)" },
	{ "unsigned long", SEG_U64, "integer(c_long)" },
	{ "long long", SEG_I64, "integer(c_long_long)" },
	{ "unsigned long long", SEG_U64, "integer(c_long_long)" },
	{ "float", SEG_F32, "real(c_float)" },
	{ "double", SEG_F64, "real(c_double)" },
	{ "int8_t", SEG_I8, "integer(c_int8_t)" },
	{ "int16_t", SEG_I16, "integer(c_int16_t)" },
	{ "int32_t", SEG_I32, "integer(c_int32_t)" },
	{ "int64_t", SEG_I64, "integer(c_int64_t)" },
	{ "uint8_t", SEG_U8, "integer(c_int8_t)" },
	{ "uint16_t", SEG_U16, "integer(c_int16_t)" },
	{ "uint32_t", SEG_U32, "integer(c_int32_t)" },
	{ "uint64_t", SEG_U64, "integer(c_int64_t)" },
	{ "size_t", SEG_U64, "integer(c_size_t)" },
	{ "ptrdiff_t", SEG_I64, "integer(c_intptr_t)" },
	{ "intptr_t", SEG_I64, "integer(c_intptr_t)" },
	{ "uintptr_t", SEG_U64, "integer(c_intptr_t)" },
};

/* Words of C, C++ and Fortran interfaces that cannot be names. */
static const char *const taken[] = {
	"auto",	    "bool",    "break",	  "case",     "char",	  "class",  "const",	 "continue",
	"default",  "delete",  "do",	  "double",   "else",	  "enum",   "extern",	 "float",
	"for",	    "goto",    "if",	  "inline",   "int",	  "long",   "namespace", "new",
	"operator", "private", "public",  "register", "restrict", "return", "short",	 "signed",
	"sizeof",   "static",  "struct",  "switch",   "template", "this",   "typedef",	 "union",
	"unsigned", "using",   "virtual", "void",     "volatile", "while",  "main",	 "true",
	"false",    "_Bool",   "alignas", "nullptr",  "try",	  "catch",  "throw",
};

struct word {
	uint32_t at, len;
	char mark; /* punctuation; 0: a name; '\n': the end */
};

struct reading {
	const struct pmsl_source *s;
	struct pmsl_diags *d;
	struct probe_decls *out;
	size_t at;
	struct word w; /* the current word */
};

/* --- words */

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void skip_comment(struct reading *r)
{
	const char *end;

	if (r->s->text[r->at + 1] == '/') {
		end = memchr(r->s->text + r->at, '\n', r->s->n - r->at);
		r->at = end ? (size_t)(end - r->s->text) : r->s->n;
		return;
	}
	end = memmem(r->s->text + r->at + 2, r->s->n - r->at - 2, "*/", 2);
	if (!end)
		pmsl_error(r->d, (uint32_t)r->at, 2, "this comment does not end");
	r->at = end ? (size_t)(end - r->s->text) + 2 : r->s->n;
}

static bool is_comment(const struct reading *r)
{
	const char *p = r->s->text + r->at;

	return r->s->n - r->at >= 2 && p[0] == '/' && (p[1] == '/' || p[1] == '*');
}

static void next(struct reading *r)
{
	const char *text = r->s->text;
	size_t from;

	for (;; r->at++) {
		while (r->at < r->s->n && is_comment(r))
			skip_comment(r);
		if (r->at >= r->s->n || !isspace((unsigned char)text[r->at]))
			break;
	}
	from = r->at;
	r->w = (struct word){ .at = (uint32_t)from, .mark = '\n' };
	if (from == r->s->n)
		return;
	while (r->at < r->s->n && is_name_char(text[r->at]))
		r->at++;
	r->w.mark = r->at > from ? 0 : text[r->at++];
	r->w.len = (uint32_t)(r->at - from);
}

static bool is_word(const struct reading *r, const char *word)
{
	return !r->w.mark && r->w.len == strlen(word) &&
	       !memcmp(r->s->text + r->w.at, word, r->w.len);
}

static bool is_keyword(const struct reading *r, const char *upper)
{
	return !r->w.mark && r->w.len == strlen(upper) &&
	       !strncasecmp(r->s->text + r->w.at, upper, r->w.len);
}

static bool take_mark(struct reading *r, char mark)
{
	if (r->w.mark != mark)
		return false;
	next(r);
	return true;
}

static void expect(struct reading *r, char mark)
{
	if (!take_mark(r, mark))
		pmsl_error(r->d, r->w.at, r->w.len, "'%c' is expected here", mark);
}

/* Skips the rest of a wrong declaration. */
static void skip_decl(struct reading *r)
{
	while (r->w.mark != '\n' && r->w.mark != ';' && r->w.mark != '}')
		next(r);
	while (r->w.mark == ';' || r->w.mark == '}')
		next(r);
}

/* --- names */

static bool is_taken(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(taken); i++)
		if (str_eq(taken[i], name))
			return true;
	return false;
}

/* Reads a name, which will be a name in C; size >= SEG_PROBE_NAME_BYTES. */
static bool take_name(struct reading *r, const char *of, char *out, size_t size)
{
	const struct word w = r->w;

	if (w.mark || isdigit((unsigned char)r->s->text[w.at])) {
		pmsl_error(r->d, w.at, w.len, "the name of %s is expected here", of);
		return false;
	}
	if (w.len >= size) {
		pmsl_error(r->d, w.at, w.len, "a name has %zu characters at the most", size - 1);
		return false;
	}
	snprintf(out, size, "%.*s", (int)w.len, r->s->text + w.at);
	if (is_taken(out)) {
		pmsl_error(r->d, w.at, w.len, "'%s' is a word of C and no name of %s", out, of);
		return false;
	}
	next(r);
	return true;
}

/* --- types */

static const struct probe_type *find_type(const char *spelled)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (str_eq(types[i].c, spelled))
			return &types[i];
	return NULL;
}

/* The words of a type, which may have any order. */
struct spelling {
	unsigned longs, shorts, ints, chars, unsigneds, signeds, others, words;
	char other[SPELLED_BYTES];
};

static bool spell(struct reading *r, struct spelling *p)
{
	if (is_word(r, "long"))
		p->longs++;
	else if (is_word(r, "short"))
		p->shorts++;
	else if (is_word(r, "int"))
		p->ints++;
	else if (is_word(r, "char"))
		p->chars++;
	else if (is_word(r, "unsigned"))
		p->unsigneds++;
	else if (is_word(r, "signed"))
		p->signeds++;
	else
		return false;
	return true;
}

static const struct probe_type *type_of(const struct spelling *p)
{
	static const char *const sizes[] = { "int", "long", "long long" };
	char text[SPELLED_BYTES];
	const char *size = p->chars	   ? "char"
			   : p->shorts	   ? "short"
			   : p->longs <= 2 ? sizes[p->longs]
					   : "";

	if (p->others)
		return p->others == 1 && p->others == p->words ? find_type(p->other) : NULL;
	if (p->chars > 1 || p->shorts > 1 || p->ints > 1 || p->unsigneds + p->signeds > 1 ||
	    p->chars + p->shorts + (p->longs > 0) > 1 || (p->chars && p->ints))
		return NULL;
	if (p->unsigneds && str_eq(size, "int"))
		return find_type("unsigned");
	snprintf(text, sizeof(text), "%s%s",
		 p->unsigneds		  ? "unsigned "
		 : p->signeds && p->chars ? "signed "
					  : "",
		 size);
	return find_type(text);
}

static void hint_type(struct reading *r, const char *name)
{
	struct nearest near = nearest_to(name);

	if (str_eq(name, "struct") || str_eq(name, "union"))
		pmsl_hint(r->d, "pass its numbers one by one");
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		nearest_try(&near, types[i].c);
	if (near.best)
		pmsl_hint(r->d, "did you mean %s?", near.best);
	else
		pmsl_hint(r->d,
			  "whole numbers of C and <stdint.h>, bool, float and double are known");
}

/* Reads the words of a type. A name after them is that of the parameter. */
static const struct probe_type *take_type(struct reading *r)
{
	const struct word first = r->w;
	const struct probe_type *found;
	struct spelling p = { 0 };

	for (; !r->w.mark; next(r)) {
		if (is_word(r, "const") || is_word(r, "volatile"))
			continue;
		if (p.others)
			break;
		p.words++;
		if (spell(r, &p))
			continue;
		if (p.words > 1 && !is_word(r, "double")) {
			p.words--;
			break;
		}
		p.others++;
		snprintf(p.other, sizeof(p.other), "%.*s", (int)r->w.len, r->s->text + r->w.at);
	}
	if (!p.words) {
		pmsl_error(r->d, first.at, first.len, "a type is expected here");
		return NULL;
	}
	found = type_of(&p);
	if (found)
		return found;
	pmsl_error(r->d, first.at, first.len, "a probe cannot have a parameter of this type");
	if (p.longs && str_eq(p.other, "double"))
		pmsl_hint(r->d, "events carry a double; declare it so");
	else
		hint_type(r, p.other);
	return NULL;
}

/* --- declarations */

static struct probe_param *add_param(struct reading *r, struct probe_decl *p,
				     const struct probe_type *type)
{
	if (p->nparam == SEG_PROBE_PARAMS) {
		pmsl_error(r->d, r->w.at, r->w.len, "a probe has %d parameters at the most",
			   SEG_PROBE_PARAMS);
		return NULL;
	}
	p->param[p->nparam].type = type;
	return &p->param[p->nparam++];
}

static bool has_param(const struct probe_decl *p, const char *name)
{
	for (unsigned i = 0; i + 1 < p->nparam; i++)
		if (str_eq(p->param[i].name, name))
			return true;
	return false;
}

static bool name_param(struct reading *r, struct probe_decl *p, struct probe_param *param)
{
	const struct word w = r->w;

	if (w.mark) {
		snprintf(param->name, sizeof(param->name), "value%u", p->nparam);
		return true;
	}
	if (!take_name(r, "a parameter", param->name, sizeof(param->name)))
		return false;
	if (!has_param(p, param->name))
		return true;
	pmsl_error(r->d, w.at, w.len, "%s has a parameter '%s' already", p->name, param->name);
	return false;
}

static bool read_c_param(struct reading *r, struct probe_decl *p)
{
	const struct probe_type *type = take_type(r);
	struct probe_param *param = type ? add_param(r, p, type) : NULL;

	if (!param)
		return false;
	if (r->w.mark == '*' || r->w.mark == '&') {
		pmsl_error(r->d, r->w.at, r->w.len, "a probe takes numbers and no addresses");
		pmsl_hint(r->d, "pass the value: %s", type->c);
		return false;
	}
	if (!name_param(r, p, param))
		return false;
	if (r->w.mark != '[')
		return true;
	pmsl_error(r->d, r->w.at, r->w.len, "a probe takes numbers and no arrays");
	return false;
}

static bool read_c_params(struct reading *r, struct probe_decl *p)
{
	expect(r, '(');
	if (is_word(r, "void"))
		next(r);
	else if (r->w.mark != ')')
		do {
			if (!read_c_param(r, p))
				return false;
		} while (take_mark(r, ','));
	if (!take_mark(r, ')')) {
		pmsl_error(r->d, r->w.at, r->w.len, "',' or ')' is expected here");
		return false;
	}
	if (!take_mark(r, '{')) {
		expect(r, ';');
		return true;
	}
	if (r->w.mark != '}') {
		pmsl_error(r->d, r->w.at, r->w.len, "a probe does nothing: its body is empty");
		return false;
	}
	next(r);
	take_mark(r, ';');
	return true;
}

/* Process, VirtualTime {, Value}: each may have a name. */
static bool read_pmsl_params(struct reading *r, struct probe_decl *p)
{
	static const char *const heads[] = { "Process", "VirtualTime" };
	struct probe_param *param;

	expect(r, '(');
	for (unsigned i = 0; i == 0 || take_mark(r, ','); i++) {
		const char *wanted = i < ARRAY_LEN(heads) ? heads[i] : "Value";

		if (!is_word(r, wanted)) {
			pmsl_error(r->d, r->w.at, r->w.len, "%s is expected here", wanted);
			pmsl_hint(r->d, "PROBE %s(Process, VirtualTime, Value ...);", p->name);
			return false;
		}
		next(r);
		if (!i) {
			if (!r->w.mark)
				next(r);
			continue;
		}
		param = add_param(r, p, find_type(i == 1 ? "int" : "double"));
		if (!param || !name_param(r, p, param))
			return false;
	}
	expect(r, ')');
	expect(r, ';');
	return true;
}

static bool is_same_in_fortran(const char *a, const char *b)
{
	return !strcasecmp(a, b);
}

static bool check_name(struct reading *r, const struct probe_decl *p, const struct word *w)
{
	if (!strncasecmp(p->name, "omig_", 5) || !strncasecmp(p->name, "MPI_", 4) ||
	    !strncasecmp(p->name, "PMPI_", 5)) {
		pmsl_error(r->d, w->at, w->len,
			   "names that begin with omig_, MPI_ or PMPI_ are reserved: %s", p->name);
		return false;
	}
	for (unsigned i = 0; i < r->out->n; i++) {
		const char *other = r->out->v[i].name;

		if (!is_same_in_fortran(other, p->name))
			continue;
		pmsl_error(r->d, w->at, w->len,
			   str_eq(other, p->name) ? "there is a probe %s already"
						  : "in Fortran this is the same name as %s",
			   other);
		return false;
	}
	return true;
}

static bool find_vt(struct reading *r, struct probe_decl *p, const struct word *w)
{
	for (p->vt = 0; p->vt < p->nparam; p->vt++) {
		enum seg_type t = p->param[p->vt].type->type;

		if (t != SEG_BOOL && !SEG_IS_FLOAT(t))
			return true;
	}
	pmsl_error(r->d, w->at, w->len, "%s has no virtual time", p->name);
	pmsl_hint(r->d,
		  "the first whole number among its parameters is that: void %s(int vt, ...);",
		  p->name);
	return false;
}

static bool read_decl(struct reading *r)
{
	bool is_pmsl = is_keyword(r, "PROBE");
	struct probe_decl p = { .nparam = 0 };
	struct word w;

	if (is_word(r, "extern"))
		next(r);
	if (!is_pmsl && !is_word(r, "void")) {
		pmsl_error(r->d, r->w.at, r->w.len,
			   "a probe is declared by void NAME(...); or PROBE NAME(...);");
		return false;
	}
	next(r);
	w = r->w;
	if (!take_name(r, "a probe", p.name, sizeof(p.name)) ||
	    !(is_pmsl ? read_pmsl_params(r, &p) : read_c_params(r, &p)))
		return false;
	if (!check_name(r, &p, &w) || !find_vt(r, &p, &w))
		return true;
	if (r->out->n == SEG_PROBES_EACH)
		pmsl_error(r->d, w.at, w.len, "a file has %d probes at the most", SEG_PROBES_EACH);
	else
		r->out->v[r->out->n++] = p;
	return true;
}

void probe_decls_read(const struct pmsl_source *s, struct pmsl_diags *d, struct probe_decls *out)
{
	struct reading r = { .s = s, .d = d, .out = out };

	out->n = 0;
	for (next(&r); r.w.mark != '\n' && !d->is_full;)
		if (!read_decl(&r))
			skip_decl(&r);
	if (!out->n && !d->nerror)
		pmsl_error(d, PMSL_NOWHERE, 0, "there is no probe in this file");
}
