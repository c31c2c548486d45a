/* SPDX-License-Identifier: Apache-2.0 */
/* Options of measurements and of kept subscriptions: both sides of each bound. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/measure/measured_hosts.h"

static void set_up(void)
{
	open_hosts();
}

static void clean_up(void)
{
	close_hosts();
}

/* refusal: the expected text; NULL: the request is accepted. */
static void check(const char *request, const char *refusal)
{
	const struct reply *r = above_ask(&t, request);
	unsigned want = refusal ? STATUS_PARAMETER_ERROR : STATUS_OK;

	ck_assert_msg(reply_status(r) == want, "%s: %s", request,
		      r->nentry ? r->entry[0].value : "");
	if (refusal)
		ck_assert_msg(strstr(r->entry[0].value, refusal) != NULL, "%s: %s", request,
			      r->entry[0].value);
}

TEST(options_of_a_measurement)
{
	static const struct {
		const char *options, *refusal;
	} cases[] = {
		{ "", NULL },
		{ "\"every_ms\"", "options are names and values" },
		{ "1,2", "there is no option" },
		{ "\"evry\",2", "there is no option" },
		{ "\"every_ms\",0", NULL },
		{ "\"every_ms\",-1", "0, or a number of milliseconds" },
		{ "\"every_ms\",1", "0, or a number of milliseconds" },
		{ "\"every_ms\",1000", NULL },
		{ "\"every_ms\",1e30", "0, or a number of milliseconds" },
		{ "\"every_ms\",\"1000\"", "0, or a number of milliseconds" },
		{ "\"mode\",\"start\"", NULL },
		{ "\"mode\",\"last\"", NULL },
		{ "\"mode\",\"first\"", "start or last" },
		{ "\"mode\",1", "start or last" },
		{ "\"by\",\"process\"", NULL },
		{ "\"by\",\"node\"", NULL },
		{ "\"by\",\"site\"", NULL },
		{ "\"by\",\"\"", NULL },
		{ "\"by\",\"partner,process\"", NULL },
		{ "\"by\",\"process,partner\"", NULL },
		{ "\"by\",\"process,node\"", "process, node or site" },
		{ "\"by\",\"partner,region\"", "by which regions" },
		{ "\"by\",\"thread\"", "process, node or site" },
		{ "\"by\",\"processprocessprocess\"", "process, node or site" },
		{ "\"by\",7", "process, node or site" },
		{ "\"rate\",0", NULL },
		{ "\"rate\",1", NULL },
		{ "\"rate\",2", "0 or 1" },
		{ "\"rate\",-1", "0 or 1" },
		{ "\"rate\",\"1\"", "0 or 1" },
		{ "\"central\",0", NULL },
		{ "\"central\",1", NULL },
		{ "\"central\",2", "0 or 1" },
		{ "\"name\",\"mine\"", NULL },
		{ "\"name\",\"\"", "it takes a name" },
		{ "\"name\",7", "it takes a name" },
		{ "\"agg\",\"MAX\"", NULL },
		{ "\"agg\",\"STDEV\"", NULL },
		{ "\"agg\",\"max\"", "COUNT, SUM, MIN, MAX, PROD, MEAN, STDEV, UNIQUE" },
		{ "\"agg\",\"QUANTILE\"", "it takes COUNT, SUM" },
		{ "\"agg\",\"VARIANCE\"", "it takes COUNT, SUM" },
		{ "\"agg\",\"CI\"", "it takes COUNT, SUM" },
		{ "\"agg\",\"CORRELATION\"", "it takes COUNT, SUM" },
		{ "\"agg\",3", "it takes COUNT, SUM" },
		{ "\"until\",\"nonsense\"", "a rule without batches" },
		{ "\"until\",3", "a rule without batches" },
	};
	char request[256];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(request, sizeof(request), ":dfg_create([],\"\",\"Send_volume\",[%s])",
			 cases[i].options);
		check(request, cases[i].refusal);
	}
}

TEST(options_of_a_kept_subscription)
{
	static const struct {
		const char *seconds, *options, *refusal;
	} cases[] = {
		{ "0", "", NULL },
		{ "-1", "", "for how many seconds" },
		{ "31622400", "", NULL },
		{ "31622401", "", "for how many seconds" },
		{ "0", "\"job\",\"j\"", NULL },
		{ "0", "\"job\"", "options are \"job\"" },
		{ "0", "\"job\",1", "options are \"job\"" },
		{ "0", "1,1", "options are \"job\"" },
		{ "0", "\"jobs\",\"j\"", "options are \"job\"" },
		{ "0", "\"policy\",\"drop_oldest\"", NULL },
		{ "0", "\"policy\",\"drop_newest\"", NULL },
		{ "0", "\"policy\",\"stop\"", NULL },
		{ "0", "\"policy\",\"drop\"", "options are \"job\"" },
		{ "0", "\"policy\",1", "options are \"job\"" },
		{ "0", "\"lease\",9", "\"lease\" 10 to 86400 seconds" },
		{ "0", "\"lease\",10", NULL },
		{ "0", "\"lease\",86400", NULL },
		{ "0", "\"lease\",86401", "options are \"job\"" },
		{ "0", "\"lease\",\"1\"", "options are \"job\"" },
		{ "0", "\"mb\",1", "\"mb\" 2 to 4096" },
		{ "0", "\"mb\",2", NULL },
		{ "0", "\"mb\",4096", NULL },
		{ "0", "\"mb\",4097", "options are \"job\"" },
		{ "0", "\"mb\",64,\"lease\",3600,\"policy\",\"stop\"", NULL },
	};
	char request[256];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(request, sizeof(request),
			 ":omig_events_keep(\"k%zu\",[\"all\"],\"\",%s,[%s])", i, cases[i].seconds,
			 cases[i].options);
		check(request, cases[i].refusal);
	}
}

SUITE_WITH("mainsm options", set_up, clean_up)
