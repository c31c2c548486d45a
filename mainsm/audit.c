/* SPDX-License-Identifier: Apache-2.0 */
/* Records the final decisions of mainsm: its own services, and its refusals. */
#include "common/audit/audit.h"

#include "common/base/file.h"
#include "common/base/str.h"
#include "common/net/net.h"
#include "mainsm/mainsm_internal.h"

int mainsm_audit_open(struct mainsm *m, struct err *e)
{
	const struct identity *self = net_ctx_self(m->conf.ctx);
	struct audit_conf c = { .daemon = "mainsm",
				.disk = m->conf.disk,
				.host = self ? self->host : "",
				.on_trouble = audit_log_trouble,
				.arg = (void *)(uintptr_t) "manipulations" };
	char path[FILE_PATH_BYTES];
	int rc;

	if (!m->conf.state_dir)
		return 0;
	rc = file_join(path, sizeof(path), m->conf.state_dir, "audit", e);
	if (rc)
		return rc;
	c.path = path;
	return audit_open(&c, &m->audit) ? err_nomem(e) : 0;
}

static void note_refused(struct mainsm *m, const struct session *s, const struct omis_call *call)
{
	if (route_may_call(s->right, call))
		return;
	audit_note(m->audit, &(struct audit_entry){ .identity = s->identity,
						    .session = s->number,
						    .call = call,
						    .wall = m->conf.wall_now(m->conf.arg) });
}

void mainsm_audit_refused(struct mainsm *m, const struct session *s, const struct omis_request *r)
{
	if (r->event)
		note_refused(m, s, r->event);
	for (size_t i = 0; i < r->naction; i++)
		note_refused(m, s, &r->action[i]);
}
