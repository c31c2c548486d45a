/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/stacks.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/session/reply_each.h"
#include "tools/session/session.h"
#include "tools/libomis/tree_fields.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A frame of omig_backtrace(). */
enum { FRAME_PC, FRAME_SP, FRAME_MODULE, FRAME_SYMBOL, FRAME_OFFSET, FRAME_FILE, FRAME_LINE };

void stacks_done(struct stacks *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].frame);
	for (size_t i = 0; i < s->nheld; i++)
		omis_value_free(s->held[i]);
	free(s->v);
	free(s->held);
	*s = (struct stacks){ 0 };
}

/* --- which threads */

static bool is_wanted(const Omis_value *process, const struct stacks_wanted *w)
{
	return value_text(process, TREE_TOKEN)[0] == 'p' &&
	       (!w->job || str_eq(value_text(process, TREE_JOB), w->job)) &&
	       ranges_have(&w->ranks, value_int(process, TREE_RANK));
}

/* A process precedes its threads. */
static bool add_thread(struct stacks *s, const Omis_value *process, const Omis_value *thread,
		       const char *node)
{
	struct stack *t;

	if (array_grow(&s->v, &s->cap, s->n + 1, sizeof(*s->v), OMIS_OBJECTS_MAX))
		return false;
	t = &s->v[s->n++];
	*t = (struct stack){ .rank = value_int(process, TREE_RANK),
			     .pid = value_int(process, TREE_PID),
			     .tid = value_int(thread, TREE_PID),
			     .program = value_text(process, TREE_NAME),
			     .node = node };
	str_copy(t->token, sizeof(t->token), value_text(thread, TREE_TOKEN));
	s->has_ranks |= t->rank >= 0;
	s->has_others |= t->rank < 0;
	return true;
}

static int by_rank(const void *pa, const void *pb)
{
	const struct stack *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static const char *node_name(const Omis_value *node)
{
	const char *host = value_text(node, TREE_HOST);

	return host[0] ? host : value_text(node, TREE_NAME);
}

bool stacks_choose(struct stacks *s, const Omis_value *tree, const struct stacks_wanted *w)
{
	const Omis_value *process = NULL;
	const char *node = "";

	s->tree = tree;
	s->with_threads = w->threads;
	for (size_t i = 0; tree && i < tree->n; i++) {
		const Omis_value *o = &tree->list[i];
		char class = value_text(o, TREE_TOKEN)[0];

		if (class == 'n')
			node = node_name(o);
		if (class == 'p') {
			bool has_ended = str_eq(value_text(o, TREE_STATE), "ended");

			process = is_wanted(o, w) && !has_ended ? o : NULL;
			s->ended += is_wanted(o, w) && has_ended && value_int(o, TREE_RANK) >= 0;
		}
		if (class != 't' || !process ||
		    (!w->threads && value_int(o, TREE_PID) != value_int(process, TREE_PID)))
			continue;
		if (!add_thread(s, process, o, node))
			return false;
	}
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_rank);
	return true;
}

/* --- frames */

bool stack_frame_is_mpi(const struct stack_frame *f)
{
	return !strncasecmp(f->function, "mpi_", 4) || !strncasecmp(f->function, "pmpi_", 5);
}

static bool is_of_system(const struct stack_frame *f)
{
	const char *file = str_base_name(f->module);

	return str_has_prefix(file, "libc.") || str_has_prefix(file, "libpthread") ||
	       str_has_prefix(file, "libm.") || str_has_prefix(file, "[vdso]");
}

/* True for a frame of libomig, whose wrappers precede the calls of the MPI library. */
static bool is_own(const struct stack_frame *f)
{
	return str_has_prefix(str_base_name(f->module), "libomig.so");
}

/* Frames above main are the same in each program; a stripped program has no such name. */
static size_t first_of_interest(const struct stack_frame *f, size_t n)
{
	size_t start = 0;

	for (size_t i = 0; i < n; i++) {
		if (str_eq(f[i].function, "main"))
			return i;
		if (str_has_prefix(f[i].function, "__libc_start"))
			start = i + 1;
	}
	for (size_t i = start; i < n; i++)
		if (!is_of_system(&f[i]) && !str_eq(f[i].function, "_start"))
			return i;
	return 0;
}

