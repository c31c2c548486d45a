/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/measure/baselines.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "common/container/map.h"
#include "common/loop/loop.h"
#include "common/store/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct store_kind file_kind = { .what = "baselines",
					     .version = 1,
					     .max_bytes = BASELINES_MAX_BYTES,
					     .ends_with_boot = true,
					     .is_expendable = true };

struct kept {
	struct base base;
	bool is_left; /* stored by an earlier lm, and not requested yet */
};

struct baselines {
	struct loop *loop;
	char *path, *boot; /* owned; path NULL: nothing is stored */
	struct store file;
	bool is_of_this_boot; /* boot of the file, while it is read */
	nsec_t left_until;
	struct smap all; /* key -> struct kept, owned */
	struct loop_job saving;
};

/* --- the file: the boot, then a line for each: value, open, is_cut, key */

#define KEY_AT 36

static uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static void put_line(struct buf *b, const char *key, const struct base *v)
{
	buf_printf(b, "%016llx %016llx %d %s\n", (unsigned long long)bits_of(v->value),
		   (unsigned long long)bits_of(v->open), v->is_cut, key);
}

/* Doubles are written as their bits: exact, in any locale. */
static bool read_double(const char *hex, double *out)
{
	char text[17], *end;
	uint64_t bits;

	memcpy(text, hex, 16);
	text[16] = 0;
	if (strspn(text, "0123456789abcdef") != 16)
		return false;
	bits = strtoull(text, &end, 16);
	memcpy(out, &bits, sizeof(*out));
	return isfinite(*out);
}

static int keep(struct baselines *b, const char *key, const struct base *v, bool is_left)
{
	struct kept *k = smap_find(&b->all, key);

	if (!k) {
		k = calloc(1, sizeof(*k));
		if (!k || smap_put(&b->all, key, k, NULL)) {
			free(k);
			return -ERR_NOMEM;
		}
	}
	*k = (struct kept){ *v, is_left };
	return 0;
}

static bool read_base(const char *line, struct base *v)
{
	v->is_cut = line[34] != '0';
	return line[16] == ' ' && line[33] == ' ' && line[35] == ' ' &&
	       read_double(line, &v->value) && read_double(line + 17, &v->open) && v->open >= 0;
}

static int read_line(void *arg, char *line, struct err *e)
{
	struct baselines *b = arg;
	size_t n = strlen(line);
	struct base v;

	if (n <= KEY_AT || n - KEY_AT >= BASELINES_KEY_BYTES || !read_base(line, &v))
		return err_set(e, ERR_PARSE, "not the line of a baseline");
	return keep(b, line + KEY_AT, &v, true) ? err_nomem(e) : 0;
}

static int read_next(void *arg, char *line, struct err *e)
{
	struct baselines *b = arg;

	if (b->is_of_this_boot)
		return read_line(b, line, e);
	b->is_of_this_boot = str_eq(line, b->boot);
	return b->is_of_this_boot ? 0 : err_set(e, ERR_NOTFOUND, "of another boot");
}

static void read_file(struct baselines *b)
{
	struct err e = { 0 };
	int rc = store_read_lines(&b->file, read_next, b, &e);

	if (rc && rc != -ERR_NOTFOUND)
		log_warn("lm", "baselines of counts are unknown: %s", e.text);
}

static void forget(struct baselines *b, const char *key)
{
	free(smap_del(&b->all, key));
}

static void write_all(struct baselines *b, struct buf *text)
{
	bool is_late = loop_now(b->loop) >= b->left_until;
	struct smap_iter i = { 0 };

	buf_printf(text, "%s\n", b->boot);
	while (smap_next(&b->all, &i)) {
		const struct kept *k = i.value;

		if (k->is_left && is_late)
			forget(b, i.key);
		else if (text->n + strlen(i.key) + KEY_AT + 1 < BASELINES_MAX_BYTES)
			put_line(text, i.key, &k->base);
	}
}

static void save(void *arg)
{
	struct baselines *b = arg;
	struct buf text = BUF_INIT(BASELINES_MAX_BYTES);
	struct err e = { 0 };
	int rc;

	write_all(b, &text);
	rc = b->all.n ? store_write(&b->file, &text, &e) : store_remove(&b->file, &e);
	buf_done(&text);
	if (rc)
		log_warn("lm", "baselines of counts are not stored: %s", e.text);
}

static void save_soon(struct baselines *b)
{
	if (b->path)
		loop_job_post(b->loop, &b->saving, save, b);
}

/* --- life */

struct baselines *baselines_open(const struct baselines_conf *c)
{
	struct baselines *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->loop = c->loop;
	b->left_until = loop_now(c->loop) + c->keep;
	smap_init(&b->all);
	b->boot = str_dup(c->boot);
	b->path = c->path ? str_dup(c->path) : NULL;
	if (!b->boot || (c->path && !b->path)) {
		baselines_close(b);
		return NULL;
	}
	b->file = STORE_INIT(&file_kind, c->disk, b->path);
	if (b->path)
		read_file(b);
	return b;
}

void baselines_cut(struct baselines *b)
{
	struct smap_iter i = { 0 };

	while (smap_next(&b->all, &i))
		((struct kept *)i.value)->base.is_cut = true;
	if (b->path && b->all.n)
		save(b);
}

void baselines_close(struct baselines *b)
{
	struct smap_iter i = { 0 };

	if (!b)
		return;
	loop_job_cancel(&b->saving);
	while (smap_next(&b->all, &i))
		free(i.value);
	smap_done(&b->all);
	free(b->path);
	free(b->boot);
	free(b);
}

bool baselines_take(struct baselines *b, const char *key, struct base *out)
{
	struct kept *k = smap_find(&b->all, key);

	if (!k || !k->is_left)
		return false;
	k->is_left = false;
	*out = k->base;
	return true;
}

void baselines_put(struct baselines *b, const char *key, const struct base *v)
{
	if (!b->path || !isfinite(v->value) || !isfinite(v->open) ||
	    strlen(key) >= BASELINES_KEY_BYTES)
		return;
	if (!keep(b, key, v, false))
		save_soon(b);
}

void baselines_drop(struct baselines *b, const char *prefix)
{
	struct smap_iter i = { 0 };
	size_t n = strlen(prefix);
	bool any = false;

	while (smap_next(&b->all, &i)) {
		if (strncmp(i.key, prefix, n))
			continue;
		forget(b, i.key);
		any = true;
	}
	if (any)
		save_soon(b);
}
