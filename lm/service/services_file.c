/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the node that its user permits tools to read. */
#include "lm/service/families.h"

#include "common/base/buf.h"
#include "common/base/limits.h"
#include "lm/host/filelist.h"
#include "lm/service/look.h"

#include <string.h>

/*
 * length 0: everything after the offset. One byte more than the maximum is requested, to detect
 * excess.
 */
static int fill(struct service_call *c, struct tracer_msg *m, void **take, struct err *e)
{
	const struct file_reader *of = c->of;
	int64_t offset = call_int(c, 2), length = call_int(c, 3);
	const char *path = call_text(c, 1);

	if (offset < 0 || length < 0 || length > FILE_LISTING_MAX_BYTES ||
	    offset > INT64_MAX - FILE_LISTING_MAX_BYTES - 1)
		return err_set(e, ERR_INVALID, "offset is at least 0, length 0 to %d",
			       FILE_LISTING_MAX_BYTES);
	if (!filelist_has(of->files, path))
		return err_set(e, ERR_DENIED, "%.60s is not one of the 'files' of this lm.conf",
			       path);
	m->type = TRACER_FILE;
	m->nvalue = 2;
	m->value[0] = (uint64_t)offset;
	m->value[1] = (uint64_t)(length ? length : FILE_LISTING_MAX_BYTES + 1);
	m->text[m->ntext++] = path;
	return 0;
}

/* A 0 inside would end a string. */
static void write_text(struct omis_writer *w, const struct buf *text)
{
	if (text->n && memchr(text->p, 0, text->n))
		omis_write_binary(w, text->p, text->n);
	else
		omis_write_string_n(w, text->p, text->n);
}

static int add(struct service_call *c, const struct looked *o)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);
	struct err e = { 0 };
	int rc;

	if (o->bytes.n > FILE_LISTING_MAX_BYTES) {
		rc = err_set(&e, ERR_LIMIT,
			     "the rest of %.60s is longer than %d bytes: ask for parts",
			     call_text(c, 1), FILE_LISTING_MAX_BYTES);
		return call_add_failure(c, o->token.s, rc, &e);
	}
	write_text(&w, &o->bytes);
	return call_add_values(c, o->token.s, &b);
}

static int serve_file_listing(struct service_call *c)
{
	static const struct look_spec spec = {
		.class = 'n', .max_bytes = FILE_LISTING_MAX_BYTES + 1, .fill = fill, .add = add
	};

	const struct file_reader *of = c->of;

	return look_serve(c, &of->on, &spec);
}

const struct service file_services[] = {
	{ "node_get_file_listing", serve_file_listing },
	{ NULL, NULL },
};
