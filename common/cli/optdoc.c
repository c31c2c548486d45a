/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the texts that are derived from an option table. */
#include "common/cli/opt.h"

#include <string.h>

#define HELP_COLUMN 28
#define HELP_COLUMNS 80

static const struct opt own[] = {
	{ .name = "help", .short_name = 'h', .help = "print this help and exit" },
	{ .name = "version", .help = "print the version and exit" },
	{ 0 },
};

typedef void print_fn(const struct opt *o, FILE *to);

static bool has_own_h(const struct opt_spec *spec)
{
	for (const struct opt *o = spec->table; o && o->name; o++)
		if (o->short_name == 'h')
			return true;
	return false;
}

static void each_option(const struct opt_spec *spec, print_fn *print, FILE *to)
{
	struct opt help = own[0];

	for (const struct opt *o = spec->table; o && o->name; o++)
		print(o, to);
	if (has_own_h(spec))
		help.short_name = 0;
	print(&help, to);
	print(&own[1], to);
}

/*
 * True if a newline of the text ends a line: before an indented or empty line, and after a
 * sentence. Other newlines are only breaks of the source.
 */
static bool is_break(const char *text, const char *at)
{
	return at == text || strchr(".\n", at[-1]) ||
	       strchr(" \n", at[1]); /* a newline or the end behind the sentence */
}

/*
 * Fills lines that begin in column `indent`; the first line has begun there already. Breaks of the
 * source are joined first, so that a narrower text has no short lines.
 */
static void print_filled(const char *text, int indent, FILE *to)
{
	size_t column = 0, columns = HELP_COLUMNS - (size_t)indent;

	for (const char *at = text; *at;) {
		size_t n = strcspn(at, column == 0 && *at == ' ' ? "\n"
								 /*
								  * indented lines stay as they are
								  */
								 : " \n");
		bool is_full = column && column + 1 + n > columns;

		if (is_full)
			fprintf(to, "\n%*s", indent, "");
		fprintf(to, "%s%.*s", !is_full && column && n ? " " : "", (int)n, at);
		column = (is_full || !column ? 0 : column + (n > 0)) + n;
		at += n;
		if (!*at || (*at == '\n' && is_break(text, at))) {
			fputc('\n', to);
			column = 0;
		}
		at += *at != '\0';
	}
}

static void print_help_line(const struct opt *o, FILE *to)
{
	char shorts[8] = "    ", left[80];
	int n;

	if (o->short_name)
		snprintf(shorts, sizeof(shorts), "-%c, ", o->short_name);
	if (OPT_IS_OPTIONAL(o->arg))
		n = snprintf(left, sizeof(left), "  %s--%s[=%s", shorts, o->name, o->arg + 1);
	else
		n = snprintf(left, sizeof(left), "  %s--%s%s%s", shorts, o->name, o->arg ? "=" : "",
			     o->arg ? o->arg : "");
	if (n >= HELP_COLUMN)
		fprintf(to, "%s\n%*s", left, HELP_COLUMN, "");
	else
		fprintf(to, "%-*s", HELP_COLUMN, left);
	print_filled(o->help, HELP_COLUMN, to);
}

static bool has_times(const struct opt_spec *spec)
{
	for (const struct opt *o = spec->table; o && o->name; o++)
		if (o->kind == OPT_NSEC)
			return true;
	return false;
}

void opt_print_help(const struct opt_spec *spec, FILE *to)
{
	fprintf(to, "Usage: %s %s\n%s\n\nOptions:\n", spec->program, spec->usage, spec->summary);
	each_option(spec, print_help_line, to);
	if (spec->details)
		fprintf(to, "\n");
	if (spec->details)
		print_filled(spec->details, 0, to);
	if (has_times(spec) || spec->manual)
		fprintf(to, "\n");
	if (has_times(spec))
		fprintf(to, "A time is 10 (seconds), 200ms, 1.5m, 2h, 3d.\n");
	if (spec->manual)
		fprintf(to, "Examples, and what an exit status means: man %s\n", spec->manual);
}

void opt_print_version(const struct opt_spec *spec, FILE *to)
{
	fprintf(to, "%s %s\n", spec->program, OMIG_VERSION);
}

static void print_man_entry(const struct opt *o, FILE *to)
{
	if (o->short_name)
		fprintf(to, "*-%c*, ", o->short_name);
	fprintf(to, "*--%s*", o->name);
	if (OPT_IS_OPTIONAL(o->arg))
		fprintf(to, "[=_%.*s_]", (int)strcspn(o->arg + 1, "]"), o->arg + 1);
	else if (o->arg)
		fprintf(to, "=_%s_", o->arg);
	fprintf(to, "\n\t%s\n\n", o->help);
}

void opt_print_man(const struct opt_spec *spec, FILE *to)
{
	each_option(spec, print_man_entry, to);
}

static void print_complete_line(const struct opt *o, FILE *to)
{
	fprintf(to, "--%s\t%s\t%s\n", o->name, o->arg && !OPT_IS_OPTIONAL(o->arg) ? o->arg : "-",
		o->help);
}

void opt_print_complete(const struct opt_spec *spec, FILE *to)
{
	for (const char *at = spec->verbs; at && *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");

		fprintf(to, "%.*s\t-\t\n", (int)n, at);
		at += n;
	}
	each_option(spec, print_complete_line, to);
}
