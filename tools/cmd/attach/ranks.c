/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cmd/attach/ranks.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void rank_done(struct rank *r)
{
	free(r->job);
	free(r->program);
	free(r->process);
	free(r->origin);
	free(r->why);
}

static void clear(struct ranks *s)
{
	for (size_t i = 0; i < s->n; i++)
		rank_done(&s->v[i]);
	s->n = 0;
	s->here[0] = 0;
}

void ranks_done(struct ranks *s)
{
	clear(s);
	free(s->v);
}

static bool add(struct ranks *s, const char *node, const Omis_value *v)
{
	struct rank *r;

	if (array_grow(&s->v, &s->cap, s->n + 1, sizeof(*s->v), SIZE_MAX / sizeof(*s->v)))
		return false;
	r = &s->v[s->n++];
	*r = (struct rank){ .pid = value_int(v, 0),
			    .rank = value_int(v, 1),
			    .size = value_int(v, 2),
			    .job = str_dup(value_text(v, 3)),
			    .launcher = value_int(v, 4),
			    .program = str_dup(value_text(v, 5)),
			    .watched = value_int(v, 6),
			    .attached_s = value_at(v, 7) ? value_float(v, 7) : -1,
			    .process = str_dup(value_text(v, 8)),
			    .is_near = value_int(v, 9) != 0,
			    .origin = str_dup(value_text(v, 10)) };
	str_copy(r->node, sizeof(r->node), node);
	return r->job && r->program && r->process && r->origin;
}

static bool add_node(struct ranks *s, const Omis_object_result *o)
{
	Omis_value *v = o->status < OMIS_FIRST_ERROR && o->result
				? omis_value_parse(o->result, o->result_len)
				: NULL;
	const Omis_value *one;
	char host[256] = "";
	bool has_room = true;

	gethostname(host, sizeof(host) - 1);
	if (v && str_eq(value_text(v, 0), host))
		str_copy(s->here, sizeof(s->here), o->obj_list);
	for (size_t i = 1; has_room && v && (one = value_at(v, i)); i++)
		has_room = add(s, o->obj_list, one);
	omis_value_free(v);
	return has_room;
}

static int compare(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int order = strcmp(x->job, y->job);

	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* The entry of the lm to which the process belongs comes first. */
static int compare_views(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int order = strcmp(x->process, y->process);

	if (order)
		return order;
	if (x->is_near != y->is_near)
		return y->is_near - x->is_near;
	if (x->watched != y->watched)
		return (y->watched > x->watched) - (y->watched < x->watched);
	return strcmp(x->node, y->node);
}

/* An lm sees the processes of containers and of virtual hosts on its machine too. */
static void merge_views(struct ranks *s)
{
	size_t n = 0;

	qsort(s->v, s->n, sizeof(*s->v), compare_views);
	for (size_t i = 0; i < s->n; i++)
		if (n && s->v[i].process[0] && str_eq(s->v[i].process, s->v[n - 1].process))
			rank_done(&s->v[i]);
		else
			s->v[n++] = s->v[i];
	s->n = n;
}

int ranks_read(struct ranks *s)
{
	Omis_reply r = NULL;
	int rc = session_attach_all();

	clear(s);
	if (rc == CMD_OK)
		rc = session_ask(&r, ":omig_ranks([])");
	if (rc != CMD_OK)
		return rc;
	for (size_t i = 0; rc == CMD_OK && r[1] && r[1][i].obj_list; i++)
		if (!add_node(s, &r[1][i]))
			rc = cmd_fail(CMD_FAILURE, "out of memory");
	if (s->n) {
		merge_views(s);
		qsort(s->v, s->n, sizeof(*s->v), compare);
	}
	omis_reply_free(r);
	return rc;
}

/* --- the ranks that targets mean */

/* A pid of a rank or of its launcher, the name of a job, or that of a program. */
static bool is_meant(const struct rank *r, const char *target)
{
	int64_t pid;

	if (str_eq(r->job, target) || str_eq(str_base_name(r->program), target))
		return true;
	return !str_to_i64(target, 1, INT32_MAX, &pid) && (r->pid == pid || r->launcher == pid);
}

/* The launcher's other hosts have ranks with the same job. */
static void choose_job(struct ranks *s, const char *job)
{
	for (size_t k = 0; k < s->n; k++)
		s->v[k].is_chosen = s->v[k].is_chosen || str_eq(s->v[k].job, job);
}

static size_t choose(struct ranks *s, const char *target)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (!is_meant(&s->v[i], target))
			continue;
		s->v[i].is_chosen = true;
		n++;
		if (s->v[i].pid != atoll(target))
			choose_job(s, s->v[i].job);
	}
	return n;
}

