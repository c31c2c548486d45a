/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/disk/simdisk.h"

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/container/list.h"
#include "eventlog/spool/spooler.h"
#include "sim/disk/simdisk_internal.h"
#include "sim/world/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAILS_ONE_IN 3
#define SECTOR_BYTES 512
#define BUSY_ONE_IN 50
#define TURN_MAX_NS (4 * NSEC_PER_MSEC)
#define BUSY_MAX_NS NSEC_PER_SEC
#define TORN_OF_FIVE 4 /* in five: unsynced files that are incomplete after a power cut */

/* A file that has unsynced bytes. */
struct unsynced {
	struct list at;
	ino_t inode;
	off_t synced; /* bytes on the disk */
	/* a sync failed: these bytes never reach the disk, even if later syncs succeed */
	bool is_doomed;
};

/* A name that refers to another file than at the last sync of the folder. */
struct renamed {
	struct list at;
	uint64_t was; /* number in the name of the saved old file; 0: there was no old file */
	char name[NAME_MAX + 1]; /* path below the folder */
};

struct simdisk {
	char *folder; /* owned */
	enum simdisk_state state;
	struct rng dice;
	struct list unsynced, renamed;
	uint64_t names; /* number of names made so far */
	bool has_failed, has_lost_power; /* since the start */
	struct spooler_turns turns;
	struct simdisk_face *face; /* owned */
};

/* Draws the delay of the next turn: mostly 0, sometimes long as on a busy disk. */
static nsec_t next_turn(void *arg)
{
	struct simdisk *d = arg;

	return 1 + (nsec_t)rng_below(&d->dice,
				     rng_below(&d->dice, BUSY_ONE_IN) ? TURN_MAX_NS : BUSY_MAX_NS);
}

int simdisk_new(const char *folder, uint64_t seed, struct simdisk **out, struct err *e)
{
	struct simdisk *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return err_nomem(e);
	d->folder = str_dup(folder);
	rng_init(&d->dice, seed);
	d->turns = (struct spooler_turns){ next_turn, d };
	list_init(&d->unsynced);
	list_init(&d->renamed);
	d->face = calloc(1, sizeof(*d->face));
	if (d->face)
		d->face->whole = (struct place){ d, NULL, -1 };
	rc = d->folder && d->face ? file_private_dir(d->folder, e) : err_nomem(e);
	if (rc) {
		simdisk_free(d);
		return rc;
	}
	*out = d;
	return 0;
}

static void forget_file(struct unsynced *u)
{
	list_del(&u->at);
	free(u);
}

static void kept_path(const struct simdisk *d, uint64_t number, char *out)
{
	snprintf(out, FILE_PATH_BYTES, "%.4000s.was%" PRIu64, d->folder, number);
}

static void forget_name(struct simdisk *d, struct renamed *r)
{
	char kept[FILE_PATH_BYTES];

	kept_path(d, r->was, kept);
	if (r->was)
		remove(kept);
	list_del(&r->at);
	free(r);
}

static const char *name_in(const struct simdisk *d, const char *path)
{
	return path + strlen(d->folder) + 1;
}

static bool is_in(const struct simdisk *d, const struct renamed *r, const char *folder)
{
	const char *slash = strrchr(r->name, '/'),
		   *below = str_eq(folder, d->folder) ? "" : name_in(d, folder);
	size_t n = slash ? (size_t)(slash - r->name) : 0, has = strlen(below);

	has -= has && below[has - 1] == '/';
	return n == has && !strncmp(r->name, below, n);
}

void simdisk_names_synced(struct simdisk *d, const char *folder)
{
	list_each_safe (i, &d->renamed)
		if (!folder || is_in(d, list_entry(i, struct renamed, at), folder))
			forget_name(d, list_entry(i, struct renamed, at));
}

static void forget_files(struct simdisk *d)
{
	list_each_safe (i, &d->unsynced)
		forget_file(list_entry(i, struct unsynced, at));
}

