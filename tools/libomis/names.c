/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/libomis/names.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/text/value.h"
#include "tools/libomis/tree_fields.h"
#include "tools/libomis/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX_BYTES (64 * 1024 * 1024) /* per reply: libomis accepts no larger one */
#define ATTACH_ALL ":site_attach([]) node_attach([]) proc_attach([])"

/* --- requests */

Omis_status own_refuse(Omis_status status, const char *words)
{
	struct err e = { 0 };

	err_set(&e, ERR_INVALID, "%s", words);
	words_keep(&e);
	return status;
}

static const Omis_object_result *first_error(Omis_reply r)
{
	for (; *r; r++)
		for (const Omis_object_result *o = *r; o->obj_list; o++)
			if (o->status >= OMIS_FIRST_ERROR)
				return o;
	return NULL;
}

/* Joins the values of all entries. */
static Omis_value *joined(const Omis_object_result *o)
{
	struct buf b = BUF_INIT(VALUES_MAX_BYTES);
	Omis_value *v;

	for (; o && o->obj_list; o++) {
		if (!o->result_len)
			continue;
		if (b.n)
			buf_putc(&b, ',');
		buf_put(&b, o->result, o->result_len);
	}
	v = b.failed ? NULL : omis_value_parse(buf_str(&b), b.n);
	buf_done(&b);
	return v;
}

static Omis_status take(Omis_reply r, Omis_value **out)
{
	const Omis_object_result *bad = first_error(r);

	if (bad)
		return own_refuse(bad->status & ~OMIS_FATAL,
				  bad->result ? bad->result : omis_strerror(bad->status));
	if (!out)
		return OMIS_OK;
	*out = joined(r[0] ? r[1] : NULL);
	return *out ? OMIS_OK : own_refuse(OMIS_OS_ERROR, "the reply of mainsm cannot be read");
}

Omis_status own_ask(const struct buf *b, Omis_value **out)
{
	Omis_reply r = b->failed ? NULL : omis_request_n((const char *)b->p, b->n, NULL, NULL, 0);
	Omis_status s = r ? take(r, out) : own_refuse(OMIS_NO_MEMORY, "no memory for a request");

	omis_reply_free(r);
	return s;
}

Omis_status own_ask_text(const char *text, Omis_value **out)
{
	struct buf b = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	Omis_status s;

	buf_puts(&b, text);
	s = own_ask(&b, out);
	buf_done(&b);
	return s;
}

/* --- the tree */

static int compare(const void *a, const void *b)
{
	const Omis_value *const *x = a, *const *y = b;

	return strcmp(omis_list_text(*x, TREE_TOKEN), omis_list_text(*y, TREE_TOKEN));
}

Omis_status names_ask(struct names *names)
{
	Omis_value *tree;
	const Omis_value **sorted;
	Omis_status s = own_ask_text(":omig_tree()", &tree);

	if (s != OMIS_OK)
		return s;
	sorted = calloc(tree->n + 1, sizeof(const Omis_value *));
	if (!sorted) {
		omis_value_free(tree);
		return own_refuse(OMIS_NO_MEMORY, "no memory for names");
	}
	for (size_t i = 0; i < tree->n; i++)
		sorted[i] = &tree->list[i];
	qsort(sorted, tree->n, sizeof(const Omis_value *), compare);
	names_done(names);
	*names = (struct names){ .tree = tree, .by_token = sorted, .n = tree->n };
	return OMIS_OK;
}

void names_done(struct names *names)
{
	free(names->by_token);
	omis_value_free(names->tree);
	*names = (struct names){ 0 };
}

static const char *names_token(const struct names *names, size_t i)
{
	return omis_list_text(names->by_token[i], TREE_TOKEN);
}

struct name names_at(const struct names *names, size_t i)
{
	const Omis_value *o = names->by_token[i];
	const char *state = omis_list_text(o, TREE_STATE);
	bool is_process = omis_list_text(o, TREE_TOKEN)[0] == 'p';

