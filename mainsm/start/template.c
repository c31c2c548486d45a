/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/start/template.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX_BYTES 4096

struct expansion {
	const struct template_words *w;
	char **argv;
	size_t n;
	bool has_command;
	struct buf word;
};

static const struct {
	const char *name, *text;
} builtin[] = {
	{ "local", "{command}" },
	{ "ssh", "ssh -o BatchMode=yes -o ConnectTimeout=10 -- {host} {shell_command}" },
	{ "srun", "srun --nodes=1 --ntasks=1 --overlap --nodelist={host} {command}" },
};

const char *template_named(const char *launcher)
{
	for (size_t i = 0; i < ARRAY_LEN(builtin); i++)
		if (str_eq(builtin[i].name, launcher))
			return builtin[i].text;
	return launcher;
}

static int add_word(struct expansion *x, const char *word, struct err *e)
{
	if (x->n >= TEMPLATE_WORDS_MAX)
		return err_set(e, ERR_LIMIT, "a command has at most %d words", TEMPLATE_WORDS_MAX);
	x->argv[x->n] = str_dup(word);
	if (!x->argv[x->n])
		return err_nomem(e);
	x->n++;
	return 0;
}

static int add_command(struct expansion *x, struct err *e)
{
	x->has_command = true;
	for (size_t i = 0; x->w->command[i]; i++) {
		int rc = add_word(x, x->w->command[i], e);

		if (rc)
			return rc;
	}
	return 0;
}

/* Quotes any text as one word of a shell. */
static void put_quoted(struct buf *b, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_@%+=:,./-";

	if (*word && !word[strspn(word, plain)]) {
		buf_puts(b, word);
		return;
	}
	buf_putc(b, '\'');
	for (; *word; word++)
		if (*word == '\'')
			buf_puts(b, "'\\''");
		else
			buf_putc(b, (uint8_t)*word);
	buf_putc(b, '\'');
}

static int add_shell_command(struct expansion *x, struct err *e)
{
	x->has_command = true;
	buf_clear(&x->word);
	for (size_t i = 0; x->w->command[i]; i++) {
		if (i)
			buf_putc(&x->word, ' ');
		put_quoted(&x->word, x->w->command[i]);
	}
	return x->word.failed ? err_set(e, ERR_LIMIT, "the command is too long")
			      : add_word(x, buf_str(&x->word), e);
}

/* At "{...}": appends its value. Returns the length in the template, or an error. */
static int put_name(struct expansion *x, const char *at, struct err *e)
{
	const char *end = strchr(at, '}');
	const char *value = NULL;
	size_t n = end ? (size_t)(end - at) + 1 : 0;

	if (n == 6 && !memcmp(at, "{site}", n))
		value = x->w->site;
	else if (n == 6 && !memcmp(at, "{host}", n))
		value = x->w->host;
	if (!value)
		return err_set(
			e, ERR_PARSE,
			"a launcher knows {site}, {host} and the words {command} and {shell_command}, "
			"nothing else in braces");
	if (!value[0])
		return err_set(e, ERR_INVALID,
			       "the launcher needs to know a host: set host = NAME for the site");
	buf_puts(&x->word, value);
	return (int)n;
}

/* Reads one word to x->word, and advances *at. */
static int scan_word(struct expansion *x, const char **at, struct err *e)
{
	const char *p = *at;
	char quote = 0;

	buf_clear(&x->word);
	for (; *p && (quote || !strchr(" \t", *p)); p++) {
		if (quote && *p == quote) {
			quote = 0;
		} else if (!quote && (*p == '\'' || *p == '"')) {
			quote = *p;
		} else if (*p == '{' && quote != '\'') {
			int n = put_name(x, p, e);

			if (n < 0)
				return n;
			p += n - 1;
		} else {
			buf_putc(&x->word, (uint8_t)*p);
		}
	}
	*at = p;
	if (quote)
		return err_set(e, ERR_PARSE, "a quote is not closed in the launcher");
	return x->word.failed ? err_set(e, ERR_LIMIT, "a word of the launcher is too long") : 0;
}

/* True if the text at *at is this whole word. */
static bool skip_word(const char **at, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*at, word, n) || ((*at)[n] && !strchr(" \t", (*at)[n])))
		return false;
	*at += n;
	return true;
}

static int expand(struct expansion *x, const char *at, struct err *e)
{
	for (;;) {
		int rc;

		at += strspn(at, " \t");
		if (!*at)
			break;
		if (skip_word(&at, "{command}")) {
			rc = add_command(x, e);
		} else if (skip_word(&at, "{shell_command}")) {
			rc = add_shell_command(x, e);
		} else {
			rc = scan_word(x, &at, e);
			if (!rc)
				rc = add_word(x, buf_str(&x->word), e);
		}
		if (rc)
			return rc;
	}
	return x->has_command ? 0 : err_set(e, ERR_PARSE, "a launcher needs the word {command}");
}

int template_expand(const char *text, const struct template_words *w, char ***argv, struct err *e)
{
	struct expansion x = { .w = w, .word = BUF_INIT(WORD_MAX_BYTES) };
	int rc;

	x.argv = calloc(TEMPLATE_WORDS_MAX + 1, sizeof(char *));
	if (!x.argv)
		return err_nomem(e);
	rc = expand(&x, text, e);
	buf_done(&x.word);
	if (rc)
		template_free(x.argv);
	else
		*argv = x.argv;
	return rc;
}

void template_free(char **argv)
{
	if (!argv)
		return;
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	free(argv);
}
