/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the merged tree of stacks as text and as JSON. */
#include "tools/view/stacks.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "tools/term/ranges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_SAID_MAX 3 /* places that the first line names */
#define RANGES_MAX 6 /* ranges of ranks per branch */
#define LINE_COLUMNS 100 /* of a chain of calls */

/*
 * Compares frames by function. Frames without one are compared by module, as addresses differ
 * between processes. The line of a last frame is arbitrary: it does not separate threads.
 */
static int compare_frames(const struct stack_frame *a, const struct stack_frame *b, bool is_last)
{
	int d = strcmp(a->function, b->function);

	if (!d)
		d = strcmp(a->file, b->file);
	if (!d && !is_last)
		d = a->line < b->line ? -1 : a->line > b->line;
	return d ? d : strcmp(a->module, b->module);
}

static bool is_last(const struct stack *s, size_t depth)
{
	return depth + 1 == s->n;
}

/*
 * Returns 0 for the same branch at this depth. A thread whose stack ends here is separate from
 * deeper ones.
 */
static int compare_at(const struct stack *a, const struct stack *b, size_t depth)
{
	int d = (int)is_last(b, depth) - (int)is_last(a, depth);

	if (d)
		return d;
	return compare_frames(&a->frame[depth], &b->frame[depth], is_last(a, depth));
}

