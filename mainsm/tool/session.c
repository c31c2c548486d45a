/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/tool/session.h"

#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/link/link.h"
#include "tree/refusal.h"
#include "tree/wire.h"

#include <stdlib.h>

static struct session *make(uint32_t number, enum omis_right right, const struct directory *d,
			    const struct branches *c)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->number = number;
	s->right = right;
	s->scope = scope_new();
	s->pas = pa_set_new();
	smap_init(&s->events);
	smap_init(&s->csrs);
	smap_init(&s->measures);
	list_init(&s->runs);
	list_init(&s->in_sessions);
	list_init(&s->in_share);
	s->view = (struct tool_view){ d, c, s->scope, s->pas, &s->csrs, &s->events, &s->measures };
	if (s->scope && s->pas)
		return s;
	session_free(s);
	return NULL;
}

struct session *session_new(uint32_t number, struct link *link, const struct identity *id,
			    const struct directory *d, const struct branches *c)
{
	struct session *s = make(number, route_right_of_role(role_name(id->role)), d, c);

	if (!s)
		return NULL;
	s->link = link;
	s->id = *id;
	s->id.token[0] = 0;
	identity_principal(s->principal, id);
	if (!identity_to_uri(s->identity, &s->id, NULL))
		return s;
	session_free(s);
	return NULL;
}

struct session *session_twin(uint32_t number, const struct session *of, const struct directory *d,
			     const struct branches *c)
{
	struct session *s = make(number, of->right, d, c);

	if (!s)
		return NULL;
	str_copy(s->identity, sizeof(s->identity), of->identity);
	str_copy(s->principal, sizeof(s->principal), of->principal);
	s->id = of->id;
	return s;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	list_del(&s->in_sessions);
	scope_free(s->scope);
	pa_set_free(s->pas);
	smap_done(&s->events);
	smap_done(&s->csrs);
	smap_done(&s->measures);
	free(s);
}

int session_reply(struct session *s, const struct reply *r)
{
	struct buf b = BUF_INIT(TOOL_QUEUE_MAX_BYTES);
	int rc;

	if (!s->link && s->on_reply)
		s->on_reply(s->on_reply_arg, r);
	if (!s->link)
		return -ERR_CLOSED;
	rc = wire_put_reply(&b, r);
	if (!rc)
		rc = link_send_frames(s->link, b.p, b.n);
	buf_done(&b);
	if (rc == -ERR_AGAIN || rc == -ERR_LIMIT) {
		log_warn("session", "tool %u does not read its replies and is cut", s->number);
		link_fail(s->link, MSG_ERR_SLOW,
			  "you do not read: more replies wait for you than are kept for one tool");
	}
	return rc;
}

void session_reply_error(struct session *s, uint64_t id, unsigned status, const char *text)
{
	struct reply *r = refusal_reply(id, status, text);

	if (r)
		session_reply(s, r);
	reply_free(r);
}
