/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of vertices are those of event logs. What is recorded: tests/libapp/matched.c. */
#include "eventlog/evtype.h"
#include "libapp/vertex/vertex.h"
#include "tests/suite.h"

static struct evtype *defined(enum vertex v)
{
	uint8_t text[VERTEX_DEFINITION_BYTES];
	unsigned n = vertex_define(v, text), number;
	struct evtype *t = NULL;

	ck_assert_uint_le(n, sizeof(text));
	ck_assert_int_eq(evtype_decode(bytes_at(text, n), false, &number, &t, NULL), 0);
	ck_assert_uint_eq(number, v + 1);
	return t;
}

static void has_field(const struct evtype *t, unsigned i, const char *name, enum evkind kind)
{
	ck_assert_str_eq(t->field[i].name, name);
	ck_assert_int_eq(t->field[i].kind, kind);
}

TEST(a_send_names_the_sub_task_and_its_destination)
{
	struct evtype *t = defined(VERTEX_SEND);

	ck_assert_str_eq(t->name, "interaction.send");
	ck_assert_uint_eq(t->nfield, 3);
	has_field(t, 0, "new", EV_INT64);
	has_field(t, 1, "to", EV_INT32);
	has_field(t, 2, "uncertain", EV_INT32);
	free(t);
}

TEST(a_late_return_names_the_message_and_its_destination)
{
	struct evtype *t = defined(VERTEX_SENT);

	ck_assert_str_eq(t->name, "interaction.sent");
	ck_assert_uint_eq(t->nfield, 3);
	has_field(t, 0, "message", EV_INT64);
	has_field(t, 1, "to", EV_INT32);
	has_field(t, 2, "uncertain", EV_INT32);
	free(t);
}

TEST(a_receive_names_the_sub_task_and_its_source)
{
	struct evtype *t = defined(VERTEX_RECEIVE);

	ck_assert_str_eq(t->name, "interaction.receive");
	ck_assert_uint_eq(t->nfield, 3);
	has_field(t, 0, "with", EV_INT64);
	has_field(t, 1, "from", EV_INT32);
	has_field(t, 2, "uncertain", EV_INT32);
	free(t);
}

TEST(a_wait_has_no_fields)
{
	struct evtype *t = defined(VERTEX_WAIT);

	ck_assert_str_eq(t->name, "interaction.wait");
	ck_assert_uint_eq(t->nfield, 0);
	free(t);
}

TEST(a_collective_call_names_its_ranks_and_its_role)
{
	struct evtype *t = defined(VERTEX_MEET);

	ck_assert_str_eq(t->name, "interaction.meet");
	ck_assert_uint_eq(t->nfield, 3);
	has_field(t, 0, "call", EV_INT64);
	has_field(t, 1, "ranks", EV_INT32);
	has_field(t, 2, "role", EV_INT32);
	free(t);
}

SUITE("libapp/vertex")