	return (struct name){
		.parent = omis_list_text(o, TREE_PARENT),
		.name = omis_list_text(o, TREE_NAME),
		.job = is_process ? omis_list_text(o, TREE_JOB) : "",
		.rank = is_process && o->n > TREE_RANK ? omis_list_int(o, TREE_RANK) : -1,
		.is_process = is_process,
		.has_ended = str_eq(state, "ended") || str_eq(state, "zombie"),
	};
}

/* Index of the first token that is not before this one. */
static size_t place_of(const struct names *names, const char *token)
{
	size_t lo = 0, hi = names->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(names_token(names, mid), token) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool names_find(const struct names *names, const char *token, struct name *out)
{
	size_t i = place_of(names, token);

	*out = (struct name){ .parent = "", .name = "", .job = "", .rank = -1 };
	if (i == names->n || !str_eq(names_token(names, i), token))
		return false;
	*out = names_at(names, i);
	return true;
}

const char *names_host(const struct names *names, const char *token)
{
	struct name n;

	if (names_find(names, token, &n) && n.is_process)
		names_find(names, n.parent, &n);
	return n.name;
}

/* --- jobs */

static Omis_status find_job(const char *job, char *out, size_t size)
{
	struct buf b = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	Omis_value *v;
	Omis_status s;

	buf_puts(&b, ":omig_job_find(");
	omis_write_string(&w, job);
	buf_putc(&b, ')');
	s = own_ask(&b, &v);
	buf_done(&b);
	if (s != OMIS_OK)
		return s;
	str_copy(out, size, omis_list_text(v, 0)[0] ? omis_list_text(v, 0) : job);
	omis_value_free(v);
	return OMIS_OK;
}

/* Finds the job of a process. Running jobs are preferred to ended jobs. */
static Omis_status choose_job(const struct names *names, bool ended, char *out, size_t size)
{
	char words[512];

	out[0] = 0;
	for (size_t i = 0; i < names->n; i++) {
		struct name n = names_at(names, i);

		if (!n.is_process || !n.job[0] || n.has_ended != ended || str_eq(n.job, out))
			continue;
		if (out[0]) {
			snprintf(words, sizeof(words), "several jobs: name one, %.200s or %.200s",
				 out, n.job);
			return own_refuse(OMIS_PARAMETER_ERROR, words);
		}
		str_copy(out, size, n.job);
	}
	return OMIS_OK;
}

Omis_status names_job(struct names *names, const char *job, char *out, size_t size)
{
	Omis_status s = find_job(job ? job : "", out, size);

	if (s == OMIS_OK)
		s = own_ask_text(ATTACH_ALL, NULL);
	if (s == OMIS_OK)
		s = names_ask(names);
	if (s != OMIS_OK || job)
		return s;
	s = choose_job(names, false, out, size);
	return s == OMIS_OK && !out[0] ? choose_job(names, true, out, size) : s;
}

Omis_status names_write(const struct names *names, const char *job, enum names_which which,
			struct buf *out)
{
	struct omis_writer w = OMIS_WRITER(out);
	size_t found = 0;

	omis_write_list(&w);
	for (size_t i = 0; i < names->n; i++) {
		struct name n = names_at(names, i);

		if (!n.is_process || !str_eq(n.job, job) ||
		    (which == NAMES_RANKS ? n.rank < 0 : n.has_ended))
			continue;
		omis_write_token(&w, names_token(names, i));
		found++;
	}
	omis_write_list_end(&w);
	return found ? OMIS_OK
		     : own_refuse(OMIS_UNKNOWN_OBJECT, which == NAMES_RANKS
							       ? "the job has no rank"
							       : "none of its processes runs");
}

bool names_has_other(const struct names *names, const char *job)
{
	for (size_t i = 0; i < names->n; i++) {
		struct name n = names_at(names, i);

		if (n.is_process && n.job[0] && !str_eq(n.job, job))
			return true;
	}
	return false;
}
