/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/opt.h"

#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/cli/nearest.h"

#include <assert.h>
#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#define TABLE_MAX 64 /* options of one program */

/* Numbers of options for getopt: above every character. */
enum { ID_FIRST = 256, ID_HELP = ID_FIRST + TABLE_MAX, ID_VERSION };

struct lists {
	struct option longs[TABLE_MAX + 3];
	char shorts[2 * TABLE_MAX + 8];
};

static void make_lists(const struct opt_spec *spec, struct lists *l)
{
	size_t n = 0, s = 0;

	if (spec->stop_at_first)
		l->shorts[s++] = '+';
	l->shorts[s++] = ':';
	l->shorts[s++] = 'h';
	for (const struct opt *o = spec->table; o && o->name; o++, n++) {
		assert(n < TABLE_MAX);
		l->longs[n] = (struct option){ o->name,
					       OPT_IS_OPTIONAL(o->arg) ? optional_argument
					       : o->arg		       ? required_argument
								       : no_argument,
					       NULL, ID_FIRST + (int)n };
		if (o->short_name) {
			l->shorts[s++] = o->short_name;
			if (o->arg)
				l->shorts[s++] = ':';
		}
	}
	l->shorts[s] = '\0';
	l->longs[n++] = (struct option){ "help", no_argument, NULL, ID_HELP };
	l->longs[n++] = (struct option){ "version", no_argument, NULL, ID_VERSION };
	l->longs[n] = (struct option){ 0 };
}

static const struct opt *find_option(const struct opt_spec *spec, int id)
{
	if (id >= ID_FIRST)
		return &spec->table[id - ID_FIRST];
	for (const struct opt *o = spec->table; o && o->name; o++)
		if (o->short_name && o->short_name == id)
			return o;
	return NULL;
}

#define TIME_ENDLESS_NS (INT64_C(10) * 366 * 86400 * 1000000000) /* practically unlimited */

static const struct {
	const char *name;
	double ns;
} units[] = {
	{ "ns", 1 },	   { "us", 1e3 },	{ "ms", 1e6 },	      { "s", 1e9 },
	{ "m", 60 * 1e9 }, { "h", 3600 * 1e9 }, { "d", 86400 * 1e9 }, { "", 1e9 },
};

const char *opt_from_nsec(char out[OPT_NSEC_BYTES], int64_t ns)
{
	size_t best = 0;

	for (size_t i = 0; units[i].name[0]; i++)
		if (ns % (int64_t)units[i].ns == 0)
			best = i;
	snprintf(out, OPT_NSEC_BYTES, "%lld%s", (long long)(ns / (int64_t)units[best].ns),
		 ns ? units[best].name : "");
	return out;
}

int opt_to_nsec(const char *s, int64_t min, int64_t max, int64_t *out)
{
	size_t n = strspn(s, "0123456789.-");
	char number[32];
	double v;

	if (n >= sizeof(number))
		return -ERR_INVALID;
	memcpy(number, s, n);
	number[n] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (strcmp(s + n, units[i].name) != 0)
			continue;
		/* 9.2e18 is the largest such double below 2^63, with room for rounding. */
		if (str_to_double(number, -9.2e18 / units[i].ns, 9.2e18 / units[i].ns, &v))
			return -ERR_INVALID;
		v *= units[i].ns;
		if ((int64_t)v < min || (int64_t)v > max)
			return -ERR_INVALID;
		*out = (int64_t)v;
		return 0;
	}
	return -ERR_INVALID;
}

int opt_to_nsec_unit(const char *s, int64_t min, int64_t max, int64_t *out)
{
	int64_t v;
	int rc = opt_to_nsec(s, min, max, &v);

	if (rc || (v && !s[strspn(s, "0123456789.-")]))
		return -ERR_INVALID;
	*out = v;
	return 0;
}

static int time_refused(const struct opt *o, bool ranged, struct err *e)
{
	char min[OPT_NSEC_BYTES], max[OPT_NSEC_BYTES];

	if (!ranged)
		return err_set(e, ERR_INVALID, "needs a length of time (10, 1.5s, 200ms, 5m)");
	if (o->max > TIME_ENDLESS_NS)
		return err_set(e, ERR_INVALID,
			       "needs a length of time (10, 1.5s, 200ms, 5m) of at least %s",
			       opt_from_nsec(min, o->min));
	return err_set(e, ERR_INVALID, "needs a length of time (10, 1.5s, 200ms, 5m) from %s to %s",
		       opt_from_nsec(min, o->min), opt_from_nsec(max, o->max));
}

