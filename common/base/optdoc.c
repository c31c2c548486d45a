/* SPDX-License-Identifier: Apache-2.0 */
/* What is printed from an option table. */
#include "common/base/opt.h"

#include <string.h>

#define HELP_COLUMN 28

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

static void print_help_line(const struct opt *o, FILE *to)
{
	char shorts[8] = "    ", left[80];
	int n;

	if (o->short_name)
		snprintf(shorts, sizeof(shorts), "-%c, ", o->short_name);
	n = snprintf(left, sizeof(left), "  %s--%s%s%s", shorts, o->name, o->arg ? "=" : "",
		     o->arg ? o->arg : "");
	if (n >= HELP_COLUMN)
		fprintf(to, "%s\n%*s%s\n", left, HELP_COLUMN, "", o->help);
	else
		fprintf(to, "%-*s%s\n", HELP_COLUMN, left, o->help);
}

void opt_print_help(const struct opt_spec *spec, FILE *to)
{
	fprintf(to, "Usage: %s %s\n%s\n\nOptions:\n", spec->program, spec->usage, spec->summary);
	each_option(spec, print_help_line, to);
	if (spec->details)
		fprintf(to, "\n%s\n", spec->details);
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
	if (o->arg)
		fprintf(to, "=_%s_", o->arg);
	fprintf(to, "\n\t%s\n\n", o->help);
}

void opt_print_man(const struct opt_spec *spec, FILE *to)
{
	each_option(spec, print_man_entry, to);
}

static void print_complete_line(const struct opt *o, FILE *to)
{
	fprintf(to, "--%s\t%s\t%s\n", o->name, o->arg ? o->arg : "-", o->help);
}

void opt_print_complete(const struct opt_spec *spec, FILE *to)
{
	each_option(spec, print_complete_line, to);
}
