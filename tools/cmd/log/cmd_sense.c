/* SPDX-License-Identifier: Apache-2.0 */
/* omig log sense: figures of hosts and nets as events. */
#include "tools/cmd/log/cmd_log_verbs.h"
#include "tools/sensors/sense.h"
#include "tools/term/signals.h"

int cmd_sense(int argc, char **argv)
{
	struct sense_options w = { .common = CMD_COMMON_INIT,
				   .every_ns = INT64_C(1000000000),
				   .signal = &signals_last };
	const struct opt table[] = {
		CMD_OPTIONS(&w.common),
		OPTION("to", 0, "WHERE",
		       "a log that they are appended to, or x-netlog://HOST:PORT (default: lines)",
		       OPT_STR, &w.to),
		OPTION_RANGE("every", 'e', "TIME", "interval of samples (default 1s)", OPT_NSEC,
			     &w.every_ns, SENSE_EVERY_MIN_NS, SENSE_EVERY_MAX_NS),
		OPTION_RANGE("for", 0, "TIME", "end after this time", OPT_NSEC, &w.for_ns,
			     INT64_C(1000000), INT64_C(31536000000000000)),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig log sense",
		.usage = "[OPTION...]",
		.summary =
			"writes processors, memory, disks, nets and TCP connections of the hosts as events",
		.details =
			"The hosts are those of the monitor. Events are host.cpu, host.memory, host.kernel, "
			"host.disk, host.net, host.tcp, host.pressure and tcp.connection. A figure that is not "
			"known is left out, as are rates of the first sample. In a program's own log, "
			"`omig log lifelines` shows them under the lines.",
		.table = table,
	};
	int first, status = cmd_parse(&spec, argc, argv, &first);

	if (status >= 0)
		return status;
	if (first < argc)
		return cmd_usage(&spec, "unexpected '%s'", argv[first]);
	signals_catch(false);
	return signals_status(sense(&w));
}
