/* SPDX-License-Identifier: Apache-2.0 */
/* omig doctor: finds problems of the host and the monitor, and prints remedies. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/cmd/doctor.h"
#include "tools/launch/launch.h"
#include "tools/view/health.h"
#include "tools/session/session.h"
#include "tools/session/show.h"

#include <stdio.h>
#include <stdlib.h>

static const char *state_name(enum doctor_state s)
{
	static const char *const names[] = { "ok", "note", "FAIL" };

	return names[s];
}

static void show_text(const struct term *t, const struct doctor *d)
{
	static const enum term_paint paint[] = { TERM_GREEN, TERM_YELLOW, TERM_RED };
	char safe[1024];

	for (size_t i = 0; i < d->n; i++) {
		const struct doctor_finding *f = &d->finding[i];

		printf("%s%-5s%s %-12s %s\n", term_paint(t, paint[f->state]), state_name(f->state),
		       term_paint(t, TERM_PLAIN), f->check, str_show(safe, sizeof(safe), f->text));
		if (f->remedy)
			printf("%18s -> %s\n", "", f->remedy);
	}
}

static void show_json(const struct doctor *d)
{
	struct show_doc doc;
	struct json *j = show_doc_open(&doc);

	json_array(j);
	for (size_t i = 0; i < d->n; i++) {
		json_object(j);
		json_key_str(j, "check", d->finding[i].check);
		json_key_str(j, "state", state_name(d->finding[i].state));
		json_key_str(j, "text", d->finding[i].text);
		json_key_str(j, "remedy", d->finding[i].remedy);
		json_object_end(j);
	}
	json_array_end(j);
	show_doc_close(&doc);
}

/* --- the running monitor */

#define NOTES_MAX 8 /* per daemon */

static void check_daemon(struct doctor *d, const Omis_object_result *o)
{
	Omis_value *v = o->result ? omis_value_parse(o->result, o->result_len) : NULL;
	struct health_note note[NOTES_MAX];
	size_t n;

	if (!v)
		return;
	n = health_notes(v, (double)clock_wall() / 1e9, omis_library_version(), note, NOTES_MAX);
	for (size_t i = 0; i < n && i < NOTES_MAX; i++)
		doctor_add(d, "daemon", DOCTOR_NOTE, note[i].remedy, "%s%s%s: %s", value_text(v, 0),
			   o->obj_list[0] ? " " : "", o->obj_list, note[i].text);
	if (n == 0)
		doctor_add(d, "daemon", DOCTOR_OK, NULL, "%s%s%s, version %s", value_text(v, 0),
			   o->obj_list[0] ? " " : "", o->obj_list, value_text(v, 1));
	omis_value_free(v);
}

static void check_daemons(struct doctor *d)
{
	char text[] = ":site_attach([]) node_attach([]) omig_status()";
	Omis_coverage c;
	Omis_reply r = omis_request(text, NULL, NULL, 0);

	for (Omis_service_result s = r && r[0] && r[1] && r[2] && r[3] ? r[3] : NULL;
	     s && s->obj_list; s++)
		check_daemon(d, s);
	omis_reply_coverage(r, &c);
	if (c.answered < c.asked)
		doctor_add(d, "daemon", DOCTOR_NOTE, "omig tree shows which; look at these hosts",
			   "%u of %u daemons answered", c.answered, c.asked);
	omis_reply_free(r);
}

/*
 * The environment may have the string of a job. Tools then use the user's own mainsm, and programs
 * that of the string.
 */
static void check_environment(struct doctor *d, const struct cmd_common *c)
{
	struct launch l = { .mainsm = c->mainsm };
	struct err e = { 0 };

	if (launch_find_mainsm(&l, &e))
		doctor_add(d, "mainsm", DOCTOR_FAIL,
			   "unset OMIG_MAINSM: a program that starts with it is not watched", "%s",
			   e.text);
}

static void check_mainsm(struct doctor *d, const struct cmd_common *c)
{
	char name[] = "omig", o1[] = "--omis-mainsm";
	char *string = c->mainsm ? str_dup(c->mainsm) : NULL;
	char *words[] = { name, o1, string, NULL }, **argv = words;
	int argc = 3;
	bool is_given = string || (getenv("OMIG_MAINSM") && *getenv("OMIG_MAINSM"));
	Omis_status s =
		string ? omis_init(&argc, &argv, NULL, NULL) : omis_init(NULL, NULL, NULL, NULL);

	free(string);
	if (s == OMIS_OK) {
		doctor_add(d, "mainsm", DOCTOR_OK, NULL, "answers");
		check_daemons(d);
		omis_finalize();
		if (is_given)
			check_environment(d, c);
	} else if (s == OMIS_NO_PERMISSION) {
		doctor_add(d, "mainsm", DOCTOR_FAIL,
			   is_given ? "ask its owner for a new string: omig cert token"
				    : "mend what it names",
			   "%s", omis_last_error());
	} else {
		doctor_add(d, "mainsm", is_given ? DOCTOR_FAIL : DOCTOR_NOTE,
			   is_given ? "unset OMIG_MAINSM (or omit --mainsm) to use your own, "
				      "or get a string: omig env"
				    : "omig run starts one when it is needed; or start: mainsm",
			   "%s", omis_last_error());
	}
}

/* Checks the lm of this host, which need not be connected to a mainsm. */
static void check_build(struct doctor *d, const struct cmd_common *c)
{
	struct launch l = { .mainsm = c->mainsm };
	struct err e = { 0 };

	if (launch_find_mainsm(&l, &e))
		return; /* reported by check_mainsm() */
	if (launch_check_lm(&l, &e))
		doctor_add(d, "build", DOCTOR_FAIL,
			   "until then no program that starts here is watched", "%s", e.text);
	else
		doctor_add(d, "build", DOCTOR_OK, NULL,
			   "no lm of this host has another segment version than libomig");
}

int cmd_doctor(int argc, char **argv)
{
	struct cmd_common c = CMD_COMMON_INIT;
	const struct opt table[] = { CMD_OPTIONS(&c), { 0 } };
	const struct opt_spec spec = {
		.program = "omig doctor",
		.usage = "[OPTION...]",
		.summary =
			"finds problems of this host and of the running monitor, and prints remedies",
		.details = "Exit status 1 if a problem must be repaired; notes are not a failure.",
		.table = table,
	};
	struct doctor d = { .n = 0 };
	struct term t;
	int exit_status = cmd_parse(&spec, argc, argv, NULL);

	if (exit_status >= 0)
		return exit_status;
	term_open(&t, c.color);
	doctor_check_host(&d);
	check_build(&d, &c);
	check_mainsm(&d, &c);
	if (c.json)
		show_json(&d);
	else
		show_text(&t, &d);
	for (size_t i = 0; i < d.n; i++)
		if (d.finding[i].state == DOCTOR_FAIL)
			return CMD_FAILURE;
	return CMD_OK;
}
