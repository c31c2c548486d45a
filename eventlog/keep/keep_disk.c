/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of stored subscriptions: each has a frame of events_open, beside the folder with its spool.
 */
#include "common/base/file.h"
#include "common/base/array.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "eventlog/keep/keep_internal.h"
#include "proto/frame.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SUB ".sub"

static int path_of(const struct keeps *ks, const char *name, const char *suffix,
		   char out[FILE_PATH_BYTES], struct err *e)
{
	int n = snprintf(out, FILE_PATH_BYTES, "%s/%s%s", ks->dir, name, suffix);

	return n < 0 || n >= FILE_PATH_BYTES
		       ? err_set(e, ERR_LIMIT, "the path %s is too long", ks->dir)
		       : 0;
}

int keep_path(const struct keep *k, const char *suffix, char out[FILE_PATH_BYTES], struct err *e)
{
	return path_of(k->owner, k->name, suffix, out, e);
}

const struct disk *keep_disk(const struct keep *k)
{
	return disk_or_system(k->owner->conf.disk);
}

int keep_store(const struct keep *k, const struct store_kind *kind, const char *suffix,
	       struct keep_file *out, struct err *e)
{
	out->store = STORE_INIT(kind, keep_disk(k), out->path);
	return keep_path(k, suffix, out->path, e);
}

static const struct store_kind sub_kind = { .what = "subscription",
					    .version = 1,
					    .max_bytes = FRAME_PREAUTH_MAX_BYTES };

int keep_save(const struct keep *k, struct err *e)
{
	const struct disk *d = keep_disk(k);
	struct buf b = BUF_INIT(FRAME_PREAUTH_MAX_BYTES);
	struct keep_file f;
	int rc = keep_store(k, &sub_kind, SUB, &f, e);

	if (!rc)
		rc = d->make_folder(d->arg, k->owner->dir, e);
	if (!rc && msg_events_open_put(&b, &k->request))
		rc = err_nomem(e);
	if (!rc)
		rc = store_write(&f.store, &b, e);
	buf_done(&b);
	return rc;
}

struct erasing {
	const struct disk *disk;
	const char *folder;
};

static void erase_file(void *arg, const char *name)
{
	const struct erasing *x = arg;
	char path[FILE_PATH_BYTES + 256];

	if (str_eq(name, ".") || str_eq(name, ".."))
		return;
	snprintf(path, sizeof(path), "%s/%.255s", x->folder, name);
	x->disk->remove(x->disk->arg, path);
}

/* Removes the files in a folder, which belong to the subscription. */
static void erase_folder(const struct disk *d, const char *path)
{
	struct erasing x = { d, path };
	int rc;

	d->list(d->arg, path, erase_file, &x);
	rc = d->remove(d->arg, path);
	if (rc && rc != -ENOENT)
		log_warn("keep", "cannot remove %s: %s", path, strerror(-rc));
}

/* Removes the file that names the owner last, so that the removal is repeated after a crash. */
void keep_erase(const struct keeps *ks, const char *name)
{
	static const char *const beside[] = { ".arm", ".rows", ".hosts", SUB };
	const struct disk *d = disk_or_system(ks->conf.disk);
	char path[FILE_PATH_BYTES];

	if (!path_of(ks, name, "", path, NULL))
		erase_folder(d, path);
	for (size_t i = 0; i < ARRAY_LEN(beside); i++)
		if (!path_of(ks, name, beside[i], path, NULL))
			d->remove(d->arg, path);
}

/* Derives the name of a subscription from that of its file. Returns false for other files. */
static bool name_of(const char *file, char name[LEDGER_NAME_BYTES])
{
	size_t n = strlen(file), suffix = sizeof(SUB) - 1;

	if (n <= suffix || n - suffix >= LEDGER_NAME_BYTES || strcmp(file + n - suffix, SUB) != 0)
		return false;
	memcpy(name, file, n - suffix);
	name[n - suffix] = 0;
	return keep_is_name(name);
}

static void erase_one(void *arg, const char *file)
{
	char name[LEDGER_NAME_BYTES];

	if (name_of(file, name))
		keep_erase(arg, name);
}

void keeps_erase(const struct disk *disk, const char *dir)
{
	struct keeps ks = { .conf = { .disk = disk }, .dir = (char *)dir };
	const struct disk *d = disk_or_system(disk);

	d->list(d->arg, dir, erase_one, &ks);
	d->remove(d->arg, dir);
}

/* --- at the start */

static int read_sub(struct keeps *ks, const char *name, struct err *e)
{
	struct buf b = { 0 };
	char path[FILE_PATH_BYTES];
	struct store s = STORE_INIT(&sub_kind, ks->conf.disk, path);
	struct keep *k = NULL;
	struct msg *m = NULL;
	int rc = path_of(ks, name, SUB, path, e);

	if (!rc)
		rc = store_read(&s, &b, e);
	if (!rc &&
	    (b.n < FRAME_HEADER_BYTES || frame_bytes(b.p, b.n) != b.n || b.p[4] != MSG_EVENTS_OPEN))
		rc = err_set(e, ERR_PARSE, "%s is damaged", path);
	if (!rc)
		rc = msg_get(b.p[4], b.p + FRAME_HEADER_BYTES, b.n - FRAME_HEADER_BYTES, &m, e);
	if (!rc && strcmp(m->events_open.sub, name) != 0)
		rc = err_set(e, ERR_PARSE, "%s names another subscription", path);
	if (!rc)
		rc = keeps_has_room(ks, NULL, m->events_open.max_bytes, e);
	if (!rc)
		rc = keep_new(ks, &m->events_open, &k, e);
	msg_free(m);
	buf_done(&b);
	return rc;
}

int keeps_take_up(struct keeps *ks, const char *name, struct err *e)
{
	int rc;

	ks->is_loading = true;
	rc = read_sub(ks, name, e);
	ks->is_loading = false;
	return rc;
}

/*
 * Loads a subscription. A file that cannot be read is left for the user, and has no effect on
 * others.
 */
static void load_one(void *arg, const char *file)
{
	char name[LEDGER_NAME_BYTES];
	struct err e = { 0 };

	if (!name_of(file, name))
		return;
	if (keeps_take_up(arg, name, &e))
		log_error("keep", "subscription=%s is not continued: %s", name, e.text);
}

int keeps_load(struct keeps *ks, struct err *e)
{
	const struct disk *d = disk_or_system(ks->conf.disk);
	int rc = ks->dir ? d->list(d->arg, ks->dir, load_one, ks) : 0;

	return !rc || rc == -ENOENT ? 0 : disk_fail(ks->dir, rc, e);
}
