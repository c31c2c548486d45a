/* SPDX-License-Identifier: Apache-2.0 */
/* The audit of this host: its file, and the rights of requests that read it. */
#include "common/audit/audit.h"
#include "lm/lm_internal.h"
#include "lm/service/families.h"

int lm_audit_open(struct lm *m, struct err *e)
{
	const struct audit_conf c = { .path = m->conf.audit,
				      .disk = m->conf.disk,
				      .daemon = "lm",
				      .host = m->host_name,
				      .on_trouble = audit_log_trouble,
				      .arg = (void *)(uintptr_t) "manipulations" };

	return !m->conf.audit || !audit_open(&c, &m->audit) ? 0 : err_nomem(e);
}

static int serve_audit(struct service_call *c)
{
	const char *node = procs_node_token(c->procs);
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	int rc;

	if (!call_is_for_us(c))
		return 0;
	if (!c->of)
		return reply_add_error(c->reply, c->action, node, STATUS_UNSUPPORTED_SERVICE,
				       "no audit is kept here");
	rc = audit_read(c->of, call_int(c, 1), call_int(c, 2), &b);
	if (!rc)
		rc = reply_add_n(c->reply, c->action, node, STATUS_OK, buf_bytes(&b));
	buf_done(&b);
	return rc;
}

const struct service audit_services[] = {
	{ "omig_audit", serve_audit },
	{ NULL, NULL },
};
