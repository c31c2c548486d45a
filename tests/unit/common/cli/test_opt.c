/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "common/cli/opt.h"
#include "tests/suite.h"

#include <string.h>
#include <unistd.h>

static struct {
	bool flag;
	unsigned verbose;
	const char *name, *color;
	unsigned depth;
	int64_t port, wait, any;
	uint64_t size;
	double share;
	char called[20];
} got;

static int on_call(void *into, const char *value, struct err *e)
{
	if (value && strcmp(value, "bad") == 0)
		return err_set(e, ERR_INVALID, "is bad");
	snprintf(into, sizeof(got.called), "<%s>", value ? value : "none");
	return 0;
}

static const struct opt table[] = {
	{ "flag", 'f', NULL, "set a flag", OPT_FLAG, &got.flag, 0, 0, NULL },
	{ "verbose", 'v', NULL, "say more", OPT_COUNT, &got.verbose, 0, 0, NULL },
	{ "name", 'n', "NAME", "a name", OPT_STR, &got.name, 0, 0, NULL },
	{ "color", 0, "auto|always", "colour", OPT_WORD, &got.color, 0, 0, NULL },
	{ "depth", 0, "site|node|all", "how deep", OPT_CHOICE, &got.depth, 0, 0, NULL },
	{ "port", 'p', "PORT", "a port", OPT_I64, &got.port, 1, 65535, NULL },
	{ "any", 0, "N", "any number", OPT_I64, &got.any, 0, 0, NULL },
	{ "size", 0, "BYTES", "a size", OPT_U64, &got.size, 0, 100, NULL },
	{ "share", 0, "X", "a share", OPT_DOUBLE, &got.share, 0, 1, NULL },
	{ "wait", 'w', "TIME", "how long", OPT_NSEC, &got.wait, 0, 0, NULL },
	{ "hello", 0, "TIME", "how long", OPT_NSEC, &got.wait, 1000000, HELLO_MAX_NS, NULL },
	{ "rest", 0, "TIME", "how long", OPT_NSEC, &got.wait, INT64_C(60000000000), INT64_MAX / 4,
	  NULL },
	{ "call", 'c', "X", "a call, with more words of help than there is room for in one line",
	  OPT_CALL, got.called, 0, 0, on_call },
	{ "maybe", 0, "[X]", "may have a value", OPT_CALL, got.called, 0, 0, on_call },
	{ 0 },
};

static struct opt_spec spec = {
	.program = "prog",
	.usage = "[OPTION...] WHAT",
	.summary = "Does it.",
	.details =
		"A long line that nobody has broken where it is too long for a terminal, though it is "
		"one\nsentence.\nA short one, broken\nby its source.\n\n  a  list:\n  of\n  lines",
	.manual = "prog",
	.table = table
};

/* The output on stdout and stderr. */
static char out[4000], err[4000];

static void read_back(FILE *f, char *to, size_t size)
{
	size_t n;

	fflush(f);
	rewind(f);
	n = fread(to, 1, size - 1, f);
	to[n] = '\0';
}

static enum opt_result parse(int *first, const char **argv)
{
	FILE *o = tmpfile(), *e = tmpfile();
	int saved[2] = { dup(1), dup(2) }, argc = 0;
	enum opt_result rc;

	while (argv[argc])
		argc++;
	memset(&got, 0, sizeof(got));
	fflush(stdout);
	dup2(fileno(o), 1);
	dup2(fileno(e), 2);
	rc = opt_parse(&spec, argc, (char **)argv, first);
	fflush(stdout);
	dup2(saved[0], 1);
	dup2(saved[1], 2);
	close(saved[0]);
	close(saved[1]);
	read_back(o, out, sizeof(out));
	read_back(e, err, sizeof(err));
	fclose(o);
	fclose(e);
	return rc;
}

#define PARSE(first, ...) parse(first, (const char *[]){ "prog", __VA_ARGS__, NULL })

TEST(every_kind_is_set)
{
	int first = 0;

	ck_assert_int_eq(PARSE(&first, "-fvv", "--name=x", "-p", "80", "--any", "-7", "--size=100",
			       "--share", ".25", "-w200ms", "--call=y", "what"),
			 OPT_GO);
	ck_assert_int_eq(first, 12);
	ck_assert(got.flag);
	ck_assert_uint_eq(got.verbose, 2);
	ck_assert_str_eq(got.name, "x");
	ck_assert_int_eq(got.port, 80);
	ck_assert_int_eq(got.any, -7);
	ck_assert_uint_eq(got.size, 100);
	ck_assert_double_eq(got.share, .25);
	ck_assert_int_eq(got.wait, 200000000);
	ck_assert_str_eq(got.called, "<y>");
	ck_assert_str_eq(out, "");
	ck_assert_str_eq(err, "");
}

