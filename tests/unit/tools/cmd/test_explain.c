/* SPDX-License-Identifier: Apache-2.0 */
/* omig explain: hosts with the same pieces share one entry, and each of them is shown. */
#include "tests/suite.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The data of mainsm: an input in each of three nodes; nothing of the top. */
#define INFO                                                                              \
	"[\"Barrier_delay\",\"s\",\"running\",\"start\",1000,0,\"\",0],[],[1,3,3,3,3,1]," \
	"[3,3000000000,0,3,99,0],[],"                                                     \
	"[[\"n_4\",\"n_4\",0,\"input\",\"Barrier_delay\",p_4_a,\"read\",1,1,[]],"         \
	"[\"n_1\",\"n_1\",0,\"input\",\"Barrier_delay\",p_1_a,\"read\",1,1,[]],"          \
	"[\"n_14\",\"n_14\",0,\"input\",\"Barrier_delay\",p_14_a,\"read\",1,1,[]]],[],[]"

int __wrap_session_open(const struct cmd_common *c);
void __wrap_session_close(void);
int __wrap_session_attach_all(void);
int __wrap_session_ask_value(Omis_value **out, const char *fmt, ...);
Omis_reply __wrap_omis_request(char *request, void (*callback)(Omis_reply, void *), void *param,
			       Omis_flags flags);
void __wrap_omis_reply_free(Omis_reply reply);

int __wrap_session_open(const struct cmd_common *c)
{
	return CMD_OK;
}

void __wrap_session_close(void)
{
}

int __wrap_session_attach_all(void)
{
	return CMD_OK;
}

static int nodes; /* of the graph */

/* The size by itself, then all, or all but the nodes when there are too many. */
int __wrap_session_ask_value(Omis_value **out, const char *fmt, ...)
{
	static const char without[] =
		"[\"Barrier_delay\",\"s\",\"running\",\"start\",1000,0,\"\",0],[],"
		"[1,3,3,3,9000,1],[3,3000000000,0,3,99,0],[],[[\"up\",\"n_4\",1,3,0]]";
	char size[64];
	const char *text = size;
	va_list ap;
	unsigned flags;

	va_start(ap, fmt);
	ck_assert_str_eq(va_arg(ap, const char *), "d_5");
	flags = va_arg(ap, unsigned);
	va_end(ap);
	snprintf(size, sizeof(size), "[1,3,3,3,%d,1]", nodes);
	if (flags != 4)
		text = flags == 255 ? INFO : without;
	ck_assert(flags == 4 || (flags == 255) == (nodes == 3));
	*out = omis_value_parse(text, strlen(text));
	return *out ? CMD_OK : CMD_FAILURE;
}

static char of_two[] = "n_4,n_1", of_one[] = "n_14", empty[] = "";
static char reported_by_two[] = "[0,\"input\",7,6,0,0,0,0,0,0,0],[\"up\",5,50]";
static char reported_by_one[] = "[0,\"input\",9,8,0,0,0,0,0,0,0],[\"up\",6,60]";

Omis_reply __wrap_omis_request(char *request, void (*callback)(Omis_reply, void *), void *param,
			       Omis_flags flags)
{
	static Omis_object_result head[] = { { empty, OMIS_OK, NULL, 0 }, { NULL, 0, NULL, 0 } };
	static Omis_object_result entry[] = {
		{ of_one, OMIS_OK, reported_by_one, sizeof(reported_by_one) - 1 },
		{ of_two, OMIS_OK, reported_by_two, sizeof(reported_by_two) - 1 },
		{ NULL, 0, NULL, 0 }
	};
	static Omis_service_result list[] = { head, entry, NULL };

	ck_assert_str_eq(request, ":omig_dfg_look([n_4,n_1,n_14],5)");
	ck_assert_int_eq(nodes, 3);
	return list;
}

void __wrap_omis_reply_free(Omis_reply reply)
{
}

/* Columns have any width: several spaces become one. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from != ' ' || from[1] != ' ')
			*to++ = *from;
	*to = 0;
}

/* The output of the command. */
static const char *explained(char *option)
{
	static char text[4096];
	char name[] = "explain", dfg[] = "d_5";
	char *argv[] = { name, option, dfg, NULL };
	int saved = dup(STDOUT_FILENO);
	FILE *f = tmpfile();
	size_t n;

	ck_assert_ptr_nonnull(f);
	nodes = nodes ? nodes : 3;
	fflush(stdout);
	dup2(fileno(f), STDOUT_FILENO);
	ck_assert_int_eq(cmd_explain(3, argv), CMD_OK);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	squeeze(text);
	return text;
}

/* There is a line that begins with a piece and has these words. */
static bool has_line(const char *text, const char *piece, const char *words)
{
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		size_t n = strcspn(text, "\n");
		const char *at = strstr(text, words);

		if (!strncmp(text, piece, strlen(piece)) && at && at < text + n)
			return true;
	}
	return false;
}

TEST(each_host_has_the_counts_of_the_entry_that_names_it)
{
	char plain[] = "--color=never";
	const char *text = explained(plain);

	ck_assert_msg(has_line(text, "n_4 ", "p_4_a 7 6 0"), "%s", text);
	ck_assert_msg(has_line(text, "n_1 ", "p_1_a 7 6 0"), "%s", text);
	ck_assert_msg(has_line(text, "n_14 ", "p_14_a 9 8 0"), "%s", text);
}

TEST(each_host_has_a_line_for_its_messages)
{
	char plain[] = "--color=never";
	const char *text = explained(plain);

	ck_assert_msg(has_line(text, "n_4 ", "up 5 "), "%s", text);
	ck_assert_msg(has_line(text, "n_1 ", "up 5 "), "%s", text);
	ck_assert_msg(has_line(text, "n_14 ", "up 6 "), "%s", text);
}

TEST(programs_find_the_counts_too)
{
	char json[] = "--json";
	const char *text = explained(json);

	ck_assert_msg(strstr(text,
			     "{\"piece\":\"n_1\",\"where\":\"n_1\",\"number\":0,\"kind\":\"input\","
			     "\"what\":\"Barrier_delay\",\"object\":\"p_1_a\",\"in\":7,\"out\":6,"),
		      "%s", text);
}

TEST(a_graph_that_is_too_large_for_a_table_is_left_out)
{
	char plain[] = "--color=never";
	const char *text;

	nodes = 9000;
	text = explained(plain);
	ck_assert_msg(strstr(text, "3 pieces with 9000 nodes"), "%s", text);
	ck_assert_msg(has_line(text, "up ", "n_4 yes 3 1.00 0"), "%s", text);
}

SUITE("tools explain")