/* origin: HOST[,HOST]...:PORT; at: HOST:PORT */
static bool is_origin(const char *origin, const char *at)
{
	const char *port = strrchr(origin, ':'), *its = strrchr(at, ':');

	if (!port || !its || !str_eq(port, its))
		return false;
	for (const char *p = origin; p < port; p++) {
		size_t n = strcspn(p, ",");

		if (p + n > port)
			n = (size_t)(port - p);
		if (n == (size_t)(its - at) && !strncmp(p, at, n))
			return true;
		p += n;
	}
	return false;
}

/* Returns the number of chosen ranks. */
static size_t choose_origin(struct ranks *s, const char *at)
{
	size_t n = 0;

	for (size_t i = 0; at[0] && i < s->n; i++)
		if (is_origin(s->v[i].origin, at)) {
			choose_job(s, s->v[i].job);
			n++;
		}
	return n;
}

/* A launcher of this host whose ranks are on other hosts. *n: of chosen ranks. */
static int choose_launcher(struct ranks *s, const char *target, struct ranks_choice *out, size_t *n)
{
	Omis_reply r = NULL;
	Omis_value *v;
	const Omis_value *one;
	int64_t pid;
	int rc;

	if (!s->here[0] || str_to_i64(target, 1, INT32_MAX, &pid))
		return CMD_OK;
	rc = session_ask(&r, ":omig_launchers([%s])", s->here);
	if (rc != CMD_OK)
		return rc;
	v = r[1] && r[1][0].obj_list && r[1][0].status < OMIS_FIRST_ERROR && r[1][0].result
		    ? omis_value_parse(r[1][0].result, r[1][0].result_len)
		    : NULL;
	for (size_t i = 0; v && (one = value_at(v, i)); i++) {
		if (value_int(one, 0) != pid)
			continue;
		str_copy(out->launcher, sizeof(out->launcher), value_text(one, 1));
		*n += choose_origin(s, value_text(one, 2));
	}
	omis_value_free(v);
	omis_reply_free(r);
	return CMD_OK;
}

/* A process that no launcher has started, or that is not a rank: the lm of this host examines it.
 */
static bool add_pid(struct ranks *s, const char *target)
{
	struct rank *r;
	int64_t pid;

	if (!s->here[0] || str_to_i64(target, INT32_MIN, INT32_MAX, &pid) ||
	    array_grow(&s->v, &s->cap, s->n + 1, sizeof(*s->v), SIZE_MAX / sizeof(*s->v)))
		return false;
	r = &s->v[s->n++];
	*r = (struct rank){
		.pid = pid, .rank = -1, .size = -1, .attached_s = -1, .is_chosen = true
	};
	r->job = str_dup("");
	r->program = str_dup("");
	r->process = str_dup("");
	r->origin = str_dup("");
	str_copy(r->node, sizeof(r->node), s->here);
	return r->job && r->program && r->process && r->origin;
}

int ranks_choose(struct ranks *s, char *const *target, size_t n, struct ranks_choice *out)
{
	int rc = CMD_OK;

	*out = (struct ranks_choice){ 0 };
	for (size_t i = 0; rc == CMD_OK && i < n && !out->missing; i++) {
		size_t chosen = choose(s, target[i]);

		if (!chosen)
			rc = choose_launcher(s, target[i], out, &chosen);
		if (!chosen && (out->launcher[0] || !add_pid(s, target[i])))
			out->missing = target[i];
	}
	return rc;
}
