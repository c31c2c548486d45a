/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a connection string that programs inherit.
 *
 * Root can read their environment on each of their hosts. The environment is also in cores, logs
 * and records of batch systems. Therefore the token in it admits only lms of this job.
 */
#include "common/base/str.h"
#include "common/link/connstr.h"
#include "common/omis/text/value.h"
#include "tools/launch/launch.h"
#include "tools/libomis/omis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX_MS 1500

static void set_conn(struct launch *l, const struct connstr *c, bool with_token)
{
	struct buf b = BUF_INIT(LAUNCH_CONN_BYTES - 1);

	if (!connstr_print(c, with_token, &b))
		str_copy(l->conn, sizeof(l->conn), buf_str(&b));
	if (b.p)
		str_wipe(b.p, b.n);
	buf_done(&b);
}

void launch_drop_token(struct launch *l)
{
	struct connstr c;

	if (!connstr_parse(l->conn, &c, NULL))
		set_conn(l, &c, false);
	str_wipe(&c, sizeof(c));
}

/* --- asking for one */

static const char *site_of(const struct launch *l)
{
	const char *site = l->site ? l->site : getenv("OMIG_SITE");

	return site ? site : "";
}

static int make_request(const struct launch *l, struct buf *b)
{
	struct omis_writer w = OMIS_WRITER(b);

	buf_puts(b, ":omig_job_token(");
	omis_write_string(&w, l->job_name);
	omis_write_string(&w, site_of(l));
	buf_puts(b, ")");
	return b->failed ? -ERR_NOMEM : 0;
}

/* Reports the text of the first entry that is an error. */
static int refused(Omis_reply r, struct err *e)
{
	for (size_t i = 0; r[i]; i++)
		for (Omis_service_result x = r[i]; x->obj_list; x++)
			if (x->status != OMIS_OK && x->result && x->result[0])
				return err_set(e, ERR_DENIED, "%s", x->result);
	return err_set(e, ERR_DENIED, "%s", omis_strerror(omis_reply_status(r)));
}

/* Takes the single value of the single action. */
static int take_answer(struct launch *l, Omis_reply r, struct err *e)
{
	bool has_value =
		omis_reply_status(r) == OMIS_OK && r[0] && r[1] && r[1]->obj_list && r[1]->result;
	Omis_value *v = has_value ? omis_value_parse(r[1]->result, r[1]->result_len) : NULL;
	const Omis_value *text = v && v->n == 1 ? &v->list[0] : NULL;
	struct connstr c = { .nhost = 0 };
	int rc;

	if (!has_value)
		return refused(r, e);
	if (!text || !text->s || connstr_parse(text->s, &c, NULL) || !connstr_is_for_lms(&c))
		rc = err_set(e, ERR_PROTO, "mainsm's answer cannot be read");
	else
		rc = str_copy(l->conn, sizeof(l->conn), text->s) ? 0 : -ERR_LIMIT;
	str_wipe(&c, sizeof(c));
	omis_value_free(v);
	return rc;
}

int launch_ask_token(struct launch *l, struct err *e)
{
	struct buf b = BUF_INIT(LAUNCH_CONN_BYTES);
	Omis_reply r =
		!make_request(l, &b) ? omis_request(b.p ? (char *)b.p : NULL, NULL, NULL, 0) : NULL;
	int rc = r ? take_answer(l, r, e) : err_nomem(e);

	omis_reply_free(r);
	buf_done(&b);
	return rc;
}

static int ask_again(struct launch *l, struct err *e)
{
	char name[] = "omig", o1[] = "--omis-mainsm", o2[] = "--omis-timeout", ms[16];
	char string[LAUNCH_CONN_BYTES];
	char *words[] = { name, o1, string, o2, ms, NULL }, **argv = words;
	int argc = 5, rc;

	snprintf(ms, sizeof(ms), "%d", ANSWER_MAX_MS);
	str_copy(string, sizeof(string), l->conn);
	if (omis_init(&argc, &argv, NULL, NULL) != OMIS_OK) {
		rc = err_set(e, ERR_DENIED, "%s", omis_last_error());
	} else {
		omis_request_policy(OMIS_WAIT_ALL, 0, ANSWER_MAX_MS);
		rc = launch_ask_token(l, e);
		omis_finalize();
	}
	str_wipe(string, sizeof(string));
	return rc;
}

/* --- choice of the string */

/*
 * True if the user's own mainsm.conn is here and belongs to that monitor: an lm of this host needs
 * nothing else.
 */
static bool is_own(const struct connstr *c)
{
	struct connstr own = { .nhost = 0 };
	char state[FILE_PATH_BYTES];
	bool is = !file_state_dir_find(state, NULL) && !connstr_own(state, c->pin, &own, NULL);

	str_wipe(&own, sizeof(own));
	return is;
}

/* Without a token, hosts without mainsm.conn are not watched; others are. */
static int do_without(struct launch *l, const struct err *why)
{
	launch_drop_token(l);
	if (!l->warning[0])
		snprintf(l->warning, sizeof(l->warning),
			 "only hosts that share this home directory are watched: %s", why->text);
	return 0;
}

int launch_take_token(struct launch *l, bool is_here, struct err *e)
{
	struct connstr c = { .nhost = 0 };
	struct err why = { .text = "mainsm is stopped" };
	bool is_good, is_ours;
	int rc = connstr_parse(l->conn, &c, e);

	is_good = !c.token_id[0] || connstr_is_for_lms(&c);
	is_ours = !rc && is_own(&c);
	str_wipe(&c, sizeof(c));
	if (rc || is_good)
		return rc;
	if (is_here && is_ours) {
		launch_drop_token(l);
		return 0;
	}
	rc = l->is_stopped ? -ERR_TIMEOUT : ask_again(l, &why);
	if (rc && is_ours)
		return do_without(l, &why);
	if (rc)
		return err_set(
			e, ERR_DENIED,
			"its token is a tool's, and mainsm makes none for programs of it: %s",
			why.text);
	return 0;
}
