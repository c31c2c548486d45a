/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of metrics as services: checks, and those that users have added. */
#include "mainsm/registry/registry.h"
#include "mainsm/service/service.h"

#include <stdlib.h>
#include <string.h>

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

/* --- checks */

static void write_diag(struct omis_writer *w, const struct pmsl_source *s,
		       const struct pmsl_diag *d)
{
	bool is_placed = d->at != PMSL_NOWHERE;
	struct pmsl_place at = is_placed ? pmsl_source_place(s, d->at) : (struct pmsl_place){ 0 };

	omis_write_list(w);
	omis_write_string(w, d->is_warning ? "warning" : "error");
	omis_write_int(w, is_placed ? (int64_t)d->at : -1);
	omis_write_int(w, is_placed ? (int64_t)d->len : 0);
	omis_write_int(w, at.line);
	omis_write_int(w, at.col);
	omis_write_string(w, d->text);
	omis_write_string(w, d->hint);
	omis_write_list_end(w);
}

static void write_metric(struct omis_writer *w, const struct pmsl *p, const struct pmsl_metric *m)
{
	char unit[PMSL_UNIT_TEXT_BYTES], type[PMSL_TYPE_BYTES];

	omis_write_list(w);
	omis_write_string(w, m->name);
	omis_write_string(w, pmsl_unit_text(pmsl_units(p), m->unit, unit));
	omis_write_list(w);
	for (const struct pmsl_decl *d = m->param; d; d = d->next) {
		omis_write_list(w);
		omis_write_string(w, d->name);
		omis_write_string(w, pmsl_type_name(d->type, type));
		omis_write_list_end(w);
	}
	omis_write_list_end(w);
	omis_write_list_end(w);
}

static void write_check(struct omis_writer *w, const struct pmsl *p, const struct pmsl_diags *d)
{
	struct pmsl_diags others = PMSL_DIAGS_INIT;

	omis_write_list(w);
	for (size_t i = 0; i < d->n; i++)
		write_diag(w, pmsl_source(p), &d->v[i]);
	omis_write_list_end(w);
	omis_write_list(w);
	for (const struct pmsl_metric *m = pmsl_tree(p)->metric; m; m = m->next)
		if (pmsl_metric(p, m->name, &others))
			write_metric(w, p, m);
	omis_write_list_end(w);
}

static int check(struct service_call *c)
{
	const char *text = service_text(c, 0);
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct pmsl_library library = { 0 };
	struct pmsl *p = NULL;
	int rc =
		registry_library(c->services->conf.registry, c->session->principal, text, &library);

	if (!rc)
		rc = pmsl_compile_with(&library,
				       &(struct pmsl_source){ "text", text, strlen(text) }, &d, &p);
	free(library.v);
	if (rc)
		return refuse(c, rc, &b);
	write_check(&w, p, &d);
	pmsl_free(p);
	return service_value(c, NULL, &b);
}

const struct service mainsm_metrics_services[] = {
	{ "dfg_check", check },	       { "omig_metrics_add", add },	{ "omig_metrics_get", get },
	{ "omig_metrics_list", list }, { "omig_metrics_remove", drop }, { 0 },
};
