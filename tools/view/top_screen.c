/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/top_screen.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "tools/term/term.h"
#include "tools/view/top_waits.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 15 lines of 88 columns: it fits into a small window. */
const char top_help[] =
	"  up, down, PgUp, PgDn     choose a rank, scroll; Home and End: first and last\n"
	"  Enter                    the chosen rank alone: calls, partners, stack\n"
	"  Esc, Backspace           back to all ranks\n"
	"  s, < and >               next order, column to the left and right\n"
	"  r                        reverse the order\n"
	"  j                        ranks of the next job only, then all\n"
	"  /                        filter: node1 or mpi>50 or rank<16; empty shows all\n"
	"  p, space                 pause\n"
	"  q                        quit\n"
	"\n"
	"CALL is the call that a rank is in, FOR since when (>=: at least). MPI% is the share of\n"
	"the last interval in MPI; the classes behind it are parts of it, without those that no\n"
	"rank has called. MSG/s are calls of the class send. A rank that the others wait for and\n"
	"a host without room are in colour. CPU-WAIT, MEM-WAIT and IO-WAIT of a host are shares\n"
	"of the last 10 s in which some task waited for a processor, memory or a disk.\n";

/* --- the filter */

static bool number_field(const struct top_rank *r, const char *name, double *out)
{
	const struct {
		const char *name;
		double value;
	} fields[] = {
		{ "rank", (double)r->rank },
		{ "pid", (double)r->pid },
		{ "mpi", r->mpi },
		{ "cpu", r->cpu },
		{ "calls", r->calls_s },
		{ "msg", r->messages_s },
		{ "rss", r->rss_bytes / 1048576 },
		{ "out", r->out_s },
		{ "in", r->in_s },
	};

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (str_eq(fields[i].name, name)) {
			*out = fields[i].value;
			return true;
		}
	return false;
}

/* Returns whether a comparison in `word` holds. *is_one: it is a comparison. */
static bool compares(const char *word, const struct top_rank *r, bool *is_one)
{
	size_t at = strcspn(word, "<>=");
	char name[16];
	double have, want;

	*is_one = word[at] && at && at < sizeof(name);
	if (!*is_one)
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)at, word);
	*is_one =
		number_field(r, name, &have) && !str_to_double(word + at + 1, -1e300, 1e300, &want);
	if (!*is_one || isnan(have))
		return false;
	return word[at] == '<'	 ? have < want
	       : word[at] == '>' ? have > want
				 : fabs(have - want) < 0.5;
}

static bool has_part(const char *text, const char *word)
{
	return strcasestr(text, word) != NULL;
}

static bool takes_word(const char *word, const struct top_rank *r, const struct top_node *node)
{
	bool is_one, holds = compares(word, r, &is_one);
	char rank[24];

	if (is_one)
		return holds;
	snprintf(rank, sizeof(rank), "%lld", (long long)r->rank);
	return str_eq(rank, word) || has_part(r->program, word) || has_part(r->job, word) ||
	       has_part(r->call.name, word) || has_part(top_state_name(r->state), word) ||
	       (node && has_part(node->name, word));
}

bool top_filter_takes(const char *filter, const struct top_rank *r, const struct top_node *node)
{
	char words[TOP_FILTER_BYTES], *at = words, *word;

	str_copy(words, sizeof(words), filter);
	while ((word = strsep(&at, " ")))
		if (*word && !takes_word(word, r, node))
			return false;
	return true;
}

bool top_screen_view(struct top_screen *p, const struct top_sample *all, struct top_sample *out)
{
	*out = *all;
	out->nrank = 0;
	out->rank = calloc(all->nrank + 1, sizeof(*out->rank));
	for (size_t i = 0; out->rank && i < all->nrank; i++) {
		const struct top_rank *r = &all->rank[i];

		if ((p->job[0] && !str_eq(p->job, r->job)) ||
		    !top_filter_takes(p->filter, r, top_node_find(all, r->node)))
			continue;
		out->rank[out->nrank++] = *r;
	}
	for (size_t i = 0; p->is_reverse && i < out->nrank / 2; i++) {
		struct top_rank r = out->rank[i];

		out->rank[i] = out->rank[out->nrank - 1 - i];
		out->rank[out->nrank - 1 - i] = r;
	}
	if (p->row >= out->nrank)
		p->row = out->nrank ? out->nrank - 1 : 0;
	return out->rank != NULL;
}