static int set_number(const struct opt *o, const char *value, struct err *e)
{
	bool ranged = o->min || o->max;
	int rc = -ERR_INVALID;

	if (o->kind == OPT_I64)
		rc = str_to_i64(value, ranged ? o->min : INT64_MIN, ranged ? o->max : INT64_MAX,
				o->into);
	if (o->kind == OPT_U64)
		rc = str_to_u64(value, ranged ? (uint64_t)o->min : 0,
				ranged ? (uint64_t)o->max : UINT64_MAX, o->into);
	if (o->kind == OPT_DOUBLE)
		rc = str_to_double(value, ranged ? (double)o->min : -1.7e308,
				   ranged ? (double)o->max : 1.7e308, o->into);
	if (o->kind == OPT_NSEC)
		rc = opt_to_nsec(value, ranged ? o->min : 0, ranged ? o->max : INT64_MAX, o->into);
	if (!rc)
		return 0;
	if (o->kind == OPT_NSEC)
		return time_refused(o, ranged, e);
	if (ranged)
		return err_set(e, ERR_INVALID, "needs a number from %lld to %lld",
			       (long long)o->min, (long long)o->max);
	return err_set(e, ERR_INVALID, "needs a number");
}

/* words: separated by |. Returns the index of value, or -1 if it is none of them. */
static int place_of(const char *value, const char *words)
{
	int i = 0;

	for (const char *w = words; *w; w += *w == '|') {
		size_t n = strcspn(w, "|");

		if (n == strlen(value) && !strncmp(w, value, n))
			return i;
		w += n;
		i++;
	}
	return -1;
}

/* Refuses a value that is none of the words. */
static int refuse_word(const char *value, const char *words, struct err *e)
{
	struct nearest near = nearest_to(value);
	char word[NAME_MAX_BYTES], best[NAME_MAX_BYTES];

	for (const char *w = words; *w; w += *w == '|') {
		size_t n = strcspn(w, "|");

		snprintf(word, sizeof(word), "%.*s", (int)n, w);
		nearest_try(&near, word);
		if (near.best == word)
			near.best = memcpy(best, word, sizeof(best));
		w += n;
	}
	return err_set(e, ERR_INVALID, "takes %s%s%s%s", words, near.best ? "; did you mean " : "",
		       near.best ? near.best : "", near.best ? "?" : "");
}

static int set_word(const struct opt *o, const char *value, struct err *e)
{
	int i = place_of(value, o->arg);

	if (i < 0)
		return refuse_word(value, o->arg, e);
	if (o->kind == OPT_WORD)
		*(const char **)o->into = value;
	else
		*(unsigned *)o->into = (unsigned)i;
	return 0;
}

static int set_option(const struct opt *o, const char *value, struct err *e)
{
	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)o->into = true;
		return 0;
	case OPT_COUNT:
		++*(unsigned *)o->into;
		return 0;
	case OPT_STR:
		*(const char **)o->into = value;
		return 0;
	case OPT_WORD:
	case OPT_CHOICE:
		return set_word(o, value, e);
	case OPT_CALL:
		return o->call(o->into, value, e);
	case OPT_I64:
	case OPT_U64:
	case OPT_DOUBLE:
	case OPT_NSEC:
		break;
	}
	return set_number(o, value, e);
}

int opt_usage_error(const struct opt_spec *spec, const char *fmt, ...)
{
	char text[ERR_TEXT_BYTES + NAME_MAX_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "%s: %s\nTry '%s --help'.\n", spec->program, text, spec->program);
	if (spec->on_usage)
		spec->on_usage(text);
	return OPT_EXIT_USAGE;
}

/* Writes "list, on or off" for "list on off". */
static void list_verbs(const char *verbs, char *out, size_t size)
{
	size_t at = 0;

	for (const char *v = verbs; *v && at < size; v += strspn(v, " ")) {
		size_t n = strcspn(v, " ");
		const char *before = v == verbs ? "" : v[n] ? ", " : " or ";

		at += (size_t)snprintf(out + at, size - at, "%s%.*s", before, (int)n, v);
		v += n;
	}
}

