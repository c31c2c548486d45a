/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the node that its user lets tools see. */
#include "lm/services.h"

#include "common/base/buf.h"
#include "common/base/limits.h"
#include "lm/filelist.h"

#include <string.h>

/* A 0 inside would end a string. */
static int add_text(struct service_call *c, const struct object *node, const struct buf *text)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);
	int rc;

	if (text->n && memchr(text->p, 0, text->n))
		omis_write_binary(&w, text->p, text->n);
	else
		omis_write_string_n(&w, text->p, text->n);
	rc = b.failed ? -ERR_NOMEM
		      : reply_add_n(c->reply, c->action, node->token, STATUS_OK, b.p, b.n);
	buf_done(&b);
	return rc;
}

/* length 0: all that is behind the offset, and one byte more than may be told is too much. */
static int read_file(struct service_call *c, struct buf *out, struct err *e)
{
	int64_t offset = call_int(c, 2), length = call_int(c, 3);
	struct host_file f = { .path = call_text(c, 1), .offset = offset };
	int rc;

	if (offset < 0 || length < 0 || length > FILE_LISTING_MAX_BYTES ||
	    offset > INT64_MAX - FILE_LISTING_MAX_BYTES - 1)
		return err_set(e, ERR_INVALID, "offset is at least 0, length 0 to %d",
			       FILE_LISTING_MAX_BYTES);
	if (!filelist_has(c->env->files, f.path))
		return err_set(e, ERR_DENIED, "%.60s is not one of the 'files' of this lm.conf",
			       f.path);
	f.max = length ? (size_t)length : FILE_LISTING_MAX_BYTES + 1;
	rc = host_file(c->env->host, &f, out, e);
	if (rc == 0 && out->n > FILE_LISTING_MAX_BYTES)
		return err_set(e, ERR_LIMIT,
			       "the rest of %.60s is longer than %d bytes: ask for parts", f.path,
			       FILE_LISTING_MAX_BYTES);
	return rc;
}

int serve_file_listing(struct service_call *c)
{
	struct buf text = BUF_INIT(FILE_LISTING_MAX_BYTES + 1);
	struct objects o = { 0 };
	struct err e = { 0 };
	int rc;

	rc = objects_expand(c->env->procs, &c->call->param[0], 'n', &o, c->reply, c->action);
	if (rc == 0 && o.n) {
		rc = read_file(c, &text, &e);
		rc = rc < 0 ? call_add_failure(c, o.v[0].token, rc, &e)
			    : add_text(c, &o.v[0], &text);
	}
	reply_add_time(c->reply, call_now(c), call_now(c));
	buf_done(&text);
	objects_done(&o);
	return rc;
}