/* Cuts the stack at the call of a library: the frames below are internal to it. */
static void shorten(struct stack *s)
{
	size_t first = first_of_interest(s->frame, s->n), n = 0;

	for (size_t i = first; i < s->n; i++) {
		if (is_own(&s->frame[i]))
			continue;
		s->frame[n++] = s->frame[i];
		if (stack_frame_is_mpi(&s->frame[i]) || is_of_system(&s->frame[i]))
			break;
	}
	s->n = n ? n : s->n;
}

static bool set_frames(struct stack *s, const Omis_value *v, bool is_deep)
{
	size_t n = v->n > 1 ? v->n - 1 : 0; /* the number of frames is first */

	if (s->frame || !n)
		return true;
	n = n < STACKS_FRAMES_MAX ? n : STACKS_FRAMES_MAX;
	s->frame = calloc(n, sizeof(*s->frame));
	if (!s->frame)
		return false;
	for (size_t i = 0; i < n; i++) {
		const Omis_value *f = value_at(v, n - i);

		s->frame[i] = (struct stack_frame){ .function = value_text(f, FRAME_SYMBOL),
						    .file = value_text(f, FRAME_FILE),
						    .module = value_text(f, FRAME_MODULE),
						    .line = value_int(f, FRAME_LINE),
						    .pc = (uint64_t)value_int(f, FRAME_PC) };
	}
	s->n = n;
	if (!is_deep)
		shorten(s);
	return true;
}

static struct stack *find(const struct stacks *s, const char *token, size_t n)
{
	for (size_t i = 0; i < s->n; i++)
		if (strlen(s->v[i].token) == n && !memcmp(s->v[i].token, token, n))
			return &s->v[i];
	return NULL;
}

static void add_trouble(struct stacks *s, int64_t rank, const char *text)
{
	struct stacks_trouble *t;

	for (size_t i = 0; i < s->ntrouble && i < STACKS_TROUBLES_MAX; i++)
		if (str_eq(s->trouble[i].text, text)) {
			s->trouble[i].n++;
			return;
		}
	if (s->ntrouble++ >= STACKS_TROUBLES_MAX)
		return;
	t = &s->trouble[s->ntrouble - 1];
	*t = (struct stacks_trouble){ .rank = rank, .n = 1 };
	str_copy(t->text, sizeof(t->text), text);
}

static bool add_entry(struct stacks *s, const Omis_object_result *o, bool is_deep)
{
	bool is_error = o->status >= OMIS_FIRST_ERROR;
	Omis_value *v = !is_error && o->result ? omis_value_parse(o->result, o->result_len) : NULL;
	bool ok = true;

	if (v &&
	    array_grow(&s->held, &s->held_cap, s->nheld + 1, sizeof(*s->held), OMIS_OBJECTS_MAX)) {
		omis_value_free(v);
		return false;
	}
	if (v)
		s->held[s->nheld++] = v;
	if (is_error && !o->obj_list[0])
		add_trouble(s, -1, o->result ? o->result : omis_strerror(o->status));
	for (const char *at = o->obj_list; *at; at += *at == ',') {
		size_t n = strcspn(at, ",");
		struct stack *t = find(s, at, n);

		if (t && v)
			ok = set_frames(t, v, is_deep) && ok;
		else if (t && is_error)
			add_trouble(s, t->rank, o->result ? o->result : omis_strerror(o->status));
		at += n;
	}
	return ok;
}

bool stacks_add(struct stacks *s, const Omis_object_result *entries, bool is_deep)
{
	for (const Omis_object_result *o = entries; o && o->obj_list; o++)
		if (!add_entry(s, o, is_deep))
			return false;
	return true;
}

void stacks_finish(struct stacks *s)
{
	size_t n = 0, silent = 0, explained = 0;

	for (size_t i = 0; i < s->ntrouble && i < STACKS_TROUBLES_MAX; i++)
		explained += s->trouble[i].n;
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].n)
			s->v[n++] = s->v[i];
		else
			silent++;
	}
	s->n = n;
	if (silent > explained && s->ntrouble < STACKS_TROUBLES_MAX) {
		add_trouble(s, -1, "no reply in time");
		s->trouble[s->ntrouble - 1].n = silent - explained;
	}
}