const char *opt_verb_text(const struct opt_spec *spec, const char *given, char out[OPT_VERB_BYTES])
{
	char all[OPT_VERB_BYTES / 2] = "", word[32], best[32] = "", shown[64];
	struct nearest near = nearest_to(given ? given : "");

	for (const char *v = spec->verbs; *v; v += strspn(v, " ")) {
		size_t n = strcspn(v, " ");

		snprintf(word, sizeof(word), "%.*s", (int)n, v);
		near.best = NULL;
		nearest_try(&near, word);
		if (near.best)
			str_copy(best, sizeof(best), word);
		v += n;
	}
	list_verbs(spec->verbs, all, sizeof(all));
	if (!given)
		snprintf(out, OPT_VERB_BYTES, "which? %s", all);
	else
		snprintf(out, OPT_VERB_BYTES,
			 best[0] ? "'%s' is not a subcommand; did you mean %s?"
				 : "'%s' is not a subcommand; there are %s",
			 str_escape(shown, sizeof(shown), given, strnlen(given, 32)),
			 best[0] ? best : all);
	return out;
}

int opt_verb_error(const struct opt_spec *spec, const char *given)
{
	char text[OPT_VERB_BYTES];

	return opt_usage_error(spec, "%s", opt_verb_text(spec, given, text));
}

/* word: --name or --name=value. Returns the most similar option, or NULL. */
static const char *near_option(const struct opt_spec *spec, const char *word)
{
	char name[NAME_MAX_BYTES];
	struct nearest near;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	near = nearest_to(name);
	for (const struct opt *o = spec->table; o && o->name; o++)
		nearest_try(&near, o->name);
	nearest_try(&near, "help");
	nearest_try(&near, "version");
	return near.best;
}

/* Reports the option for which getopt returned '?' or ':'. */
static void complain_option(const struct opt_spec *spec, int answer, char **argv)
{
	const char *word = argv[optind - 1];
	char shown[NAME_MAX_BYTES], one[3] = { '-', (char)optopt, '\0' };
	bool is_long = str_has_prefix(word, "--");

	if (!is_long && optopt && optopt < ID_FIRST)
		word = one;
	str_escape(shown, sizeof(shown), word, strlen(word));
	if (answer == ':')
		opt_usage_error(spec, "option '%s' needs an argument", shown);
	else if (is_long && optopt >= ID_FIRST)
		opt_usage_error(spec, "option '%s' takes no argument", shown);
	else if (is_long && near_option(spec, word))
		opt_usage_error(spec, "unknown option '%s'; did you mean --%s?", shown,
				near_option(spec, word));
	else
		opt_usage_error(spec, "unknown option '%s'", shown);
}

static enum opt_result take(const struct opt_spec *spec, const struct opt *o, const char *value)
{
	char shown[NAME_MAX_BYTES];
	struct err e = { 0 };

	if (!set_option(o, value, &e))
		return OPT_GO;
	if (value)
		opt_usage_error(spec, "--%s '%s': %s", o->name,
				str_escape(shown, sizeof(shown), value, strlen(value)), e.text);
	else
		opt_usage_error(spec, "--%s: %s", o->name, e.text);
	return OPT_USAGE;
}

enum opt_result opt_parse(const struct opt_spec *spec, int argc, char **argv, int *first)
{
	enum opt_result rc;
	struct lists lists;
	int id;

	make_lists(spec, &lists);
	optind = 0; /* GNU getopt: 0 resets it for a new command line */
	opterr = 0;
	while ((id = getopt_long(argc, argv, lists.shorts, lists.longs, NULL)) != -1) {
		const struct opt *o;

		if (id == '?' || id == ':') {
			complain_option(spec, id, argv);
			return OPT_USAGE;
		}
		o = id < ID_HELP ? find_option(spec, id) : NULL;
		if (o) {
			rc = take(spec, o, optarg);
			if (rc != OPT_GO)
				return rc;
			continue;
		}
		if (id == ID_VERSION)
			opt_print_version(spec, stdout);
		else
			opt_print_help(spec, stdout);
		return OPT_DONE;
	}
	*first = optind;
	return OPT_GO;
}