TEST(an_option_takes_only_whole_values_of_its_list)
{
	int first = 0;

	ck_assert_int_eq(PARSE(&first, "--color=always", "--depth", "all"), OPT_GO);
	ck_assert_str_eq(got.color, "always");
	ck_assert_uint_eq(got.depth, 2);
	ck_assert_int_eq(PARSE(&first, "--color=alway"), OPT_USAGE);
	ck_assert_msg(strstr(err, "--color 'alway': takes auto|always; did you mean always?") !=
			      NULL,
		      "%s", err);
	ck_assert_int_eq(PARSE(&first, "--depth=site|node"), OPT_USAGE);
	ck_assert_int_eq(PARSE(&first, "--depth="), OPT_USAGE);
	ck_assert_uint_eq(got.depth, 0);
}

TEST(an_argument_may_be_left_out)
{
	int first = 0;

	ck_assert_int_eq(PARSE(&first, "--maybe", "what"), OPT_GO);
	ck_assert_str_eq(got.called, "<none>");
	ck_assert_int_eq(first, 2);
	ck_assert_int_eq(PARSE(&first, "--maybe=x", "what"), OPT_GO);
	ck_assert_str_eq(got.called, "<x>");
	ck_assert_int_eq(PARSE(&first, "--help"), OPT_DONE);
	ck_assert_msg(strstr(out, "--maybe[=X] ") != NULL, "%s", out);
}

TEST(help_and_version_go_to_stdout)
{
	int first;

	ck_assert_int_eq(PARSE(&first, "--help"), OPT_DONE);
	ck_assert_ptr_nonnull(strstr(out, "Usage: prog [OPTION...] WHAT\nDoes it.\n"));
	ck_assert_ptr_nonnull(strstr(out, "  -p, --port=PORT           a port\n"));
	ck_assert_ptr_nonnull(strstr(out, "      --any=N               any number\n"));
	ck_assert_ptr_nonnull(strstr(
		out,
		"  -c, --call=X              a call, with more words of help than there is room\n"
		"                            for in one line\n"));
	ck_assert_ptr_nonnull(
		strstr(out, "  -h, --help                print this help and exit\n"));
	ck_assert_ptr_nonnull(strstr(
		out,
		"\n\nA long line that nobody has broken where it is too long for a terminal, though\n"
		"it is one sentence.\nA short one, broken by its source.\n\n  a  list:\n  of\n  lines\n\nA time is 10 (seconds), 200ms, 1.5m, 2h, 3d.\n"
		"Examples, and what an exit status means: man prog\n"));
	ck_assert_str_eq(err, "");
	ck_assert_int_eq(PARSE(&first, "-h"), OPT_DONE);
	ck_assert_int_eq(PARSE(&first, "--version"), OPT_DONE);
	ck_assert_str_eq(out, "prog " OMIG_VERSION "\n");
}

static void refused(const char *a, const char *b, const char *words)
{
	int first;
	char line[200];

	ck_assert_int_eq(parse(&first, (const char *[]){ "prog", a, b, NULL }), OPT_USAGE);
	snprintf(line, sizeof(line), "prog: %s\nTry 'prog --help'.\n", words);
	ck_assert_str_eq(err, line);
	ck_assert_str_eq(out, "");
}

TEST(mistakes_are_reported_on_stderr)
{
	refused("--none", NULL, "unknown option '--none'");
	refused("-z", NULL, "unknown option '-z'");
	refused("-fz", NULL, "unknown option '-z'");
	refused("--port", NULL, "option '--port' needs an argument");
	refused("-p", NULL, "option '-p' needs an argument");
	refused("--flag=1", NULL, "option '--flag=1' takes no argument");
	refused("--port=0", NULL, "--port '0': needs a number from 1 to 65535");
	refused("-p", "65536", "--port '65536': needs a number from 1 to 65535");
	refused("--any=x", NULL, "--any 'x': needs a number");
	refused("--wait=-1", NULL, "--wait '-1': needs a length of time (10, 1.5s, 200ms, 5m)");
	refused("--hello=3s", NULL,
		"--hello '3s': needs a length of time (10, 1.5s, 200ms, 5m) from 1ms to 2s");
	refused("--rest=0", NULL,
		"--rest '0': needs a length of time (10, 1.5s, 200ms, 5m) of at least 1m");
	refused("--call=bad", NULL, "--call 'bad': is bad");
	refused("--any=\x1b[2J", NULL, "--any '\\x1b[2J': needs a number");
}

