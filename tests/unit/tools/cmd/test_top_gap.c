/* SPDX-License-Identifier: Apache-2.0 */
/* omig top when mainsm is lost and back between two samples: with a real one that would be a matter
 * of luck. */
#include "tests/suite.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"
#include "tools/view/top_show.h"

static enum session_link link_state;
static unsigned samples, samples_of_none, shown, turns, bridged;

int __wrap_session_open_job(const struct cmd_common *c, const char **job);
void __wrap_session_close(void);
enum session_link __wrap_session_link(void);
int __wrap_session_bridge(struct session_gap *g);
void __wrap_omis_handler(void);
int __wrap_top_sample_take(struct top_sample *s, const struct top_sample *before, const char *job);
void __wrap_top_sample_stop(void);
bool __wrap_top_show_json(const struct top_sample *s);

int __wrap_session_open_job(const struct cmd_common *c, const char **job)
{
	return CMD_OK;
}

void __wrap_session_close(void)
{
}

void __wrap_top_sample_stop(void)
{
}

enum session_link __wrap_session_link(void)
{
	return link_state;
}

int __wrap_session_bridge(struct session_gap *g)
{
	if (link_state == SESSION_UP)
		return CMD_OK;
	link_state = SESSION_UP;
	bridged++;
	return g->again(g->arg);
}

/* The next mainsm is found in the first turn that looks for it. */
void __wrap_omis_handler(void)
{
	if (!turns++)
		link_state = SESSION_BACK;
}

/* Any mainsm answers; one without a request before has nothing to report. */
int __wrap_top_sample_take(struct top_sample *s, const struct top_sample *before, const char *job)
{
	samples++;
	samples_of_none += link_state != SESSION_UP;
	return CMD_OK;
}

bool __wrap_top_show_json(const struct top_sample *s)
{
	shown++;
	return true;
}

TEST(the_next_mainsm_is_asked_again_before_it_is_accepted)
{
	char name[] = "top", json[] = "--json", every[] = "--every=10ms", count[] = "--count=3";
	char *argv[] = { name, json, every, count, NULL };

	ck_assert_int_eq(cmd_top(4, argv), CMD_OK);
	ck_assert_uint_eq(shown, 3);
	ck_assert_uint_eq(samples, 4);
	ck_assert_uint_eq(bridged, 1);
	ck_assert_uint_eq(samples_of_none, 0);
}

SUITE("top gap")
