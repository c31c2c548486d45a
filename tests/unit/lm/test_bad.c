/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every service x every wrong request to a host, as from a faulty daemon above: the status of the
 * interface, and no process touched.
 */
#include "common/base/str.h"
#include "common/base/array.h"
#include "tests/bad_call.h"
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

#define ADMIN "omig:tool-admin//me@here"

static struct world w;
static struct fake_segment mine, ended;
static char own[TOKEN_BYTES], gone[TOKEN_BYTES];

/* A process that lives, and one that has ended. */
static void open_world(void)
{
	world_open(&w);
	world_add_rank(&w, &mine, 100, 0, own);
	world_add_rank(&w, &ended, 200, 1, gone);
	fake_proc_end(fake_proc_find(&w.host, 200), 0);
	world_run(&w, 3 * SEC);
}

static void close_world(void)
{
	const struct fake_proc *p = fake_proc_find(&w.host, 100);

	ck_assert_uint_eq(p->nsignal, 0);
	world_close(&w);
	fake_segment_close(&mine);
	fake_segment_close(&ended);
}

/* The first entry; NULL: none. */
static const struct msg_entry *ask(const struct buf *text)
{
	struct msg m = { .type = MSG_REQUEST,
			 .request = { .id = w.next_id++,
				      .tool = 1,
				      .identity = ADMIN,
				      .right = OMIS_ADMIN,
				      .deadline_ns = SEC,
				      .text = { text->p, text->n } } };

	above_skip_all(&w.mainsm);
	above_send(&w.mainsm, &m);
	for (int i = 0; i < 300; i++) {
		const struct msg *got;

		world_run(&w, 10 * MS);
		while ((got = above_next(&w.mainsm, MSG_REPLY)))
			if (got->reply.id == m.request.id)
				return got->reply.nentry ? &got->reply.entry[0] : NULL;
	}
	ck_abort_msg("no reply");
	return NULL;
}

static unsigned status_of(const struct msg_entry *e)
{
	return e ? e->status & ~(unsigned)STATUS_FATAL : STATUS_OK;
}

/* A daemon may send more than a tool may; the rest is as for a tool, internal services included. */
static unsigned expected(const struct omis_service *s, enum bad b, size_t i)
{
	unsigned status = b == BAD_LONG || b == BAD_COUNT ? STATUS_OK : bad_status(s, b, i);

	if (status && status != STATUS_SYNTAX_ERROR && s->state == OMIS_UNSUPPORTED)
		return STATUS_UNSUPPORTED_SERVICE;
	return status;
}

static bool check_cell(const struct omis_service *s, enum bad b, size_t i)
{
	unsigned want = expected(s, b, i), got;
	struct buf text = BUF_INIT(FRAME_MAX_BYTES);

	if (want) {
		bad_request(&text, s, b, i);
		got = status_of(ask(&text));
		ck_assert_msg(got == want, "%s: %s, not %s", buf_str(&text), status_name(got),
			      status_name(want));
	}
	buf_done(&text);
	return want != 0;
}

TEST(every_service_reports_the_mistake_with_its_parameters)
{
	size_t cells = 0;

	for (size_t k = 0; k < omis_service_count(); k++) {
		const struct omis_service *s = omis_service_at(k);

		for (int b = 0; b < BAD_KINDS; b++)
			for (size_t i = 0; i == 0 || i < omis_service_nparam(s); i++)
				cells += check_cell(s, (enum bad)b, i);
	}
	ck_assert_uint_gt(cells, 1000);
}

/*
 * Too much for a tool is only much for a daemon: the request is answered without an internal error.
 */
TEST(long_strings_and_many_objects_are_answered)
{
	for (size_t k = 0; k < omis_service_count(); k++) {
		const struct omis_service *s = omis_service_at(k);

		for (size_t i = 0; i < omis_service_nparam(s); i++)
			for (int b = BAD_LONG; b <= BAD_COUNT; b++) {
				struct buf text = BUF_INIT(FRAME_MAX_BYTES);
				unsigned got;

				if (s->class != OMIS_EVENT && bad_status(s, (enum bad)b, i)) {
					bad_request(&text, s, (enum bad)b, i);
					got = status_of(ask(&text));
					ck_assert_msg(got != STATUS_INTERNAL_ERROR, "%s", s->name);
				}
				buf_done(&text);
			}
	}
}

static bool is_done_here(const struct omis_service *s)
{
	return s->class != OMIS_EVENT && (s->where == OMIS_AT_NODE || s->where == OMIS_AT_RANK) &&
	       s->state != OMIS_UNSUPPORTED && s->object && strchr("npt", s->object);
}

static void check_object(const struct omis_service *s, const char *object)
{
	struct buf text = BUF_INIT(FRAME_MAX_BYTES);
	unsigned got;

	any_request(&text, s, object);
	got = status_of(ask(&text));
	/* No plug-in is here. */
	if (got == STATUS_UNSUPPORTED_SERVICE && str_has_prefix(s->name, "omig_plugin_"))
		got = STATUS_UNKNOWN_OBJECT;
	ck_assert_msg(got == STATUS_UNKNOWN_OBJECT || got == STATUS_PARAMETER_ERROR, "%s: %s",
		      buf_str(&text), status_name(got));
	buf_done(&text);
}

TEST(each_service_reports_unknown_objects)
{
	static const char *const objects[] = { "[p_9_aaaaaa]", "[p_7_zzzzzz]", "[n_9]",
					       "[t_7_zzzzzz]", "[u_0]" };
	size_t cells = 0;

	for (size_t k = 0; k < omis_service_count(); k++)
		for (size_t o = 0; is_done_here(omis_service_at(k)) && o < ARRAY_LEN(objects);
		     o++, cells++)
			check_object(omis_service_at(k), objects[o]);
	ck_assert_uint_gt(cells, 100);
}

/* The last state of an ended process can be read for a while; nothing can be done to it. */
TEST(nothing_is_done_to_what_has_ended)
{
	char object[TOKEN_BYTES + 2];
	size_t cells = 0;

	snprintf(object, sizeof(object), "[%s]", gone);
	for (size_t k = 0; k < omis_service_count(); k++) {
		const struct omis_service *s = omis_service_at(k);

		if (!is_done_here(s) || s->object == 'n' || s->right < OMIS_MANIPULATE)
			continue;
		check_object(s, object);
		cells++;
	}
	ck_assert_uint_gt(cells, 15);
}

SUITE_WITH("bad", open_world, close_world)
