/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls every service in every wrong way. The reply has the documented status, nothing is done, and
 * nothing is sent to a host.
 */
#include "common/base/array.h"
#include "common/route/rights.h"
#include "tests/bad_call.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/world.h"

static struct world w;
static struct fake_branch a;
static struct above t;

static void open_world(enum role role)
{
	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_report(&a, 1, "h1");
	above_open(&w, &t, role, "t");
	above_attach_all(&t);
}

static void close_world(void)
{
	above_close(&t);
	below_close(&a);
	world_done(&w);
}

/* Errors of the service come before those of its parameters; unreadable requests before both. */
static unsigned expected(const struct omis_service *s, enum bad b, size_t i)
{
	unsigned status = bad_status(s, b, i);

	if (!status || status == STATUS_SYNTAX_ERROR)
		return status;
	if (s->flags & OMIS_INTERNAL)
		return STATUS_UNKNOWN_SERVICE;
	if (s->where == OMIS_AT_EVENT && s->class != OMIS_EVENT)
		return STATUS_TYPE_MISMATCH;
	return s->state == OMIS_UNSUPPORTED ? STATUS_UNSUPPORTED_SERVICE : status;
}

static const char *shown(const struct buf *text)
{
	return text->n < 200 ? buf_str(text) : "a long one";
}

/*
 * Runs all wrong calls with the tool's rights: an error of the call is reported before a missing
 * right.
 */
static size_t check_all(void)
{
	size_t cells = 0;

	for (size_t k = 0; k < omis_service_count(); k++)
		for (int b = 0; b < BAD_KINDS; b++)
			for (size_t i = 0; i == 0 || i < omis_service_nparam(omis_service_at(k));
			     i++) {
				const struct omis_service *s = omis_service_at(k);
				unsigned want = expected(s, (enum bad)b, i), got;
				struct buf text = BUF_INIT(4 * OMIS_REQUEST_MAX_BYTES);

				if (want) {
					bad_request(&text, s, (enum bad)b, i);
					got = above_status(&t, buf_str(&text));
					ck_assert_msg(got == want, "%s: %s, not %s", shown(&text),
						      status_name(got), status_name(want));
					ck_assert_msg(t.last->nentry == 1 &&
							      t.last->entry[0].action == 0,
						      "%s has more than element 0", shown(&text));
					cells++;
				}
				buf_done(&text);
			}
	return cells;
}

TEST(every_service_reports_the_mistake_with_its_parameters)
{
	unsigned before;

	open_world(ROLE_TOOL_ADMIN);
	before = a.requests + a.arms;
	ck_assert_uint_gt(check_all(), 1000);
	ck_assert_uint_eq(a.requests + a.arms, before);
	ck_assert(t.is_up && a.is_up);
	close_world();
}

TEST(observers_get_the_same_errors)
{
	open_world(ROLE_TOOL_OBSERVE);
	ck_assert_uint_gt(check_all(), 1000);
	close_world();
}

static bool takes_hierarchy(const struct omis_service *s)
{
	return s->class != OMIS_EVENT && s->object && strchr("snpt", s->object) &&
	       !(s->flags & OMIS_INTERNAL) && s->state != OMIS_UNSUPPORTED &&
	       s->where != OMIS_AT_EVENT;
}

/*
 * Unknown objects, and existing ones that are not attached, have the same reply, which reveals
 * nothing.
 */
TEST(every_service_on_what_is_not_there_reports_that)
{
	static const char *const objects[] = { "p_9_zzzzzz", "p_1_zzzzzz", "n_9", "s_9",
					       "t_1_zzzzzz" };
	size_t cells = 0;

	open_world(ROLE_TOOL_ADMIN);
	for (size_t k = 0; k < omis_service_count(); k++) {
		const struct omis_service *s = omis_service_at(k);

		for (size_t o = 0; takes_hierarchy(s) && o < ARRAY_LEN(objects); o++) {
			struct buf text = BUF_INIT(4096);
			unsigned got;

			any_request(&text, s, objects[o]);
			got = above_status(&t, buf_str(&text));
			ck_assert_msg(
				got == STATUS_UNKNOWN_OBJECT || got == STATUS_TYPE_MISMATCH ||
					(got == STATUS_PARAMETER_ERROR && s->where == OMIS_AT_TOP),
				"%s: %s", buf_str(&text), status_name(got));
			ck_assert_msg(got != STATUS_TYPE_MISMATCH || objects[o][0] != s->object,
				      "%s: %s", buf_str(&text), status_name(got));
			buf_done(&text);
			cells++;
		}
	}
	ck_assert_uint_gt(cells, 100);
	close_world();
}

/*
 * Empty object lists of a tool without attachments: success without objects, or a parameter error.
 */
TEST(every_service_without_objects_does_nothing)
{
	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_report(&a, 1, "h1");
	above_open(&w, &t, ROLE_TOOL_ADMIN, "t");
	for (size_t k = 0; k < omis_service_count(); k++) {
		const struct omis_service *s = omis_service_at(k);
		struct buf text = BUF_INIT(4096);
		unsigned got, before = a.requests;

		if (takes_hierarchy(s) && s->where != OMIS_AT_TOP && s->param[0].list) {
			any_request(&text, s, "[]");
			got = above_status(&t, buf_str(&text));
			ck_assert_msg(got == STATUS_OK, "%s: %s", buf_str(&text), status_name(got));
			ck_assert_msg(a.requests == before, "%s went down", buf_str(&text));
		}
		buf_done(&text);
	}
	close_world();
}

SUITE("bad")
