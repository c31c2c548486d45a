/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of tools belong to them also in the lm that follows a crash. */
#include "common/omis/text/token.h"
#include "lm/proc/hooks.h"
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

static struct world w;
static struct fake_segment seg;

static void start_lm_again(void)
{
	world_crash_lm(&w);
	world_start_lm(&w);
}

static void tool_goes(uint32_t tool)
{
	above_send(&w.mainsm,
		   &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = tool } });
	world_run(&w, 10 * MS);
}

static void tool_asks(uint32_t tool, const char *service, const char *token, const char *rest)
{
	char text[128];

	snprintf(text, sizeof(text), ":%s([%s]%s)", service, token, rest);
	world_ask_as(&w, tool, OBSERVER, text);
}

TEST(a_tool_ends_only_its_own_requests_even_in_the_next_lm)
{
	char token[TOKEN_BYTES];

	world_open(&w);
	world_add_rank(&w, &seg, 100, 5, token);
	tool_asks(1, "omig_calls_enable", token, ",\"time\",4");
	tool_asks(2, "omig_calls_enable", token, ",\"volume\",6");
	tool_asks(3, "omig_calls_enable", token, ",\"partner\",6");
	start_lm_again();
	tool_asks(4, "omig_calls_disable", token, "");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"),
			  (HOOKS_MEASURE & ~HOOK_SITE) | 4u << HOOK_SAMPLE_SHIFT);
	tool_asks(3, "omig_calls_disable", token, "");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"),
			  HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | 4u << HOOK_SAMPLE_SHIFT);
	start_lm_again();
	tool_goes(2);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"),
			  HOOK_COUNT | HOOK_TIME | 4u << HOOK_SAMPLE_SHIFT);
	tool_asks(1, "omig_calls_enable", token, ",\"count\"");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_COUNT);
	tool_goes(1);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	world_close(&w);
	fake_segment_close(&seg);
}

/* The tool's own request is armed again when the link is up; counting continues until then. */
TEST(inherited_hooks_stay_on_when_other_tools_disable_theirs)
{
	char token[TOKEN_BYTES], text[128];

	world_open(&w);
	world_add_rank(&w, &seg, 100, 5, token);
	for (uint32_t tool = 1; tool <= SEG_INTERESTS; tool++)
		tool_asks(tool, "omig_calls_enable", token, ",\"count\"");
	snprintf(text, sizeof(text), ":omig_calls_enable([%s],\"time\")", token);
	world_ask_as(&w, SEG_INTERESTS + 1, OBSERVER, text);
	start_lm_again();
	for (uint32_t tool = 1; tool <= SEG_INTERESTS + 1; tool++)
		tool_asks(tool, "omig_calls_disable", token, "");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_COUNT | HOOK_TIME);
	world_close(&w);
	fake_segment_close(&seg);
}

/* The process can write them as well, and an lm may have died while it wrote. */
TEST(notes_of_interests_are_accepted_if_they_are_valid)
{
	char token[TOKEN_BYTES];

	world_open(&w);
	world_add_rank(&w, &seg, 100, 5, token);
	tool_asks(1, "omig_calls_enable", token, ",\"count\"");
	world_crash_lm(&w);
	for (unsigned i = 1; i < SEG_INTERESTS; i++)
		seg.h->l.interest[i] = (struct seg_interest){ 1000 + i, UINT32_MAX - (i & 1) };
	seg.h->l.interest_rest = UINT32_MAX;
	world_start_lm(&w);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_COUNT);
	world_crash_lm(&w);
	seg.h->l.interest_seq |= 1;
	world_start_lm(&w);
	tool_asks(1, "omig_calls_disable", token, "");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_COUNT);
	world_close(&w);
	fake_segment_close(&seg);
}

SUITE("lm left")
