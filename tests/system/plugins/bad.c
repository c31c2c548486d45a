/* SPDX-License-Identifier: Apache-2.0 */
/* Plug-ins that do what plug-ins must not do: BAD chooses what, at compile time. */
#include <omig/plugin.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GOOD 0
#define VERSION 1
#define NO_SYMBOL 2
#define CRASH_AT_LOAD 3
#define CRASH_IN_OPEN 4
#define REFUSE 5
#define HANG_IN_OPEN 6
#define BUILT_IN 7
#define BAD_TYPE 8
#define SAME_NAME 9
#define SAME_SERVICE 10

#ifndef BAD
#define BAD GOOD
#endif

static int answer(struct omig_plugin_call *c)
{
	static int64_t n;

	omig_plugin_put_int(c, ++n); /* begins again in a new process */
	return 0;
}

static int crash(struct omig_plugin_call *c)
{
	(void)c;
	raise(SIGSEGV);
	return 0;
}

static int leave(struct omig_plugin_call *c)
{
	(void)c;
	_exit(0);
}

static int hang(struct omig_plugin_call *c)
{
	(void)c;
	while (pause() < 0)
		;
	return 0;
}

/* Grows until the kernel refuses. */
static int leak(struct omig_plugin_call *c)
{
	size_t n = 0;

	for (volatile char *p; n < 4096 && (p = malloc(1 << 20)); n++)
		*p = 1;
	omig_plugin_put_int(c, (int64_t)n);
	return 0;
}

static int large(struct omig_plugin_call *c)
{
	int64_t n = omig_plugin_get_int(c, 0, 0);
	char *p = malloc((size_t)n + 1);

	if (!p)
		return omig_plugin_fail(c, "no memory");
	memset(p, 'x', (size_t)n);
	omig_plugin_put_text(c, p, (size_t)n);
	free(p);
	return 0;
}

static int lists(struct omig_plugin_call *c)
{
	omig_plugin_list_begin(c);
	return 0;
}

static int fail(struct omig_plugin_call *c)
{
	return omig_plugin_fail(c, "this one always fails");
}

static int echo(struct omig_plugin_call *c)
{
	const char *text = omig_plugin_get_text(c, 1, 0, NULL);

	omig_plugin_put_int(c, omig_plugin_get_int(c, 0, 0));
	omig_plugin_put_text(c, text, strlen(text));
	omig_plugin_put_int(c, (int64_t)omig_plugin_count(c, 2));
	omig_plugin_put_float(c, omig_plugin_get_float(c, 2, 1));
	omig_plugin_put_text(c, "a\0b", 3);
	return 0;
}

static int change(struct omig_plugin_call *c)
{
	omig_plugin_put_int(c, omig_plugin_pid(c));
	return 0;
}

static int broken(struct omig_plugin_call *c)
{
	return omig_plugin_fail(c, "this one is broken");
}

static const struct omig_plugin_service services[] = {
#if BAD == BUILT_IN
	{ "node_get_info", NULL, NULL, NULL, 0, answer },
#elif BAD == BAD_TYPE
	{ "bad_type", "text name", NULL, NULL, 0, answer },
#elif BAD == SAME_SERVICE
	{ "bad_answer", NULL, NULL, NULL, 0, answer },
#elif BAD == SAME_NAME
	{ "bad_other", NULL, NULL, NULL, 0, answer },
#else
	{ "bad_answer", NULL, "n", "Counts its calls.", 0, answer },
	{ "bad_count", NULL, "1", "Counts its calls.", OMIG_PLUGIN_COUNTER, answer },
	{ "bad_broken", NULL, "B", "Has no value.", OMIG_PLUGIN_VALUE, broken },
	{ "bad_crash", NULL, NULL, "Crashes.", 0, crash },
	{ "bad_leave", NULL, NULL, "Exits.", 0, leave },
	{ "bad_hang", NULL, NULL, "Hangs.", 0, hang },
	{ "bad_leak", NULL, "mib", "Takes memory.", 0, leak },
	{ "bad_large", "int bytes", "text", "A large result.", 0, large },
	{ "bad_lists", NULL, NULL, "Does not end a list.", 0, lists },
	{ "bad_fail", NULL, NULL, "Fails.", 0, fail },
	{ "bad_echo", "int i, string s = \"\", float* f = []", "i, s, n, f", "Its parameters.", 0,
	  echo },
	{ "bad_change", NULL, "pid", "Changes nothing.",
	  OMIG_PLUGIN_CHANGES | OMIG_PLUGIN_OF_PROCESSES, change },
#endif
	{ NULL, NULL, NULL, NULL, 0, NULL },
};

#if BAD == CRASH_AT_LOAD
__attribute__((constructor)) static void at_load(void)
{
	abort();
}
#endif

#if BAD == CRASH_IN_OPEN || BAD == REFUSE || BAD == HANG_IN_OPEN
static int at_open(char *why, size_t size)
{
	if (BAD == CRASH_IN_OPEN)
		abort();
	while (BAD == HANG_IN_OPEN)
		pause();
	snprintf(why, size, "the device is away");
	return -1;
}
#define OPEN at_open
#else
#define OPEN NULL
#endif

#if BAD != NO_SYMBOL
OMIG_PLUGIN = { BAD == VERSION ? 99 : OMIG_PLUGIN_VERSION,
		BAD == SAME_SERVICE ? "worse" : "bad",
		"what plug-ins must not do",
		OPEN,
		NULL,
		services };
#else
extern const struct omig_plugin_service *unused(void);
__attribute__((visibility("default"))) const struct omig_plugin_service *unused(void)
{
	return services;
}
#endif