static int by_path(const void *pa, const void *pb)
{
	const struct stack *a = *(const struct stack *const *)pa;
	const struct stack *b = *(const struct stack *const *)pb;

	for (size_t i = 0; i < a->n && i < b->n; i++) {
		int d = compare_at(a, b, i);

		if (d)
			return d;
	}
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* Stacks in the order of their paths; a branch is a part of them. */
struct branch {
	const struct stack *const *v;
	size_t n;
};

static const struct stack **in_order(const struct stacks *s)
{
	const struct stack **v = calloc(s->n + 1, sizeof(*v));

	for (size_t i = 0; v && i < s->n; i++)
		v[i] = &s->v[i];
	if (v)
		qsort(v, s->n, sizeof(*v), by_path);
	return v;
}

static int larger_first(const void *pa, const void *pb)
{
	const struct branch *a = pa, *b = pb;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return a->v[0]->rank < b->v[0]->rank ? -1 : a->v[0]->rank > b->v[0]->rank;
}

/* The branches below at this depth, the largest first; NULL: no memory. For free(). */
static struct branch *branches_of(struct branch of, size_t depth, size_t *n)
{
	struct branch *out = calloc(of.n + 1, sizeof(*out));

	*n = 0;
	for (size_t i = 0; out && i < of.n; i++) {
		if (depth >= of.v[i]->n)
			continue;
		if (*n && !compare_at(out[*n - 1].v[0], of.v[i], depth)) {
			out[*n - 1].n++;
			continue;
		}
		out[(*n)++] = (struct branch){ of.v + i, 1 };
	}
	if (out)
		qsort(out, *n, sizeof(*out), larger_first);
	return out;
}

/* --- text */

/* "halo.c:41", "halo.c:41-47" where threads of the last frame differ, "" without a line. */
static void put_place(struct buf *out, struct branch b, size_t depth)
{
	int64_t low = INT64_MAX, high = 0;

	for (size_t i = 0; i < b.n; i++) {
		int64_t line = b.v[i]->frame[depth].line;

		low = line < low ? line : low;
		high = line > high ? line : high;
	}
	if (high <= 0)
		return;
	buf_printf(out, "%s:%lld", str_base_name(b.v[0]->frame[depth].file), (long long)low);
	if (high > low)
		buf_printf(out, "-%lld", (long long)high);
}

static void put_function(struct buf *out, const struct stack_frame *f)
{
	/* PMPI_Send is the MPI_Send that the program called. */
	const char *name = f->function + (stack_frame_is_mpi(f) && (f->function[0] | 0x20) == 'p');
	char safe[256];

	if (name[0])
		buf_puts(out, str_show(safe, sizeof(safe), name));
	else
		buf_puts(out, str_show(safe, sizeof(safe), str_base_name(f->module)));
}

/* Puts "[0-2, 7] "; nothing for processes without MPI. */
static void put_ranks(struct buf *out, struct branch b)
{
	int64_t *rank = calloc(b.n, sizeof(*rank));
	size_t n = 0;

	for (size_t i = 0; rank && i < b.n; i++)
		if (b.v[i]->rank >= 0)
			rank[n++] = b.v[i]->rank;
	if (n) {
		qsort(rank, n, sizeof(*rank), array_order_int64);
		buf_putc(out, '[');
		ranges_put(out, rank, n, RANGES_MAX);
		buf_puts(out, "] ");
	}
	free(rank);
}

/* "rank 17 is in f (flux.c:210)", "63 of 64 ranks wait in MPI_Waitall (halo.c:41)". */
static void say_group(const struct stacks *s, struct branch b, struct buf *out)
{
	size_t last = b.v[0]->n - 1,
	       caller = last && stack_frame_is_mpi(&b.v[0]->frame[last]) ? last - 1 : last;
	const char *things = s->with_threads		      ? "threads"
			     : s->has_ranks && !s->has_others ? "ranks"
							      : "processes";
	struct buf place = BUF_INIT(512);

	if (b.n == 1 && b.v[0]->rank >= 0 && !s->with_threads)
		buf_printf(out, "rank %lld %s in ", (long long)b.v[0]->rank,
			   caller < last ? "waits" : "is");
	else if (s->n == 1)
		buf_printf(out, "the only %s is in ", s->with_threads ? "thread" : "process");
	else if (b.n == s->n)
		buf_printf(out, "all %zu %s %s in ", b.n, things, caller < last ? "wait" : "are");
	else
		buf_printf(out, "%zu of %zu %s %s in ", b.n, s->n, things,
			   b.n == 1	   ? "is"
			   : caller < last ? "wait"
					   : "are");
	put_function(out, &b.v[0]->frame[last]);
	put_place(&place, b, caller);
	if (place.n)
		buf_printf(out, " (%s)", buf_str(&place));
	buf_done(&place);
}

/* Groups of equal paths. */
static struct branch *places_of(struct branch all, size_t *n)
{
	struct branch *out = calloc(all.n + 1, sizeof(*out));

	*n = 0;
	for (size_t i = 0; out && i < all.n; i++) {
		const struct stack *a = *n ? out[*n - 1].v[0] : NULL, *b = all.v[i];
		bool is_same = a && a->n == b->n;

		for (size_t d = 0; is_same && d < a->n; d++)
			is_same = !compare_at(a, b, d);
		if (is_same)
			out[*n - 1].n++;
		else
			out[(*n)++] = (struct branch){ all.v + i, 1 };
	}
	if (out)
		qsort(out, *n, sizeof(*out), larger_first);
	return out;
}

static void say_ordered(const struct stacks *s, const struct stack *const *v, struct buf *out)
{
	size_t n = 0, others = 0;
	struct branch *place = places_of((struct branch){ v, s->n }, &n);

	if (!s->n)
		buf_puts(out, "no stack could be read");
	for (size_t i = 0; place && i < n; i++) {
		if (i >= GROUPS_SAID_MAX) {
			others += place[i].n;
			continue;
		}
		buf_puts(out, i ? "; " : "");
		say_group(s, place[i], out);
	}
	if (others)
		buf_printf(out, "; %zu in %zu more place%s", others, n - GROUPS_SAID_MAX,
			   n == GROUPS_SAID_MAX + 1 ? "" : "s");
	free(place);
}

/* The first line: "63 of 64 ranks wait in MPI_Waitall (halo.c:41); rank 17 is in flux
 * (flux.c:210)". */
static void say(const struct stacks *s, struct buf *out)
{
	const struct stack **v = in_order(s);

	if (v)
		say_ordered(s, v, out);
	free(v);
}

/* --- the tree */

struct drawing {
	const struct stacks *s;
	struct buf *out;
	bool is_utf8;
	int rc;
};

/* The source position within the library is not shown. */
static void put_label(struct buf *line, struct branch b, size_t depth)
{
	struct buf place = BUF_INIT(512);

	put_function(line, &b.v[0]->frame[depth]);
	if (!stack_frame_is_mpi(&b.v[0]->frame[depth]))
		put_place(&place, b, depth);
	if (place.n)
		buf_printf(line, " %s", buf_str(&place));
	buf_done(&place);
}

static void draw_below(struct drawing *d, struct branch of, size_t depth, const char *indent);

/* Draws a branch and the calls below it in a line, while there is only one and it fits. */
static void draw_chain(struct drawing *d, struct branch b, size_t depth, struct buf *line,
		       const char *indent)
{
	for (;;) {
		size_t n;
		struct branch *below;
		bool is_chain;

		put_label(line, b, depth);
		below = branches_of(b, ++depth, &n);
		is_chain = below && n == 1 && str_characters(buf_str(line)) < LINE_COLUMNS;
		free(below);
		if (!is_chain)
			break;
		buf_puts(line, d->is_utf8 ? " \u2500 " : " - ");
	}
	buf_printf(d->out, "%s\n", buf_str(line));
	draw_below(d, b, depth, indent);
}

static void draw_branch(struct drawing *d, struct branch b, size_t depth, const char *indent,
			bool is_end)
{
	const char *mark =
		d->is_utf8 ? (is_end ? " \u2514 " : " \u251c ") : (is_end ? " ` " : " | ");
	struct buf line = BUF_INIT(1 << 16), next = BUF_INIT(1 << 16);
	int width = snprintf(NULL, 0, "%zu", d->s->n);

	buf_printf(&line, "%s%s%*zu ", indent, depth ? mark : "", depth ? 1 : width, b.n);
	if (b.n < d->s->n)
		put_ranks(&line, b);
	buf_printf(&next, "%s%s", indent,
		   !depth	? ""
		   : is_end	? "   "
		   : d->is_utf8 ? " \u2502 "
				: " | ");
	draw_chain(d, b, depth, &line, buf_str(&next));
	if (line.failed || next.failed)
		d->rc = -ERR_NOMEM;
	buf_done(&line);
	buf_done(&next);
}

static void draw_below(struct drawing *d, struct branch of, size_t depth, const char *indent)
{
	size_t n;
	struct branch *below = branches_of(of, depth, &n);

	if (!below)
		d->rc = -ERR_NOMEM;
	for (size_t i = 0; below && i < n; i++)
		draw_branch(d, below[i], depth, indent, i + 1 == n);
	free(below);
}

/* --- missing stacks */

static void put_troubles(const struct stacks *s, struct buf *out)
{
	for (size_t i = 0; i < s->ntrouble && i < STACKS_TROUBLES_MAX; i++) {
		const struct stacks_trouble *t = &s->trouble[i];
		char safe[640];

		str_show(safe, sizeof(safe), t->text);
		if (t->n == 1 && t->rank >= 0)
			buf_printf(out, "no stack of rank %lld: %s\n", (long long)t->rank, safe);
		else
			buf_printf(out, "no stack of %zu thread%s: %s\n", t->n,
				   t->n == 1 ? "" : "s", safe);
	}
	if (s->ended)
		buf_printf(out, "%zu rank%s ended\n", s->ended, s->ended == 1 ? " has" : "s have");
}

/* Puts hints about frames of the program itself, which interest users most. */
static void put_hints(const struct stacks *s, struct buf *out)
{
	bool has_name = false, has_line = false;

	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->v[i].n; k++) {
			const struct stack_frame *f = &s->v[i].frame[k];

			if (!str_eq(str_base_name(f->module), s->v[i].program))
				continue;
			has_name |= f->function[0] != '\0';
			has_line |= f->line > 0;
		}
	if (!s->n || has_line)
		return;
	buf_printf(out, "%s has no %s\n", s->v[0].program,
		   has_name ? "debug information: compile with -g for files and lines"
			    : "symbols: it is stripped, and its functions have no names");
}