void simdisk_free(struct simdisk *d)
{
	if (!d)
		return;
	simdisk_names_synced(d, NULL);
	forget_files(d);
	free(d->face);
	free(d->folder);
	free(d);
}

void simdisk_path(const struct simdisk *d, const char *name, char *out)
{
	file_join(out, FILE_PATH_BYTES, d->folder, name, NULL);
}

void simdisk_set(struct simdisk *d, enum simdisk_state s)
{
	d->state = s;
	d->has_failed |= s == SIMDISK_FAILING;
}

bool simdisk_is_sure(const struct simdisk *d)
{
	return !d->has_failed;
}

bool simdisk_has_lost_power(const struct simdisk *d)
{
	return d->has_lost_power;
}

const struct spooler_turns *simdisk_turns(const struct simdisk *d)
{
	return &d->turns;
}

enum simdisk_state simdisk_state(const struct simdisk *d)
{
	return d->state;
}

struct simdisk_face *simdisk_face(const struct simdisk *d)
{
	return d->face;
}

/* --- refused calls */

bool simdisk_fails(struct simdisk *d)
{
	errno = EIO;
	return d->state == SIMDISK_FAILING && !rng_below(&d->dice, FAILS_ONE_IN);
}

bool simdisk_refuses_change(struct simdisk *d)
{
	errno = EIO;
	return d->state == SIMDISK_DEAD || simdisk_fails(d);
}

/* Returns how many bytes of a failed write reach the disk: some of its sectors. */
static size_t sectors_of(struct simdisk *d, uint64_t at, size_t n)
{
	uint64_t end = (at + rng_below(&d->dice, n + 1)) / SECTOR_BYTES * SECTOR_BYTES;

	return end > at ? (size_t)(end - at) : 0;
}

size_t simdisk_admits(struct simdisk *d, uint64_t at, uint64_t size, size_t n, bool *is_reported)
{
	uint64_t room = at < size ? size - at : 0;

	*is_reported = true;
	if (simdisk_refuses_change(d)) {
		*is_reported = false;
		return d->state == SIMDISK_DEAD ? 0 : sectors_of(d, at, n);
	}
	if (d->state != SIMDISK_FULL || room >= n)
		return n;
	/* bytes in the last block of the file need no new space */
	room += rng_below(&d->dice, 2) ? rng_below(&d->dice, n - room) : 0;
	*is_reported = room > 0;
	errno = ENOSPC;
	return (size_t)room;
}

/* --- unsynced data */

static struct unsynced *unsynced_of(const struct simdisk *d, ino_t inode)
{
	list_each (i, &d->unsynced)
		if (list_entry(i, struct unsynced, at)->inode == inode)
			return list_entry(i, struct unsynced, at);
	return NULL;
}

void simdisk_will_write(struct simdisk *d, const struct stat *st)
{
	struct unsynced *u = unsynced_of(d, st->st_ino);

	if (u || d->state == SIMDISK_DEAD)
		return;
	u = calloc(1, sizeof(*u));
	if (!u)
		return;
	u->inode = st->st_ino;
	u->synced = st->st_size;
	list_push_back(&d->unsynced, &u->at);
}

void simdisk_will_cut(struct simdisk *d, const struct stat *st, uint64_t size)
{
	struct unsynced *u;

	simdisk_will_write(d, st);
	u = unsynced_of(d, st->st_ino);
	if (u && (uint64_t)u->synced > size)
		u->synced = (off_t)size;
}

void simdisk_will_map(struct simdisk *d, const struct stat *st)
{
	simdisk_will_cut(d, st, 0);
}

void simdisk_synced(struct simdisk *d, const struct stat *st, bool is_ok)
{
	struct unsynced *u = unsynced_of(d, st->st_ino);

	if (u && !is_ok)
		u->is_doomed = true;
	else if (u && !u->is_doomed)
		forget_file(u);
}

