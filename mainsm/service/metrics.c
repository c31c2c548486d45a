/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics that users have added, as services. */
#include "mainsm/registry/registry.h"
#include "mainsm/service/service.h"

#define WHY_MAX_BYTES (32 * 1024) /* twenty diagnoses with the lines that they are about */

static int refuse(struct service_call *c, int rc, struct buf *why)
{
	unsigned status = rc == -ERR_NOTFOUND ? STATUS_UNKNOWN_OBJECT : status_from_err(rc);

	rc = why->n ? reply_add_n(c->into, c->action, NULL, status, buf_bytes(why))
		    : reply_add(c->into, c->action, NULL, status, err_name(rc));
	buf_done(why);
	return rc;
}

static int add(struct service_call *c)
{
	const struct registry_text t = { service_text(c, 0), service_text(c, 1) };
	struct buf why = BUF_INIT(WHY_MAX_BYTES), b = BUF_INIT(1024);
	struct omis_writer w = OMIS_WRITER(&b);
	uint32_t version = 0;
	int rc =
		registry_add(c->services->conf.registry, c->session->principal, &t, &version, &why);

	if (rc)
		return refuse(c, rc, &why);
	buf_done(&why);
	omis_write_string(&w, t.name);
	omis_write_int(&w, version);
	return service_value(c, NULL, &b);
}

static int drop(struct service_call *c)
{
	struct buf why = BUF_INIT(WHY_MAX_BYTES);
	int rc = registry_remove(c->services->conf.registry, c->session->principal,
				 service_text(c, 0), &why);

	if (rc)
		return refuse(c, rc, &why);
	buf_done(&why);
	return reply_add(c->into, c->action, NULL, STATUS_OK, NULL);
}

static int list(struct service_call *c)
{
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);

	registry_write(c->services->conf.registry, c->session->principal, &w);
	return service_value(c, NULL, &b);
}

static int get(struct service_call *c)
{
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	struct registry_found found;

	if (!registry_find(c->services->conf.registry, c->session->principal, service_text(c, 0),
			   &found)) {
		buf_printf(&b, "there is no text or metric %.64s", service_text(c, 0));
		return refuse(c, -ERR_NOTFOUND, &b);
	}
	omis_write_string(&w, found.name);
	omis_write_int(&w, found.version);
	omis_write_string(&w, found.text);
	return service_value(c, NULL, &b);
}

const struct service mainsm_metrics_services[] = {
	{ "omig_metrics_add", add },
	{ "omig_metrics_get", get },
	{ "omig_metrics_list", list },
	{ "omig_metrics_remove", drop },
	{ 0 },
};
