/* SPDX-License-Identifier: Apache-2.0 */
/* What is on the disk of kept subscriptions: a frame of events_open each, beside the folder of the
 * spool. */
#include "common/base/file.h"
#include "common/base/array.h"
#include "common/base/log.h"
#include "eventlog/keep/keep_internal.h"
#include "proto/frame.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUB ".sub"

static int path_of(const struct keeps *ks, const char *name, const char *suffix, char *out,
		   size_t size, struct err *e)
{
	int n = snprintf(out, size, "%s/%s%s", ks->dir, name, suffix);

	return n < 0 || (size_t)n >= size ? err_set(e, ERR_LIMIT, "%s is too long a path", ks->dir)
					  : 0;
}

int keep_path(const struct keep *k, const char *suffix, char *out, size_t size, struct err *e)
{
	return path_of(k->owner, k->name, suffix, out, size, e);
}

int keep_save(const struct keep *k, struct err *e)
{
	struct buf b = BUF_INIT(FRAME_PREAUTH_MAX_BYTES);
	char path[FILE_PATH_BYTES];
	int rc = keep_path(k, SUB, path, sizeof(path), e);

	if (!rc)
		rc = file_private_dir(k->owner->dir, e);
	if (!rc && msg_events_open_put(&b, &k->request))
		rc = err_nomem(e);
	if (!rc)
		rc = file_write_atomic(path, b.p, b.n, e);
	buf_done(&b);
	return rc;
}

/* Removes the files in it, which are ours alone. A folder in it is not ours and stays. */
static void erase_folder(const char *path)
{
	char name[FILE_PATH_BYTES + 256];
	DIR *d = opendir(path);
	const struct dirent *f;

	while (d && (f = readdir(d)) != NULL) {
		if (f->d_name[0] == '.' &&
		    (!f->d_name[1] || (f->d_name[1] == '.' && !f->d_name[2])))
			continue;
		snprintf(name, sizeof(name), "%s/%.255s", path, f->d_name);
		unlink(name);
	}
	if (d)
		closedir(d);
	if (rmdir(path) && errno != ENOENT)
		log_warn("keep", "%s is not removed: %s", path, strerror(errno));
}

/* The file that says whose it is goes last: a crash before that does it again. */
void keep_erase(const struct keeps *ks, const char *name)
{
	static const char *const beside[] = { ".arm", ".rows", ".hosts", SUB };
	char path[FILE_PATH_BYTES];

	if (!path_of(ks, name, "", path, sizeof(path), NULL))
		erase_folder(path);
	for (size_t i = 0; i < ARRAY_LEN(beside); i++)
		if (!path_of(ks, name, beside[i], path, sizeof(path), NULL))
			unlink(path);
}

/* The name of the subscription whose file that is; false: it is no such. */
static bool name_of(const char *file, char name[LEDGER_NAME_BYTES])
{
	size_t n = strlen(file), suffix = sizeof(SUB) - 1;

	if (n <= suffix || n - suffix >= LEDGER_NAME_BYTES || strcmp(file + n - suffix, SUB) != 0)
		return false;
	memcpy(name, file, n - suffix);
	name[n - suffix] = 0;
	return keep_is_name(name);
}

void keeps_erase(const char *dir)
{
	const struct keeps ks = { .dir = (char *)dir };
	char name[LEDGER_NAME_BYTES];
	DIR *d = opendir(dir);
	const struct dirent *f;

	while (d && (f = readdir(d)) != NULL)
		if (name_of(f->d_name, name))
			keep_erase(&ks, name);
	if (d)
		closedir(d);
	rmdir(dir);
}

/* --- at the start */

static int read_sub(struct keeps *ks, const char *name, struct err *e)
{
	struct buf b = BUF_INIT(FRAME_PREAUTH_MAX_BYTES);
	char path[FILE_PATH_BYTES];
	struct keep *k = NULL;
	struct msg *m = NULL;
	int rc = path_of(ks, name, SUB, path, sizeof(path), e);

	if (!rc)
		rc = file_read(path, FRAME_PREAUTH_MAX_BYTES, FILE_SECRET, &b, e);
	if (!rc &&
	    (b.n < FRAME_HEADER_BYTES || frame_bytes(b.p, b.n) != b.n || b.p[4] != MSG_EVENTS_OPEN))
		rc = err_set(e, ERR_PARSE, "%s is not what was written", path);
	if (!rc)
		rc = msg_get(b.p[4], b.p + FRAME_HEADER_BYTES, b.n - FRAME_HEADER_BYTES, &m, e);
	if (!rc && strcmp(m->events_open.sub, name) != 0)
		rc = err_set(e, ERR_PARSE, "%s speaks of another subscription", path);
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

/* One that cannot be read is left for people to look at, and takes no other with it. */
static void load_one(struct keeps *ks, const char *file)
{
	char name[LEDGER_NAME_BYTES];
	struct err e = { 0 };

	if (!name_of(file, name))
		return;
	if (keeps_take_up(ks, name, &e))
		log_error("keep", "subscription=%s is not taken up: %s", name, e.text);
}

int keeps_load(struct keeps *ks, struct err *e)
{
	const struct dirent *f;
	DIR *d;

	if (!ks->dir)
		return 0;
	d = opendir(ks->dir);
	if (!d)
		return errno == ENOENT ? 0 : err_sys(e, "%s", ks->dir);
	while ((f = readdir(d)) != NULL)
		load_one(ks, f->d_name);
	closedir(d);
	return 0;
}