TEST(a_wrapped_command_keeps_its_options)
{
	int first;

	spec.stop_at_first = true;
	ck_assert_int_eq(PARSE(&first, "-f", "ls", "-v"), OPT_GO);
	ck_assert_int_eq(first, 2);
	ck_assert_uint_eq(got.verbose, 0);
	ck_assert_int_eq(PARSE(&first, "-f", "--", "-v"), OPT_GO);
	ck_assert_int_eq(first, 3);
	spec.stop_at_first = false;
}

TEST(lengths_of_time_have_units)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = { { "0", 0 },
		     { "10", 10000000000 },
		     { "1.5s", 1500000000 },
		     { "3us", 3000 },
		     { "7ns", 7 },
		     { "5m", 300000000000 },
		     { "1h", 3600000000000 },
		     { "2d", 172800000000000 } };
	int64_t ns;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		ck_assert_int_eq(opt_to_nsec(good[i].text, 0, INT64_MAX, &ns), 0);
		ck_assert_int_eq(ns, good[i].ns);
	}
	for (const char **s =
		     (const char *[]){ "", "s", "1x", "1 s", "-1", "1e3", "nan",
				       "9999999999999999999", "0.0.1", "999999999999d", NULL };
	     *s; s++)
		ck_assert_msg(opt_to_nsec(*s, 0, INT64_MAX, &ns) == -ERR_INVALID, "'%s' passed",
			      *s);
	ck_assert_int_eq(opt_to_nsec("2", 0, INT64_MAX, &ns), 0);
	ck_assert_int_eq(opt_to_nsec_unit("2", 0, INT64_MAX, &ns), -ERR_INVALID);
	ck_assert_int_eq(opt_to_nsec_unit("1.5", 0, INT64_MAX, &ns), -ERR_INVALID);
	ck_assert_int_eq(opt_to_nsec_unit("0", 0, INT64_MAX, &ns), 0);
	ck_assert_int_eq(opt_to_nsec_unit("1.5s", 0, INT64_MAX, &ns), 0);
	ck_assert_int_eq(ns, 1500000000);
	ck_assert_int_eq(opt_to_nsec("2s", 0, HELLO_MAX_NS, &ns), 0);
	ck_assert_int_eq(opt_to_nsec("2000000001ns", 0, HELLO_MAX_NS, &ns), -ERR_INVALID);
}

TEST(lengths_of_time_are_written_as_they_are_read)
{
	static const char *const texts[] = { "0",   "7ns", "1500us", "1500ms", "59s",
					     "90s", "3m",  "36h",    "2d" };
	char text[OPT_NSEC_BYTES];
	int64_t ns;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		ck_assert_int_eq(opt_to_nsec(texts[i], 0, INT64_MAX, &ns), 0);
		ck_assert_str_eq(opt_from_nsec(text, ns), texts[i]);
	}
}

TEST(documents_name_every_option)
{
	FILE *man = tmpfile(), *complete = tmpfile();

	opt_print_man(&spec, man);
	opt_print_complete(&spec, complete);
	read_back(man, out, sizeof(out));
	read_back(complete, err, sizeof(err));
	fclose(man);
	fclose(complete);
	for (const struct opt *o = table; o->name; o++) {
		char bold[40];

		snprintf(bold, sizeof(bold), "*--%s*", o->name);
		ck_assert_ptr_nonnull(strstr(out, bold));
	}
	ck_assert_ptr_nonnull(strstr(out, "*-p*, *--port*=_PORT_\n\ta port\n"));
	ck_assert_ptr_nonnull(strstr(err, "--port\tPORT\ta port\n"));
	ck_assert_ptr_nonnull(strstr(err, "--flag\t-\tset a flag\n"));
	ck_assert_ptr_nonnull(strstr(err, "--version\t-\t"));
}

TEST(an_unknown_verb_names_the_nearest_one_or_all)
{
	const struct opt_spec of = { .program = "omig events", .verbs = "list on off tail" };
	char text[OPT_VERB_BYTES];

	ck_assert_str_eq(opt_verb_text(&of, "lists", text),
			 "'lists' is not a subcommand; did you mean list?");
	ck_assert_str_eq(opt_verb_text(&of, "show", text),
			 "'show' is not a subcommand; there are list, on, off or tail");
	ck_assert_str_eq(opt_verb_text(&of, NULL, text), "which? list, on, off or tail");
}

SUITE("opt")
