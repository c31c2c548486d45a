/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines from one table: parsing, --help, --version, and the texts of manual pages and shell
 * completion. The functions write to stdout and stderr.
 */
#ifndef COMMON_CLI_OPT_H
#define COMMON_CLI_OPT_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum opt_kind {
	OPT_FLAG, /* bool *: becomes true */
	OPT_COUNT, /* unsigned *: increased at each occurrence */
	OPT_STR, /* const char **: borrowed from argv */
	OPT_I64, /* int64_t * in [min, max] */
	OPT_U64, /* uint64_t * in [min, max] */
	OPT_DOUBLE, /* double *: finite */
	OPT_NSEC, /* int64_t *: ns from 10 or 10s, 200ms, 1.5h; in [min, max] */
	OPT_WORD, /* const char **: one of the words of arg, as in argv */
	OPT_CHOICE, /* unsigned *, or an enum's: index of the word, from 0 */
	OPT_CALL, /* call(into, value, e); value is NULL without an argument */
};

#define OPT_IS_OPTIONAL(arg) ((arg) && *(arg) == '[')

/* An option. A table ends with {0}. --help (-h) and --version are added automatically. */
struct opt {
	const char *name; /* long name without dashes */
	char short_name; /* letter; 0 = none */
	/*
	 * name of the argument in --help, or its values: "auto|always|never"; NULL = no argument.
	 * "[FILE]": optional, and only after a long name with =
	 */
	const char *arg;
	const char *help; /* one line, lower case, no full stop */
	enum opt_kind kind;
	void *into;
	int64_t min, max; /* for numbers; 0, 0 = no range */
	int (*call)(void *into, const char *value, struct err *e);
};

/* Rows of a table. LETTER: 0 = none; ARG: NULL = the option has no argument. */
#define OPTION(NAME, LETTER, ARG, HELP, KIND, INTO)             \
	{                                                       \
		NAME, LETTER, ARG, HELP, KIND, INTO, 0, 0, NULL \
	}
#define OPTION_RANGE(NAME, LETTER, ARG, HELP, KIND, INTO, MIN, MAX) \
	{                                                           \
		NAME, LETTER, ARG, HELP, KIND, INTO, MIN, MAX, NULL \
	}
#define OPTION_CALL(NAME, LETTER, ARG, HELP, INTO, CALL)            \
	{                                                           \
		NAME, LETTER, ARG, HELP, OPT_CALL, INTO, 0, 0, CALL \
	}

struct opt_spec {
	const char *program; /* name of the program, such as "omig top" */
	const char *usage; /* text behind the name: "[OPTION...] REQUEST" */
	const char *summary; /* one line with the purpose of the program */
	const char *details; /* further paragraphs for --help, or NULL; long lines are broken */
	/* manual page with examples and exit statuses, for --help: "omig"; or NULL */
	const char *manual;
	const char *verbs; /* verbs for the first operand: "list on off tail"; or NULL */
	const struct opt *table;
	void (*on_usage)(
		/* also receives the text that is printed on stderr; may be NULL */
		const char *text);
	bool stop_at_first; /* the first operand ends the options (a wrapped command follows) */
};

enum opt_result {
	OPT_GO, /* options are set; operands start at *first */
	OPT_DONE, /* --help or --version was printed: exit 0 */
	OPT_USAGE, /* an error was printed on stderr: exit OPT_EXIT_USAGE */
};

#define OPT_EXIT_USAGE 2

/*
 * Not reentrant (getopt). argv may be permuted. On OPT_GO *first is the index
 * of the first operand.
 *
 *	switch (opt_parse(&spec, argc, argv, &first)) {
 *	case OPT_DONE: return 0;
 *	case OPT_USAGE: return OPT_EXIT_USAGE;
 *	case OPT_GO: break;
 *	}
 */
enum opt_result opt_parse(const struct opt_spec *spec, int argc, char **argv, int *first);

/* Prints an error of the operands on stderr, and how to get help. Returns OPT_EXIT_USAGE. */
int opt_usage_error(const struct opt_spec *spec, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define OPT_VERB_BYTES 256

/* Reports a first operand (NULL: none) that is not a verb, with the nearest verb, or all verbs. */
int opt_verb_error(const struct opt_spec *spec, const char *given);

/*
 * Writes the text of that error, for programs that print their usage errors themselves. Returns
 * out.
 */
const char *opt_verb_text(const struct opt_spec *spec, const char *given, char out[OPT_VERB_BYTES]);

void opt_print_help(const struct opt_spec *spec, FILE *to);
void opt_print_version(const struct opt_spec *spec, FILE *to);

/* Prints the options as a section of a scdoc page. */
void opt_print_man(const struct opt_spec *spec, FILE *to);

/*
 * For completion scripts: a line `verb<TAB>-<TAB>` for each verb, then a line `--name<TAB>argument
 * or -<TAB>help` for each option.
 */
void opt_print_complete(const struct opt_spec *spec, FILE *to);

/* Parses "200ms" as 200000000, by the rules of OPT_NSEC. Fails with ERR_INVALID. */
int opt_to_nsec(const char *s, int64_t min, int64_t max, int64_t *out);

/* Parses a time in a file, where the unit is required except for 0. Fails with ERR_INVALID. */
int opt_to_nsec_unit(const char *s, int64_t min, int64_t max, int64_t *out);

#define OPT_NSEC_BYTES 32

/*
 * Writes 200000000 as "200ms", in the largest unit that needs no fraction; opt_to_nsec() reads it
 * back. Returns out.
 */
const char *opt_from_nsec(char out[OPT_NSEC_BYTES], int64_t ns);

#endif
