/* SPDX-License-Identifier: Apache-2.0 */
/* omig log receive: takes events of programs in the net. Only --to monitor and TLS need a monitor.
 */
#include "tools/cmd/log/cmd_log_verbs.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/events/destination.h"
#include "tools/events/monitor_out.h"
#include "tools/launch/launch.h"
#include "tools/receive/receive.h"
#include "tools/term/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAY_NS INT64_C(86400000000000)
#define ARGUMENTS_MAX 256 /* of this command: options, and some addresses */
/* The command has started itself as a watched program. */
#define WATCHED_VARIABLE "OMIG_RECEIVE_WATCHED"

/* Only a watched process can give events to the monitor: becomes `omig run -- omig log receive`. */
static int become_watched(char **args, const struct receive_options *w)
{
	static const char *const front[] = { "omig", "run", "--job" };
	char path[FILE_PATH_BYTES + 8], job[32];
	const char *argv[ARGUMENTS_MAX + 16];
	struct launch l = { .mainsm = w->mainsm };
	struct err e = { 0 };
	size_t n = 0;

	if (getenv(WATCHED_VARIABLE))
		return cmd_fail(CMD_FAILURE, "monitor: this process cannot be watched");
	if (launch_find_files(&l, &e))
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	snprintf(path, sizeof(path), "%s/omig", l.bin);
	snprintf(job, sizeof(job), "receive.%ld", (long)getpid());
	for (size_t i = 0; i < ARRAY_LEN(front); i++)
		argv[n++] = front[i];
	argv[n++] = job;
	if (w->mainsm) {
		argv[n++] = "--mainsm";
		argv[n++] = w->mainsm;
	}
	argv[n++] = "--";
	argv[n++] = path;
	argv[n++] = "log";
	argv[n++] = "receive";
	for (size_t i = 0; args[i]; i++) {
		if (i == ARGUMENTS_MAX)
			return cmd_fail(CMD_USAGE, "more than %d arguments", ARGUMENTS_MAX);
		argv[n++] = args[i];
	}
	argv[n] = NULL;
	setenv(WATCHED_VARIABLE, "1", 1);
	execv(path, (char *const *)(uintptr_t)argv);
	return cmd_fail(CMD_FAILURE, "%s: %s", path, strerror(errno));
}

int cmd_receive(int argc, char **argv)
{
	struct receive_options w = { .room_mib = 1024,
				     .older = 7,
				     .timeout_ns = CMD_COMMON_INIT.timeout_ns };
	const struct opt table[] = {
		OPTION("to", 0, "WHERE",
		       "a file, archive:FILE, postgresql://..., monitor, or x-netlog://HOST:PORT, which passes events on",
		       OPT_STR, &w.to),
		OPTION("spool", 0, "FOLDER",
		       "where events wait until they are stored (default: the file's name and .spool)",
		       OPT_STR, &w.spool),
		OPTION_RANGE("room", 0, "MIB", "room of the spool (default 1024)", OPT_U64,
			     &w.room_mib, 1, 16 * 1024),
		OPTION_RANGE("rotate-size", 0, "MIB",
			     "begin another file when it has this size; the one before is FILE.1",
			     OPT_U64, &w.rotate_mib, 1, INT64_C(1) << 24),
		OPTION_RANGE("rotate-every", 0, "TIME",
			     "begin another file after this time, with the next event", OPT_NSEC,
			     &w.rotate_ns, INT64_C(1000000000), 366 * DAY_NS),
		OPTION_RANGE("older", 0, "N", "older files that stay (default 7)", OPT_U64,
			     &w.older, 1, RECEIVE_ROTATED_MAX),
		OPTION("tls", 0, NULL, "permit only addresses with TLS: x-netlogs://", OPT_FLAG,
		       &w.needs_tls),
		OPTION("mainsm", 'm', "STRING",
		       "connection string, or @FILE that has it: the monitor that issues the "
		       "certificate for TLS",
		       OPT_STR, &w.mainsm),
		OPTION_RANGE("timeout", 't', "TIME", "for that certificate (default 5s)", OPT_NSEC,
			     &w.timeout_ns, CMD_TIMEOUT_MIN_NS, CMD_TIMEOUT_MAX_NS),
		OPTION_RANGE("for", 0, "TIME", "end after this time", OPT_NSEC, &w.for_ns,
			     INT64_C(1000000), 366 * DAY_NS),
		OPTION("json", 'j', NULL,
		       "an object with the addresses, then one each second, and one at the end",
		       OPT_FLAG, &w.json),
		OPTION("quiet", 'q', NULL, "no progress on the terminal", OPT_FLAG, &w.is_quiet),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig log receive",
		.usage = "--to WHERE [OPTION...] [URL...]",
		.summary = "receives events of programs in the net, and stores them",
		.details =
			"A URL is x-netlog://[HOST][:PORT] (TCP), x-netlogs://[HOST][:PORT] (TLS) or "
			"x-netlog-udp://[HOST][:PORT]; without one x-netlog://127.0.0.1:14830, or with "
			"--tls x-netlogs://127.0.0.1:14831. Port 0: any. It prints its addresses, serves "
			"until it is stopped, and then prints what it has received and lost. Any program "
			"that reaches an address may write events to it. By TLS it needs a certificate of "
			"the same monitor, as the omig command has.",
		.table = table,
	};
	char standard[] = "x-netlog://127.0.0.1", secure[] = "x-netlogs://127.0.0.1";
	char *only[] = { standard, NULL }, **all = argv + 1;
	int first, status = cmd_parse(&spec, argc, argv, &first);

	if (status >= 0)
		return status;
	if (!w.to)
		return cmd_usage(&spec, "receive needs --to");
	if (w.needs_tls)
		only[0] = secure;
	if (str_eq(w.to, DESTINATION_MONITOR) && !monitor_out_is_watched())
		return become_watched(all, &w);
	unsetenv(WATCHED_VARIABLE);
	w.urls = argv[first] ? argv + first : only;
	return receive(&w);
}