int stacks_show(const struct term *t, const struct stacks *s, struct buf *out)
{
	const struct stack **v = in_order(s);
	struct drawing d = { .s = s, .out = out, .is_utf8 = t->is_utf8 };

	if (!v)
		return -ERR_NOMEM;
	buf_puts(out, term_paint(t, TERM_BOLD));
	say_ordered(s, v, out);
	buf_printf(out, "%s\n", term_paint(t, TERM_PLAIN));
	draw_below(&d, (struct branch){ v, s->n }, 0, "");
	put_troubles(s, out);
	put_hints(s, out);
	free(v);
	return d.rc || out->failed ? -ERR_NOMEM : 0;
}

/* --- JSON */

static void frame_json(struct json *j, const struct stack_frame *f)
{
	json_object(j);
	json_key_str(j, "function", f->function);
	json_key_str(j, "file", f->file);
	json_key_i64(j, "line", f->line);
	json_key_str(j, "module", f->module);
	json_key_u64(j, "pc", f->pc);
	json_object_end(j);
}

static void put_rank(struct json *j, int64_t rank)
{
	json_key(j, "rank");
	if (rank >= 0)
		json_i64(j, rank);
	else
		json_null(j); /* without MPI */
}

static void stack_json(struct json *j, const struct stack *s)
{
	json_object(j);
	put_rank(j, s->rank);
	json_key_str(j, "node", s->node);
	json_key_str(j, "program", s->program);
	json_key_i64(j, "pid", s->pid);
	json_key_i64(j, "tid", s->tid);
	json_key_str(j, "thread", s->token);
	json_key_array(j, "frames");
	for (size_t i = 0; i < s->n; i++)
		frame_json(j, &s->frame[i]);
	json_array_end(j);
	json_object_end(j);
}

void stacks_to_json(struct json *j, const struct stacks *s)
{
	struct buf words = BUF_INIT(1 << 16);

	say(s, &words);
	json_key_str(j, "summary", buf_str(&words));
	buf_done(&words);
	json_key_array(j, "stacks");
	for (size_t i = 0; i < s->n; i++)
		stack_json(j, &s->v[i]);
	json_array_end(j);
	json_key_array(j, "missing");
	for (size_t i = 0; i < s->ntrouble && i < STACKS_TROUBLES_MAX; i++) {
		json_object(j);
		put_rank(j, s->trouble[i].rank);
		json_key_u64(j, "threads", s->trouble[i].n);
		json_key_str(j, "reason", s->trouble[i].text);
		json_object_end(j);
	}
	json_array_end(j);
	json_key_u64(j, "ended", s->ended);
}
