/* SPDX-License-Identifier: Apache-2.0 */
/* omig status, omig stop, omig version: the monitor itself. */
#include "common/base/str.h"
#include "tools/session.h"
#include "tools/show.h"
#include "tools/table.h"

#include <stdio.h>

static void show_daemon(const struct term *t, const Omis_object_result *o)
{
	Omis_value *v = o->result ? omis_value_parse(o->result, o->result_len) : NULL;
	char up[TABLE_NUMBER_BYTES];
	const Omis_value *pair;
	size_t i;

	printf("%s", term_paint(t, TERM_BOLD));
	term_put_safe(stdout, value_text(v, 0), strlen(value_text(v, 0)));
	printf("%s ", term_paint(t, TERM_PLAIN));
	term_put_safe(stdout, o->obj_list, strlen(o->obj_list));
	printf("  version ");
	term_put_safe(stdout, value_text(v, 1), strlen(value_text(v, 1)));
	printf("  up %s\n", table_duration(up, value_float(v, 2) / 1e9));
	for (i = 3; (pair = value_at(v, i)); i++) {
		fputs("    ", stdout);
		term_put_safe(stdout, value_text(pair, 0), strlen(value_text(pair, 0)));
		if (value_at(pair, 1) && value_at(pair, 1)->s) {
			fputs(" = ", stdout);
			term_put_safe(stdout, value_text(pair, 1), strlen(value_text(pair, 1)));
			putchar('\n');
		} else {
			printf(" = %.12g\n", value_float(pair, 1));
		}
	}
	omis_value_free(v);
}

static void show_status(const struct term *t, Omis_reply r)
{
	Omis_service_result s;

	for (s = r[0] && r[1] ? r[1] : NULL; s && s->obj_list; s++) {
		if (s->status < OMIS_FIRST_ERROR && s->result)
			show_daemon(t, s);
		else if (s->status >= OMIS_FIRST_ERROR)
			printf("%s: %s\n", s->obj_list, omis_strerror(s->status));
	}
	show_missing(t, stdout, r);
}

static int status(const struct cmd_common *c)
{
	struct term t;
	Omis_reply r;
	int rc = session_open(c);

	if (rc != CMD_OK)
		return rc;
	rc = session_attach_all();
	if (rc == CMD_OK)
		rc = session_ask(&r, ":omig_status()");
	if (rc == CMD_OK) {
		term_open(&t, c->color);
		rc = session_exit_status(r);
		if (!c->json)
			show_status(&t, r);
		else if (!show_reply_json(r))
			rc = CMD_FAILURE;
		omis_reply_free(r);
	}
	session_close();
	return rc;
}

int cmd_status(int argc, char **argv)
{
	struct cmd_common c = CMD_COMMON_INIT;
	const struct opt table[] = { CMD_OPTIONS(&c), { 0 } };
	const struct opt_spec spec = {
		.program = "omig status",
		.usage = "[OPTION...]",
		.summary = "the health of the monitor's own daemons: versions, queues, drops, lag, certificates",
		.table = table,
	};
	int first, rc = cmd_parse(&spec, argc, argv, &first);

	if (rc >= 0)
		return rc;
	return first < argc ? opt_usage_error(&spec, "unexpected '%s'", argv[first]) : status(&c);
}

int cmd_stop(int argc, char **argv)
{
	struct cmd_common c = CMD_COMMON_INIT;
	const struct opt table[] = { CMD_OPTIONS(&c), { 0 } };
	const struct opt_spec spec = {
		.program = "omig stop",
		.usage = "[OPTION...]",
		.summary = "ends mainsm and all daemons below it; programs run on, unwatched",
		.table = table,
	};
	Omis_reply r;
	int first, rc = cmd_parse(&spec, argc, argv, &first);

	if (rc >= 0)
		return rc;
	if (first < argc)
		return opt_usage_error(&spec, "unexpected '%s'", argv[first]);
	rc = session_open(&c);
	if (rc != CMD_OK)
		return rc;
	rc = session_ask(&r, ":omig_shutdown()");
	omis_reply_free(r);
	session_close();
	return rc;
}

int cmd_version(int argc, char **argv)
{
	bool json = false;
	const struct opt table[] = {
		{ "json", 'j', NULL, "write JSON", OPT_FLAG, &json, 0, 0, NULL },
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig version",
		.usage = "[OPTION...]",
		.summary = "version and features of this omig",
		.table = table,
	};
	int first, rc = cmd_parse(&spec, argc, argv, &first);

	if (rc >= 0)
		return rc;
	if (json)
		printf("{\"name\":\"omig\",\"version\":\"%s\",\"omis\":\"2.0\",\"mpi\":[\"openmpi\",\"mpich\"]}\n",
		       omis_library_version());
	else
		printf("omig %s\nOMIS 2.0; TLS 1.3; Open MPI and MPICH by one library\n", omis_library_version());
	return CMD_OK;
}
