/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/tree.h"

#include "common/base/str.h"
#include "tools/session/session.h"
#include "tools/term/table.h"
#include "tools/libomis/tree_fields.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static void put(const Omis_value *o, size_t i)
{
	term_put_safe(stdout, value_text(o, i), strlen(value_text(o, i)));
}

static enum term_paint paint_of(const char *state)
{
	if (str_eq(state, "silent") || str_eq(state, "hung") || str_eq(state, "zombie") ||
	    str_eq(state, "stopped"))
		return TERM_YELLOW;
	if (str_eq(state, "lost") || str_eq(state, "unreachable"))
		return TERM_RED;
	return str_eq(state, "ended") ? TERM_DIM : TERM_GREEN;
}

/* status: the status from wait(), or -1. */
static void show_end(int status)
{
	if (status >= 0 && WIFSIGNALED(status))
		printf(" (signal %d)", WTERMSIG(status));
	else if (status >= 0 && WEXITSTATUS(status))
		printf(" (status %d)", WEXITSTATUS(status));
}

static void show_state(const struct term *t, const Omis_value *o)
{
	const char *state = value_text(o, TREE_STATE);
	char age[TABLE_NUMBER_BYTES];

	printf("  %s", term_paint(t, paint_of(state)));
	put(o, TREE_STATE);
	if (tree_level(o) == TREE_NODES && !str_eq(state, "up") && value_at(o, TREE_AGE))
		printf(" for %s", table_duration(age, value_float(o, TREE_AGE) / 1e9));
	if (str_eq(state, "ended"))
		show_end((int)value_int(o, TREE_EXIT));
	fputs(term_paint(t, TERM_PLAIN), stdout);
}

static void show_process(const Omis_value *o)
{
	if (value_int(o, TREE_RANK) >= 0)
		printf("  rank %lld of %lld", (long long)value_int(o, TREE_RANK),
		       (long long)value_int(o, TREE_WORLD));
	printf("  pid %lld  ", (long long)value_int(o, TREE_PID));
	put(o, TREE_NAME);
	if (value_text(o, TREE_MPI)[0]) {
		fputs("  ", stdout);
		put(o, TREE_MPI);
	}
	if (value_text(o, TREE_JOB)[0]) {
		fputs("  job ", stdout);
		put(o, TREE_JOB);
	}
}

static void show_object(const struct term *t, const Omis_value *o, unsigned level)
{
	printf("%*s%s", (int)(level - 1) * 2, "", term_paint(t, TERM_BOLD));
	put(o, TREE_TOKEN);
	fputs(term_paint(t, TERM_PLAIN), stdout);
	if (level == TREE_PROCESSES) {
		show_process(o);
	} else if (level == TREE_THREADS) {
		printf("  tid %lld", (long long)value_int(o, TREE_PID));
	} else {
		printf("  %s ", level == TREE_SITES ? "site" : "node");
		put(o, TREE_NAME);
	}
	show_state(t, o);
	putchar('\n');
}

void tree_show(const struct term *t, const struct tree *tree, enum tree_depth depth)
{
	for (size_t i = 0; i < tree->n; i++) {
		unsigned level = tree_level(tree->object[i]);

		if (level <= depth)
			show_object(t, tree->object[i], level);
	}
	if (tree->n == 0)
		puts("nothing is watched yet; start a program with: omig run -- PROGRAM ...");
}

unsigned tree_unreachable(const struct tree *tree)
{
	unsigned n = 0;

	for (size_t i = 0; i < tree->n; i++)
		n += tree_level(tree->object[i]) == TREE_NODES &&
		     !str_eq(value_text(tree->object[i], TREE_STATE), "up");
	return n;
}

/* --- JSON: objects follow their container, so a change of level opens and closes lists */

static void text(struct json *j, const char *key, const Omis_value *o, size_t i)
{
	json_key_str(j, key, value_text(o, i));
}

static void number(struct json *j, const char *key, const Omis_value *o, size_t i)
{
	json_key_i64(j, key, value_int(o, i));
}

static void end_json(struct json *j, const char *state, int status)
{
	bool has_ended = str_eq(state, "ended") && status >= 0;

	json_key(j, "exit_status");
	if (has_ended && WIFEXITED(status))
		json_i64(j, WEXITSTATUS(status));
	else
		json_null(j);
	json_key(j, "signal");
	if (has_ended && WIFSIGNALED(status))
		json_i64(j, WTERMSIG(status));
	else
		json_null(j);
}

static void open_object(struct json *j, const Omis_value *o, unsigned level)
{
	static const char *const below[] = { NULL, "nodes", "processes", "threads", NULL };

	json_object(j);
	text(j, "token", o, TREE_TOKEN);
	text(j, "state", o, TREE_STATE);
	if (level <= TREE_NODES)
		text(j, "name", o, TREE_NAME);
	if (level == TREE_NODES && value_at(o, TREE_AGE))
		number(j, "state_age_ns", o, TREE_AGE);
	if (level == TREE_PROCESSES) {
		text(j, "program", o, TREE_NAME);
		number(j, "pid", o, TREE_PID);
		number(j, "rank", o, TREE_RANK);
		number(j, "world_size", o, TREE_WORLD);
		text(j, "job", o, TREE_JOB);
		text(j, "mpi", o, TREE_MPI);
		end_json(j, value_text(o, TREE_STATE), (int)value_int(o, TREE_EXIT));
	}
	if (level == TREE_THREADS)
		number(j, "tid", o, TREE_PID);
	if (below[level]) {
		json_key_array(j, below[level]);
	}
}

static void close_object(struct json *j, unsigned level)
{
	if (level < TREE_THREADS)
		json_array_end(j);
	json_object_end(j);
}

void tree_to_json(struct json *j, const struct tree *tree)
{
	unsigned level, open = 0; /* deepest level that is open */

	json_object(j);
	json_key_i64(j, "version", 1);
	json_key_array(j, "sites");
	for (size_t i = 0; i < tree->n; i++) {
		level = tree_level(tree->object[i]);
		if (level > open + 1)
			continue; /* its container is missing: there is no list for it */
		for (; open >= level; open--)
			close_object(j, open);
		open_object(j, tree->object[i], level);
		open = level;
	}
	for (; open > 0; open--)
		close_object(j, open);
	json_array_end(j);
	json_object_end(j);
}
