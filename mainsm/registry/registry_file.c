/* SPDX-License-Identifier: Apache-2.0 */
/* The file of the registry: a line of values for each text. */
#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "mainsm/registry/registry_internal.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES (2 * REGISTRY_MAX_BYTES) /* texts with their escapes */

static const struct store_kind kind = {
	.what = "metrics", .version = 1, .max_bytes = FILE_MAX_BYTES, .is_expendable = true
};

enum field { PRINCIPAL, NAME, VERSION, ADDED, TEXT, FIELDS };

static int take_fields(struct registry *r, const struct omis_values *v, struct err *e)
{
	const struct registry_text t = { omis_values_text(v, NAME), omis_values_text(v, TEXT) };
	const char *principal = omis_values_text(v, PRINCIPAL);
	int64_t version, added;
	struct registered *x;

	if (v->n != FIELDS || !principal || !t.name || !t.text ||
	    !omis_values_i64(v, VERSION, &version) || !omis_values_i64(v, ADDED, &added) ||
	    version < 1 || version > UINT32_MAX || r->n == REGISTRY_TEXTS_MAX)
		return err_set(e, ERR_PARSE, "this is not text of metrics");
	x = registered_new(principal, &t);
	if (!x || registered_note_metrics(x)) {
		registered_free(x);
		return err_nomem(e);
	}
	x->version = (uint32_t)version;
	x->added = added;
	list_push_back(&r->all, &x->link);
	r->n++;
	r->bytes += strlen(x->text);
	return 0;
}

static int take_line(void *arg, char *line, struct err *e)
{
	struct omis_values *v = NULL;
	int rc = omis_parse_values(line, strlen(line), &v, e);

	if (!rc)
		rc = take_fields(arg, v, e);
	omis_values_free(v);
	return rc;
}

int registry_load(struct registry *r, struct err *e)
{
	char path[FILE_PATH_BYTES];
	int rc;

	if (!r->conf.dir)
		return 0;
	rc = file_join(path, sizeof(path), r->conf.dir, "metrics", e);
	if (rc)
		return rc;
	r->path = str_dup(path);
	if (!r->path)
		return err_nomem(e);
	r->store = STORE_INIT(&kind, r->conf.disk, r->path);
	return store_read_lines(&r->store, take_line, r, e);
}

int registry_save(struct registry *r, struct err *e)
{
	struct buf b = BUF_INIT(FILE_MAX_BYTES);
	int rc;

	if (!r->path)
		return 0;
	list_each (i, &r->all) {
		const struct registered *x = list_entry(i, struct registered, link);
		struct omis_writer w = OMIS_WRITER(&b);

		if (str_eq(x->principal, PLUGGED_PRINCIPAL))
			continue;
		omis_write_string(&w, x->principal);
		omis_write_string(&w, x->name);
		OMIS_WRITE_INTS(&w, x->version, x->added);
		omis_write_string(&w, x->text);
		buf_putc(&b, '\n');
	}
	rc = store_write(&r->store, &b, e);
	buf_done(&b);
	return rc;
}
