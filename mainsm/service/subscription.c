/* SPDX-License-Identifier: Apache-2.0 */
/* Kept subscriptions, as services. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "mainsm/service/service.h"
#include "mainsm/subscription/subscription.h"

#include <string.h>

#define LEASE_DEFAULT_S 300 /* a tool that was killed is started again by then, or never */
#define LEASE_MIN_S 10
#define LEASE_MAX_S 86400
#define MB_DEFAULT 64
#define MB_MIN 2
#define MB_MAX 4096
#define SECONDS_MAX (366 * 24 * 3600)

static int read_policy(const struct omis_value *v, uint32_t *out)
{
	static const char *const names[] = { [MSG_KEEP_DROP_OLDEST] = "drop_oldest",
					     [MSG_KEEP_DROP_NEWEST] = "drop_newest",
					     [MSG_KEEP_STOP] = "stop" };
	const char *s = omis_value_text(v, NULL);

	for (uint32_t i = 0; s && i < ARRAY_LEN(names); i++)
		if (str_eq(s, names[i])) {
			*out = i;
			return 0;
		}
	return -ERR_INVALID;
}

static int read_number(const struct omis_value *v, int64_t least, int64_t most, int64_t *out)
{
	return !omis_value_i64(v, out) || *out < least || *out > most ? -ERR_INVALID : 0;
}

static int read_option(struct subscription_request *w, const char *key, const struct omis_value *v)
{
	int64_t n = 0;
	int rc;

	if (str_eq(key, "policy"))
		return read_policy(v, &w->policy);
	if (str_eq(key, "job")) {
		w->job = omis_value_text(v, NULL);
		return w->job ? 0 : -ERR_INVALID;
	}
	if (str_eq(key, "lease")) {
		rc = read_number(v, LEASE_MIN_S, LEASE_MAX_S, &n);
		w->lease_s = (uint32_t)n;
		return rc;
	}
	if (!str_eq(key, "mb"))
		return -ERR_INVALID;
	rc = read_number(v, MB_MIN, MB_MAX, &n);
	w->max_bytes = (uint64_t)n << 20;
	return rc;
}

static int read_options(struct service_call *c, struct subscription_request *w, struct err *e)
{
	struct service_list options = service_list(c, 4);

	*w = (struct subscription_request){ .name = service_text(c, 0),
					    .names = &c->call->param[1],
					    .where = service_text(c, 2),
					    .seconds = service_int(c, 3),
					    .job = "",
					    .lease_s = LEASE_DEFAULT_S,
					    .max_bytes = (uint64_t)MB_DEFAULT << 20 };
	if (w->seconds < 0 || w->seconds > SECONDS_MAX)
		return err_set(e, ERR_INVALID, "for how many seconds: 0 (no end) to a year");
	for (size_t i = 0; i < options.n; i += 2) {
		const char *key = omis_value_text(&options.v[i], NULL);

		if (!key || i + 1 == options.n || read_option(w, key, &options.v[i + 1]))
			return err_set(
				e, ERR_INVALID,
				"options are \"job\" a name, \"policy\" drop_oldest, drop_newest or stop, \"lease\" %d to %d "
				"seconds, \"mb\" %d to %d",
				LEASE_MIN_S, LEASE_MAX_S, MB_MIN, MB_MAX);
	}
	return 0;
}

static int refuse(struct service_call *c, int rc, const struct err *e)
{
	return reply_add_error(c->into, c->action, NULL,
			       rc == -ERR_NOTFOUND ? STATUS_UNKNOWN_OBJECT : status_from_err(rc),
			       "%s", e->text);
}

static int keep(struct service_call *c)
{
	struct buf b = BUF_INIT(256);
	struct omis_writer w = OMIS_WRITER(&b);
	struct subscription_request wanted;
	struct err e = { 0 };
	bool is_new = false;
	int rc = read_options(c, &wanted, &e);

	if (!rc)
		rc = subscriptions_keep(c->services->conf.subscriptions, c->session, &wanted,
					&is_new, &e);
	if (rc)
		return refuse(c, rc, &e);
	omis_write_string(&w, wanted.name);
	omis_write_int(&w, is_new);
	return service_value(c, NULL, &b);
}

static int unkeep(struct service_call *c)
{
	struct err e = { 0 };
	int rc = subscriptions_unkeep(c->services->conf.subscriptions, c->session,
				      service_text(c, 0), service_int(c, 1) != 0, &e);

	return rc ? refuse(c, rc, &e) : reply_add(c->into, c->action, NULL, STATUS_OK, NULL);
}

static int kept(struct service_call *c)
{
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);

	subscriptions_write(c->services->conf.subscriptions, c->session, &w);
	return service_value(c, NULL, &b);
}

const struct service mainsm_subscription_services[] = {
	{ "omig_events_keep", keep },
	{ "omig_events_kept", kept },
	{ "omig_events_unkeep", unkeep },
	{ 0 },
};
