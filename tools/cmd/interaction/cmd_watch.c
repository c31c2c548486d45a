/* SPDX-License-Identifier: Apache-2.0 */
/* omig interaction watch: interactions of running programs, added up while they run. */
#include "tools/cmd/cmd.h"
#include "tools/cmd/interaction/cmd_watch.h"
#include "tools/interaction/netwatch.h"
#include "tools/session/session.h"
#include "tools/term/signals.h"

struct options {
	struct netwatch_options watch;
	struct netread_terms state, member, inherit;
};

static int run(struct options *o)
{
	struct event_tail_options *w = &o->watch.tail;
	int rc = session_open_job(&w->common, &w->job);

	if (rc != CMD_OK)
		return rc;
	signals_catch(false);
	rc = netwatch_run(&o->watch);
	session_close();
	return signals_status(rc);
}

int cmd_interaction_watch(int argc, char **argv)
{
	struct options o = { .watch = { .tail = { .common = CMD_COMMON_INIT,
						  .reconnect_ns = SESSION_GAP_LIMIT_NS },
					.every_ns = 2 * NSEC_PER_SEC } };
	struct event_tail_options *w = &o.watch.tail;
	const struct opt table[] = {
		CMD_OPTIONS(&w->common),
		OPTION_CALL("state", 's', "NAME=OBJECTS",
			    "a state: all these objects, with + between, are in use", &o.state,
			    netread_add_term),
		OPTION_CALL(
			"member", 'm', "OBJECTS",
			"count interactions in which all these objects are in use at once; repeated: or",
			&o.member, netread_add_term),
		OPTION_CALL("inherit", 'i', "OBJECT", "new sub-tasks use the object too",
			    &o.inherit, netread_add_term),
		OPTION_RANGE("every", 'e', "TIME", "interval of the output (default 2s)", OPT_NSEC,
			     &o.watch.every_ns, 500 * NSEC_PER_MSEC, 3600 * NSEC_PER_SEC),
		OPTION_RANGE("for", 0, "TIME", "end after this time", OPT_NSEC, &w->for_ns,
			     NSEC_PER_MSEC, INT64_C(31536000000000000)),
		OPTION("job", 0, "JOB", "of the processes of this job only", OPT_STR, &w->job),
		OPTION("verify", 0, NULL,
		       "fetch all events too, analyse them, and compare each interaction: 1 if one differs",
		       OPT_FLAG, &o.watch.is_verify),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig interaction watch",
		.usage = "[OPTION...]",
		.summary = "shows interactions of running programs while they run",
		.details =
			"Programs write them with omig-interaction(3). Each host contracts its "
			"part of an interaction, and this command adds up the parts. The end "
			"shows all tables, and the path of the slowest interaction. Only objects "
			"of --state, --member and --inherit are distinguished.",
		.table = table,
	};
	int first, exit_status = cmd_parse(&spec, argc, argv, &first);

	if (exit_status >= 0)
		return exit_status;
	if (first < argc)
		return cmd_usage(&spec, "watch has no operand: '%s'", argv[first]);
	o.watch.state = &o.state;
	o.watch.member = &o.member;
	o.watch.inherit = &o.inherit;
	return run(&o);
}
