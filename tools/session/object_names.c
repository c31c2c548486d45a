/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/session/object_names.h"

#include "common/base/str.h"
#include "tools/libomis/tree_fields.h"
#include "tools/session/session.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define TOKEN_MAX_BYTES 64

bool object_name_read(const Omis_value *row, struct object_name *out)
{
	const char *host = value_text(row, TREE_HOST);

	*out = (struct object_name){ .token = value_text(row, TREE_TOKEN),
				     .parent = value_text(row, TREE_PARENT),
				     .name = value_text(row, TREE_NAME),
				     .job = value_text(row, TREE_JOB),
				     .rank = value_int(row, TREE_RANK),
				     .pid = value_int(row, TREE_PID),
				     .has_ended = str_eq(value_text(row, TREE_STATE), "ended") };
	if (out->token[0] == 'n' && host[0])
		out->name = host;
	return out->token[0];
}

bool object_name_find(const Omis_value *tree, const char *token, struct object_name *out)
{
	for (size_t i = 0; tree && i < tree->n; i++)
		if (str_eq(value_text(&tree->list[i], TREE_TOKEN), token))
			return object_name_read(&tree->list[i], out);
	return false;
}

static void label_process(const Omis_value *tree, bool with_job, const struct object_name *p,
			  char *out, size_t size)
{
	struct object_name node = { .name = "" };
	bool has_job = with_job && p->job[0];

	object_name_find(tree, p->parent, &node);
	snprintf(out, size, "%s%s%s%s%lld@%s", has_job ? p->job : "", has_job ? ":" : "",
		 p->rank >= 0 ? "rank" : p->name, p->rank >= 0 ? "" : ".",
		 (long long)(p->rank >= 0 ? p->rank : p->pid), node.name);
}

void object_name_label(const Omis_value *tree, bool with_job, const char *token, char *out,
		       size_t size)
{
	struct object_name n, parent;
	size_t used;

	if (!object_name_find(tree, token, &n)) {
		str_copy(out, size, token);
	} else if (token[0] == 't' && object_name_find(tree, n.parent, &parent)) {
		label_process(tree, with_job, &parent, out, size);
		used = strlen(out);
		snprintf(out + used, size - used, "/%lld", (long long)n.pid);
	} else if (token[0] == 'p') {
		label_process(tree, with_job, &n, out, size);
	} else {
		str_copy(out, size, n.name[0] ? n.name : token);
	}
}

/* --- all that is known */

static bool has_several_jobs(const Omis_value *tree)
{
	const char *first = NULL;
	struct object_name n;

	for (size_t i = 0; tree && i < tree->n; i++) {
		if (!object_name_read(&tree->list[i], &n) || n.token[0] != 'p')
			continue;
		if (first && !str_eq(first, n.job))
			return true;
		first = n.job;
	}
	return false;
}

void object_names_ask(struct object_names *n)
{
	static const char text[] = ":omig_tree()";
	Omis_reply r = omis_request_n(text, sizeof(text) - 1, NULL, NULL, 0);

	object_names_done(n);
	if (r && omis_reply_status(r) < OMIS_FIRST_ERROR)
		n->tree = session_values(r);
	omis_reply_free(r);
	n->with_jobs = has_several_jobs(n->tree);
	n->asked = clock_mono();
}

void object_names_done(struct object_names *n)
{
	omis_value_free(n->tree);
	*n = (struct object_names){ 0 };
}

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void put_word(struct object_names *n, struct buf *out, const char *word, size_t bytes)
{
	char token[TOKEN_MAX_BYTES], label[OBJECT_LABEL_BYTES];
	bool is_token =
		bytes > 2 && bytes < sizeof(token) && word[1] == '_' && strchr("snpt", word[0]);
	struct object_name name;

	if (!is_token) {
		buf_put(out, word, bytes);
		return;
	}
	memcpy(token, word, bytes);
	token[bytes] = '\0';
	n->is_old |= !object_name_find(n->tree, token, &name);
	object_name_label(n->tree, n->with_jobs, token, label, sizeof(label));
	buf_puts(out, label);
}

void object_names_put(struct object_names *n, struct buf *out, const char *text, size_t bytes)
{
	const char *end = text + bytes;
	bool is_quoted = false;

	while (text < end) {
		size_t word = 0;

		while (!is_quoted && text + word < end && is_of_word(text[word]))
			word++;
		if (word) {
			put_word(n, out, text, word);
			text += word;
			continue;
		}
		if (is_quoted && *text == '\\' && text + 1 < end)
			buf_putc(out, (uint8_t)*text++);
		else if (*text == '"')
			is_quoted = !is_quoted;
		buf_putc(out, (uint8_t)*text++);
	}
}
