/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "tools/selftest/selftest.h"

#include <string.h>

static struct selftest_word *find(const struct selftest_words *w, const char *name, size_t n)
{
	for (size_t i = 0; i < w->n; i++)
		if (strlen(w->v[i].name) == n && memcmp(w->v[i].name, name, n) == 0)
			return (struct selftest_word *)(uintptr_t)&w->v[i];
	return NULL;
}

bool selftest_word_set(struct selftest_words *w, const char *name, const char *value)
{
	struct selftest_word *to = find(w, name, strlen(name));

	if (!to && w->n < SELFTEST_WORDS_MAX)
		to = &w->v[w->n++];
	return to && str_copy(to->name, sizeof(to->name), name) &&
	       str_copy(to->value, sizeof(to->value), value);
}

const char *selftest_word(const struct selftest_words *w, const char *name, size_t n)
{
	const struct selftest_word *found = find(w, name, n);

	return found ? found->value : NULL;
}

static void put_literal(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\^$.[]|()*+?{}", *text))
			buf_putc(out, '\\');
		buf_putc(out, (uint8_t)*text);
	}
}

/* Returns the length of a word's name after a brace; 0 when it is another kind of brace. */
static size_t name_length(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz");

	return text[n] == '}' ? n : 0;
}

int selftest_expand(const struct selftest_words *w, const char *text, bool is_pattern,
		    struct buf *out, struct err *e)
{
	const char *value;
	size_t n;

	for (; *text; text++) {
		n = *text == '{' ? name_length(text + 1) : 0;
		if (n == 0) {
			buf_putc(out, (uint8_t)*text);
			continue;
		}
		value = selftest_word(w, text + 1, n);
		if (!value)
			return err_set(e, ERR_NOTFOUND, "nothing is known of {%.*s}", (int)n,
				       text + 1);
		if (is_pattern)
			put_literal(out, value);
		else
			buf_puts(out, value);
		text += n + 1;
	}
	return out->failed ? err_nomem(e) : 0;
}
