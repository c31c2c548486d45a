/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rights at the last hop, cell by cell: every service x every identity x the claims of the daemons
 * above x the owner of the object. Requests through an sm are the same messages. So each cell is
 * also what a lying sm or mainsm could reach.
 */
#include "common/base/str.h"
#include "common/base/array.h"
#include "lm/task/rights.h"
#include "tests/any_call.h"
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

static struct world w;
static struct fake_segment segment;
static char own[TOKEN_BYTES];

static const struct {
	const char *identity;
	enum omis_right right;
} who[] = {
	{ "omig:tool-observe//me@here", OMIS_OBSERVE },
	{ "omig:tool-manipulate//me@here", OMIS_MANIPULATE },
	{ "omig:tool-admin//me@here", OMIS_ADMIN },
	{ "omig:lm/a/h1", OMIS_NO_RIGHT },
	{ "omig:sm/a/h1", OMIS_NO_RIGHT },
	{ "omig:mainsm//h1", OMIS_NO_RIGHT },
	{ "omig:root//me@here", OMIS_NO_RIGHT },
	{ "tool-admin", OMIS_NO_RIGHT },
};
static const uint32_t claims[] = { OMIS_NO_RIGHT, OMIS_OBSERVE, OMIS_MANIPULATE, OMIS_ADMIN, 77 };

static void open_world(void)
{
	world_open(&w);
	world_add_rank(&w, &segment, 100, 0, own);
}

static void close_world(void)
{
	world_close(&w);
	fake_segment_close(&segment);
}

/* Of the first action; kept until the next call. */
static const struct msg_entry *ask(const char *text, const char *identity, uint32_t claim)
{
	const struct msg m = { .type = MSG_REQUEST,
			       .request = { .id = w.next_id++,
					    .tool = 1,
					    .identity = identity,
					    .right = claim,
					    .deadline_ns = 2 * SEC,
					    .text = { (const uint8_t *)text, strlen(text) } } };

	above_skip_all(&w.mainsm);
	above_send(&w.mainsm, &m);
	for (int i = 0; i < 300; i++) {
		const struct msg *got;

		world_run(&w, 10 * MS);
		got = above_next(&w.mainsm, MSG_REPLY);
		if (got)
			return got->reply.nentry ? &got->reply.entry[0] : NULL;
	}
	ck_abort_msg("no reply to %s", text);
}

static bool is_for_hosts(const struct omis_service *s)
{
	return s->class != OMIS_EVENT && (s->where == OMIS_AT_NODE || s->where == OMIS_AT_RANK);
}

static bool is_denied(const struct msg_entry *e, const struct omis_service *s)
{
	/* A carrier is denied by the name that it carries: any_request() writes "x". */
	bool carries = s->flags & OMIS_INTERNAL && str_has_prefix(s->name, "omig_plugin_");
	char words[128];

	snprintf(words, sizeof(words), "%s needs the right %s", carries ? "x" : s->name,
		 omis_right_name(s->right));
	return e && e->status == STATUS_NO_PERMISSION && !strcmp(entry_text(e), words);
}

static void check_cell(const struct omis_service *s, size_t i, uint32_t claim, const char *object)
{
	enum omis_right has =
		claim < (uint32_t)who[i].right ? (enum omis_right)claim : who[i].right;
	struct buf text = BUF_INIT(4096);
	const struct msg_entry *e;

	any_request(&text, s, object);
	e = ask(buf_str(&text), who[i].identity, claim);
	if (s->state == OMIS_UNSUPPORTED)
		ck_assert_msg(e && e->status >= STATUS_SYNTAX_ERROR, "%s is done", buf_str(&text));
	else
		ck_assert_msg(is_denied(e, s) == (has < s->right), "%s as %s, said to have %u: %s",
			      buf_str(&text), who[i].identity, claim,
			      e ? entry_text(e) : "nothing");
	buf_done(&text);
}

TEST(every_service_asks_for_its_right_whatever_is_claimed)
{
	size_t cells = 0;

	for (size_t k = 0; k < omis_service_count(); k++) {
		const struct omis_service *s = omis_service_at(k);

		for (size_t i = 0; is_for_hosts(s) && i < ARRAY_LEN(who); i++)
			for (size_t c = 0; c < ARRAY_LEN(claims); c++, cells++)
				check_cell(s, i, claims[c], NULL);
	}
	ck_assert_uint_gt(cells, 1000);
}

/* Objects of a process here, of another host, of none: one answer without the right. */
TEST(without_the_right_a_reply_reveals_no_objects)
{
	char mine[TOKEN_BYTES + 2];
	const char *const objects[] = { mine, "[p_9_aaaaaa]", "[p_7_zzzzzz]", "[]" };

	snprintf(mine, sizeof(mine), "[%s]", own);
	for (size_t k = 0; k < omis_service_count(); k++) {
		const struct omis_service *s = omis_service_at(k);

		if (!is_for_hosts(s) || s->object != 'p' || s->right < OMIS_MANIPULATE)
			continue;
		for (size_t o = 0; o < ARRAY_LEN(objects); o++)
			check_cell(s, 0, OMIS_ADMIN, objects[o]);
	}
	ck_assert_uint_eq(fake_proc_find(&w.host, 100)->nsignal, 0);
}

/* Every service that hosts do, on objects that are not theirs. */
TEST(no_service_works_on_what_is_not_of_this_host)
{
	static const char *const objects[] = { "[p_9_aaaaaa]", "[p_7_zzzzzz]", "[n_9]",
					       "[t_7_zzzzzz]", "[s_9]" };

	for (size_t k = 0; k < omis_service_count(); k++) {
		const struct omis_service *s = omis_service_at(k);

		if (!is_for_hosts(s) || !s->object || !strchr("npt", s->object) ||
		    s->state == OMIS_UNSUPPORTED)
			continue;
		for (size_t o = 0; o < ARRAY_LEN(objects); o++) {
			struct buf text = BUF_INIT(4096);
			const struct msg_entry *e;

			any_request(&text, s, objects[o]);
			e = ask(buf_str(&text), who[2].identity, OMIS_ADMIN);
			ck_assert_msg(!e || e->status >= STATUS_SYNTAX_ERROR, "%s: %s",
				      buf_str(&text), e ? entry_text(e) : "");
			buf_done(&text);
		}
	}
	ck_assert_uint_eq(fake_proc_find(&w.host, 100)->nsignal, 0);
}

TEST(every_event_asks_for_its_right)
{
	for (size_t k = 0; k < omis_service_count(); k++) {
		const struct omis_service *s = omis_service_at(k);

		for (size_t i = 0; s->class == OMIS_EVENT && i < ARRAY_LEN(who); i++) {
			struct buf text = BUF_INIT(4096);
			struct omis_request *r = NULL;
			struct omis_diag diag = { 0 };
			enum omis_right right;

			any_request(&text, s, NULL);
			ck_assert_int_eq(omis_parse(buf_str(&text), text.n, &r, NULL), 0);
			if (!omis_check(r, &diag))
				ck_assert_msg(rights_allow(who[i].identity, r, 0, &right) ==
						      (who[i].right >= s->right),
					      "%s as %s", s->name, who[i].identity);
			else
				ck_assert_uint_eq(s->state, OMIS_UNSUPPORTED);
			omis_request_free(r);
			buf_done(&text);
		}
	}
}

SUITE_WITH("matrix", open_world, close_world)
