/* SPDX-License-Identifier: Apache-2.0 */
/* omig site: connects a user's mainsm to the sm that the admin of a site runs for many users. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/session/site.h"

#include <stdio.h>
#include <string.h>

#define TOKEN_S 600 /* for the sm, once: it is used at once */
#define JOIN_NS (20 * NSEC_PER_SEC) /* the sm tries all addresses of the mainsm */

/* Requests a token of the user's mainsm with which an sm enrols once. */
static int ask_token(const struct cmd_common *c, char *out)
{
	Omis_value *v = NULL;
	int rc = session_open(c);

	if (rc != CMD_OK)
		return rc;
	rc = session_ask_value(&v, ":omig_cert_token(\"sm\",0,1,\"\",%d)", TOKEN_S);
	if (rc == CMD_OK && !str_copy(out, SITE_STRING_BYTES, value_text(v, 0)))
		rc = cmd_fail(CMD_FAILURE, "the connection string is too long");
	omis_value_free(v);
	session_close();
	return rc;
}

static int show(const struct cmd_common *c, const Omis_value *v)
{
	struct buf b = BUF_INIT(SHOW_MAX_BYTES);
	struct json j;
	bool ok = true;

	if (c->json) {
		json_init(&j, &b);
		json_object(&j);
		json_key_str(&j, "site", value_text(v, 0));
		json_key_i64(&j, "port", value_int(v, 1));
		json_object_end(&j);
		ok = show_json_line(&j, &b);
	} else {
		printf("joined site ");
		term_put_safe(stdout, value_text(v, 0), strlen(value_text(v, 0)));
		printf(": hosts of that site go to port %lld\n", (long long)value_int(v, 1));
	}
	buf_done(&b);
	return ok ? CMD_OK : CMD_FAILURE;
}

static int hand_over(const struct cmd_common *c, const char *site, const char *ours)
{
	struct cmd_common there = *c;
	Omis_value *v = NULL;
	int rc;

	there.mainsm = site;
	rc = session_open(&there);
	if (rc != CMD_OK)
		return rc;
	rc = session_ask_value(&v, ":omig_site_join(\"%s\")", ours);
	if (rc == CMD_OK)
		rc = show(c, v);
	omis_value_free(v);
	session_close();
	return rc;
}

static int join(const struct cmd_common *c, const char *given)
{
	char site[SITE_STRING_BYTES], ours[SITE_STRING_BYTES];
	int rc = site_string(given, site);

	if (rc == CMD_OK)
		rc = ask_token(c, ours);
	if (rc == CMD_OK)
		rc = hand_over(c, site, ours);
	str_wipe(site, sizeof(site));
	str_wipe(ours, sizeof(ours));
	return rc;
}

int cmd_site(int argc, char **argv)
{
	struct cmd_common c = CMD_COMMON_INIT;
	const struct opt table[] = { CMD_OPTIONS(&c), { 0 } };
	const struct opt_spec spec = {
		.program = "omig site",
		.verbs = "join",
		.usage = "[OPTION...] join SITE",
		.summary =
			"makes the sm that a site's admin runs for many the sm of your mainsm there",
		.details =
			"SITE is the connection string that the admin publishes, or a file that has it. Your mainsm\n"
			"issues that sm a certificate for its site; 'omig cert revoke' revokes it. The sm connects\n"
			"again automatically when either is restarted; set 'launcher = shared' for the site.",
		.table = table,
	};
	int first, status;

	c.timeout_ns = JOIN_NS;
	status = cmd_parse(&spec, argc, argv, &first);
	if (status >= 0)
		return status;
	if (first == argc || !str_eq(argv[first], "join"))
		return cmd_usage_verb(&spec, first < argc ? argv[first] : NULL);
	if (argc - first != 2)
		return cmd_usage(
			&spec,
			"join: give the connection string of the site, or a file that has it");
	return join(&c, argv[first + 1]);
}