static struct renamed *renamed_of(const struct simdisk *d, const char *path)
{
	list_each (i, &d->renamed)
		if (str_eq(list_entry(i, struct renamed, at)->name, name_in(d, path)))
			return list_entry(i, struct renamed, at);
	return NULL;
}

/* Notes that the last name of a file is removed: another file may get its inode number. */
static void note_end(struct simdisk *d, const char *path)
{
	struct stat st;
	struct unsynced *u =
		stat(path, &st) == 0 && st.st_nlink == 1 ? unsynced_of(d, st.st_ino) : NULL;

	if (u)
		forget_file(u);
}

void simdisk_will_move(struct simdisk *d, const char *path)
{
	struct renamed *r =
		renamed_of(d, path) || d->state == SIMDISK_DEAD ? NULL : calloc(1, sizeof(*r));
	char kept[FILE_PATH_BYTES];

	if (!r)
		return;
	str_copy(r->name, sizeof(r->name), name_in(d, path));
	r->was = ++d->names;
	kept_path(d, r->was, kept);
	if (link(path, kept))
		r->was = 0;
	list_push_back(&d->renamed, &r->at);
}

void simdisk_will_end(struct simdisk *d, const char *path)
{
	simdisk_will_move(d, path);
	note_end(d, path);
}

void simdisk_is_gone(struct simdisk *d, const char *path)
{
	struct renamed *r = renamed_of(d, path);

	if (r && !r->was)
		forget_name(d, r);
}

/* --- power cuts */

static void undo_name(struct simdisk *d, struct renamed *r)
{
	char path[FILE_PATH_BYTES], kept[FILE_PATH_BYTES];

	simdisk_path(d, r->name, path);
	kept_path(d, r->was, kept);
	if (!r->was)
		disk_remove(path);
	else if (!rename(kept, path))
		r->was = 0;
}

/* Clears random sectors of the unsynced part, and cuts the file at a random end. */
static void tear(struct simdisk *d, int fd, off_t from, off_t size)
{
	static const char nothing[SECTOR_BYTES];
	off_t left = rng_below(&d->dice, 2)
			     ? size
			     : from + (off_t)rng_below(&d->dice, (uint64_t)(size - from));

	for (off_t at = from; at < left; at += SECTOR_BYTES)
		if (rng_below(&d->dice, 2) &&
		    pwrite(fd, nothing,
			   (size_t)(left - at < SECTOR_BYTES ? left - at : SECTOR_BYTES), at) < 0)
			break;
	if (ftruncate(fd, left) < 0)
		log_error("sim", "a file of %s cannot be torn: %m", d->folder);
}

static void lose_file(struct simdisk *d, const char *path)
{
	struct stat st;
	const struct unsynced *u;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	u = fd >= 0 && !fstat(fd, &st) ? unsynced_of(d, st.st_ino) : NULL;
	if (u && st.st_size > u->synced && (u->is_doomed || rng_below(&d->dice, 5) < TORN_OF_FIVE))
		tear(d, fd, u->synced, st.st_size);
	if (fd >= 0)
		close(fd);
}

static int is_file(const struct dirent *i)
{
	return i->d_name[0] != '.';
}

static void lose_files(struct simdisk *d, const char *folder)
{
	struct dirent **all = NULL;
	char path[FILE_PATH_BYTES];
	int n = scandir(folder, &all, is_file, alphasort);

	for (int i = 0; i < n; i++) {
		file_join(path, sizeof(path), folder, all[i]->d_name, NULL);
		if (all[i]->d_type == DT_DIR)
			lose_files(d, path);
		else
			lose_file(d, path);
		free(all[i]);
	}
	free(all);
}

void simdisk_cut_power(struct simdisk *d)
{
	d->has_lost_power = true;
	list_each (i, &d->renamed)
		if (rng_below(&d->dice, 2))
			undo_name(d, list_entry(i, struct renamed, at));
	simdisk_names_synced(d, NULL);
	lose_files(d, d->folder);
	forget_files(d);
}
