/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/term/say.h"

#include "common/base/str.h"
#include "common/json/failure.h"
#include "common/json/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

static int document(const struct opt_spec *spec, const char *form)
{
	if (str_eq(form, "man"))
		opt_print_man(spec, stdout);
	else if (str_eq(form, "complete"))
		opt_print_complete(spec, stdout);
	else
		opt_print_help(spec, stdout);
	return CMD_OK;
}

static struct {
	char *words; /* borrowed; NULL: a failure is printed */
	size_t size;
	bool is_json; /* JSON was requested */
	bool has_document; /* and has written it */
	char first[1024]; /* message; for cmd_end() */
	char latest[1024];
} hush;

int cmd_note(int status, const char *words)
{
	if (!hush.first[0])
		snprintf(hush.first, sizeof(hush.first), "%s", words);
	snprintf(hush.latest, sizeof(hush.latest), "%s", words);
	return status;
}

static void note_usage(const char *text)
{
	cmd_note(CMD_USAGE, text);
}

int cmd_usage(const struct opt_spec *given, const char *fmt, ...)
{
	struct opt_spec spec = *given;
	char text[sizeof(hush.first)];
	va_list ap;

	spec.on_usage = note_usage;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return opt_usage_error(&spec, "%s", text);
}

int cmd_usage_verb(const struct opt_spec *spec, const char *given)
{
	char text[OPT_VERB_BYTES];

	return cmd_usage(spec, "%s", opt_verb_text(spec, given, text));
}

/* Finds the option also after a wrong option, which ends normal parsing. */
static bool is_asked_for_json(const struct opt_spec *spec, int argc, char **argv)
{
	const struct opt *o = spec->table;

	while (o && o->name && !str_eq(o->name, "json"))
		o++;
	if (!o || !o->name || o->kind != OPT_FLAG)
		return false;
	for (int i = 1; i < argc && !str_eq(argv[i], "--"); i++)
		if (str_eq(argv[i], "--json") || (o->short_name == 'j' && str_eq(argv[i], "-j")))
			return true;
	return *(const bool *)o->into;
}

void cmd_document(void)
{
	hush.has_document = true;
}

int cmd_json_line(struct json *j, struct buf *b)
{
	bool is_out;

	cmd_document();
	is_out = !json_end(j) && printf("%s\n", buf_str(b)) >= 0 && !fflush(stdout);
	buf_done(b);
	return is_out ? CMD_OK : cmd_fail(CMD_FAILURE, "standard output: %m");
}

void cmd_put_error(struct json *j, int status)
{
	json_key_failure(j, status, hush.latest);
}

/* Text in stdout's buffer is a document, too: objects of a stream are flushed one by one. */
void cmd_end(int status)
{
	if (status == CMD_OK || !hush.is_json || !hush.first[0] || hush.has_document ||
	    __fpending(stdout))
		return;
	json_print_failure(stdout, status, hush.first);
}

/* "omig-log" for "omig log lifelines". */
static const char *page_of(const char *program, char *out, size_t size)
{
	size_t n = strcspn(program, " ");

	if (program[n])
		n += 1 + strcspn(program + n + 1, " ");
	snprintf(out, size, "%.*s", (int)n, program);
	out[strcspn(out, " ")] = out[strcspn(out, " ")] ? '-' : '\0';
	return out;
}

int cmd_parse(const struct opt_spec *given, int argc, char **argv, int *first)
{
	struct opt_spec of_omig = *given;
	char page[64];
	const struct opt_spec *spec = &of_omig;
	enum opt_result rc;
	int operand;

	of_omig.manual = page_of(given->program, page, sizeof(page));
	if (argc == 3 && str_eq(argv[1], "--omig-doc"))
		return document(spec, argv[2]);
	of_omig.on_usage = note_usage;
	rc = opt_parse(spec, argc, argv, &operand);
	hush.is_json = is_asked_for_json(spec, argc, argv);
	switch (rc) {
	case OPT_DONE:
		return CMD_OK;
	case OPT_USAGE:
		return CMD_USAGE;
	case OPT_GO:
		break;
	}
	if (!first && operand < argc)
		return cmd_usage(spec, "unexpected '%s'", argv[operand]);
	if (first)
		*first = operand;
	return -1;
}

static void say(const char *before, const char *text)
{
	char safe[2048];

	fprintf(stderr, "omig: %s%s\n", before, str_show(safe, sizeof(safe), text));
}

void cmd_hush(char *words, size_t size)
{
	hush.words = words;
	hush.size = size;
}

int cmd_fail(int status, const char *fmt, ...)
{
	char text[sizeof(hush.first)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (hush.words && !hush.words[0])
		snprintf(hush.words, hush.size, "%s", text);
	if (hush.words)
		return status;
	say("", text);
	return cmd_note(status, text);
}

void cmd_warn(const char *fmt, ...)
{
	char text[sizeof(hush.first)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say("warning: ", text);
}