/* --- keys */

/* The chosen row stays on the screen. */
static void move_to(struct top_screen *p, size_t row, size_t n, size_t rows)
{
	p->row = row < n ? row : n ? n - 1 : 0;
	rows = rows ? rows : 1;
	if (p->row < p->first)
		p->first = p->row;
	if (p->row >= p->first + rows)
		p->first = p->row - rows + 1;
}

static bool move(struct top_screen *p, int key, size_t n, size_t rows)
{
	size_t page = rows ? rows : 1;

	switch (key) {
	case TERM_KEY_UP:
		move_to(p, p->row ? p->row - 1 : 0, n, rows);
		return true;
	case TERM_KEY_DOWN:
		move_to(p, p->row + 1, n, rows);
		return true;
	case TERM_KEY_PAGE_UP:
		move_to(p, p->row > page ? p->row - page : 0, n, rows);
		return true;
	case TERM_KEY_PAGE_DOWN:
		move_to(p, p->row + page, n, rows);
		return true;
	case TERM_KEY_HOME:
		move_to(p, 0, n, rows);
		return true;
	case TERM_KEY_END:
		move_to(p, n, n, rows);
		return true;
	default:
		return false;
	}
}

/* Selects the next job in the order of the names; after the last one, all jobs. */
static void next_job(struct top_screen *p, const struct top_sample *all)
{
	const char *best = "";

	for (size_t i = 0; i < all->nrank; i++) {
		const char *job = all->rank[i].job;

		if (strverscmp(job, p->job) > 0 && (!*best || strverscmp(job, best) < 0))
			best = job;
	}
	str_copy(p->job, sizeof(p->job), best);
	p->row = p->first = 0;
}

static void edit(struct top_screen *p, int key)
{
	size_t n = strlen(p->edit);

	if (key == '\n' || key == '\r') {
		str_copy(p->filter, sizeof(p->filter), p->edit);
		p->is_editing = false;
		p->row = p->first = 0;
	} else if (key == TERM_KEY_ESCAPE) {
		p->is_editing = false;
	} else if ((key == '\b' || key == 0x7f) && n) {
		p->edit[n - 1] = '\0';
	} else if (key >= ' ' && key < 0x7f && n + 1 < sizeof(p->edit)) {
		p->edit[n] = (char)key;
		p->edit[n + 1] = '\0';
	}
}

static void open_rank(struct top_screen *p, const struct top_sample *s)
{
	if (p->row >= s->nrank)
		return;
	str_copy(p->token, sizeof(p->token), s->rank[p->row].token);
	p->page = TOP_PAGE_RANK;
}

static bool change_order(struct top_screen *p, int key)
{
	if (key == 'r')
		p->is_reverse = !p->is_reverse;
	else
		p->sort = (p->sort + (key == '<' ? TOP_SORTS - 1 : 1)) % TOP_SORTS;
	p->row = p->first = 0;
	return true;
}

static bool list_key(struct top_screen *p, int key, const struct top_sample *s,
		     const struct top_sample *all, size_t rows)
{
	switch (key) {
	case 's':
	case '<':
	case '>':
	case 'r':
		return change_order(p, key);
	case 'j':
		next_job(p, all);
		return true;
	case '/':
		p->is_editing = true;
		str_copy(p->edit, sizeof(p->edit), p->filter);
		return true;
	case '\n':
	case '\r':
		open_rank(p, s);
		return true;
	default:
		return move(p, key, s->nrank, rows);
	}
}

bool top_screen_key(struct top_screen *p, int key, const struct top_sample *s,
		    const struct top_sample *all, size_t rows)
{
	if (p->is_editing) {
		edit(p, key);
		return true;
	}
	switch (key) {
	case 'q':
	case 'Q':
		p->is_over = true;
		return false;
	case 'p':
	case ' ':
		p->is_paused = !p->is_paused;
		return true;
	case '?':
	case 'h':
		p->page = p->page == TOP_PAGE_HELP ? TOP_PAGE_LIST : TOP_PAGE_HELP;
		return true;
	case TERM_KEY_ESCAPE:
	case '\b':
	case 0x7f:
		p->page = TOP_PAGE_LIST;
		return true;
	default:
		return p->page == TOP_PAGE_LIST && list_key(p, key, s, all, rows);
	}
}
