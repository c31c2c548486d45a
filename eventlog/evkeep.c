/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/evkeep.h"

#include "common/base/buf.h"
#include "common/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES (1u << 20) /* bytes read or written at once */

struct evkeep {
	int fd;
	struct buf out; /* not written yet */
	uint64_t written, safe; /* bytes written to the file, and bytes synced */
	bool has_failed;
};

static int fail_sys(struct err *e, const char *doing)
{
	if (errno == ENOSPC || errno == EDQUOT)
		return err_set(e, ERR_SYS,
			       "no space is left; events that were stored before are safe");
	return err_set(e, ERR_SYS, "%s: %s", doing, strerror(errno));
}

/* --- the existing file */

struct scan {
	struct evkeep *k;
	struct evbalance *b;
	struct buf in;
	uint64_t at; /* offset in the file of the first byte of `in` */
	bool has_block;
};

/* Returns the offset of the next good block; n if there is none. */
static size_t next_good(const uint8_t *p, size_t n)
{
	struct evblock head;
	size_t at = 0;

	while (at < n && (at = evblock_seek(p, n, at + 1)) + EVBLOCK_HEAD_BYTES <= n)
		if (evblock_look(p + at, n - at, &head) == EVBLOCK_GOOD)
			return at;
	return n;
}

/*
 * Examines a block. *far: how many bytes to continue. 0 means that more of the file is needed, or,
 * at its end, that the block is torn.
 */
static int step(struct scan *s, size_t at, bool is_last, size_t *far, struct err *e)
{
	const uint8_t *p = s->in.p + at;
	size_t n = s->in.n - at;
	struct evbalance_stream *of;
	struct evblock head;
	enum evblock_look look = evblock_look(p, n, &head);
	int got = 0;

	*far = look == EVBLOCK_FUTURE ? head.bytes : 0;
	if (look == EVBLOCK_GOOD) {
		got = evbalance_block(s->b, p, &head, &of, e);
		s->has_block = true;
		*far = head.bytes;
	} else if (look == EVBLOCK_SHORT) {
		/* Other programs may have appended blocks behind a torn block. */
		size_t good = is_last ? next_good(p, n) : n;

		*far = good < n ? good : 0;
	} else if (look != EVBLOCK_FUTURE) {
		if (!s->has_block)
			return err_set(e, ERR_INVALID, "is not an event log");
		*far = evblock_seek(p, n, 1);
	}
	return got < 0 ? got : 0;
}

static int scan_piece(struct scan *s, bool is_last, struct err *e)
{
	size_t at = 0, far = 1;
	int rc = 0;

	for (; !rc && far && at < s->in.n; at += far)
		rc = step(s, at, is_last, &far, e);
	buf_drop_front(&s->in, at);
	s->at += at;
	return rc;
}

static int scan_all(struct scan *s, struct err *e)
{
	ssize_t got = 1;
	int rc = 0;

	while (!rc && got > 0) {
		if (buf_reserve(&s->in, PIECE_BYTES))
			return err_nomem(e);
		do
			got = read(s->k->fd, s->in.p + s->in.n, PIECE_BYTES);
		while (got < 0 && errno == EINTR);
		if (got < 0)
			return fail_sys(e, "reading it");
		s->in.n += (size_t)got;
		rc = scan_piece(s, !got, e);
	}
	if (rc || !s->in.n)
		return rc;
	return ftruncate(s->k->fd, (off_t)s->at) ? fail_sys(e, "cutting off a torn block") : 0;
}

static int scan(struct evkeep *k, struct evbalance *b, struct err *e)
{
	struct scan s = { .k = k, .b = b, .in = BUF_INIT(2 * PIECE_BYTES) };
	int rc = scan_all(&s, e);

	buf_done(&s.in);
	evbalance_saved(b);
	k->written = k->safe = s.at;
	return rc;
}

/* --- opening */

/* Syncs the folder, because the file's name must be on the disk, too. */
static int sync_folder(const char *path, struct err *e)
{
	/* a folder that we may not read cannot be synced by us */
	return file_sync_name(path) && errno != EACCES ? fail_sys(e, "its folder") : 0;
}

static int open_file(struct evkeep *k, const char *path, struct evbalance *b, struct err *e)
{
	struct stat st;
	int rc;

	k->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
	if (k->fd < 0)
		return err_set(e,
			       errno == EACCES	 ? ERR_DENIED
			       : errno == ENOENT ? ERR_NOTFOUND
						 : ERR_SYS,
			       "%s", strerror(errno));
	if (fstat(k->fd, &st))
		return fail_sys(e, "checking it");
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID,
			       "is not a regular file, so events cannot be stored safely");
	if (flock(k->fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? err_set(e, ERR_AGAIN, "another program appends to it")
					    : fail_sys(e, "locking it");
	rc = scan(k, b, e);
	return rc ? rc : sync_folder(path, e);
}

int evkeep_open(const char *path, struct evbalance *b, struct evkeep **out, struct err *e)
{
	struct evkeep *k = calloc(1, sizeof(*k));
	int rc;

	if (!k)
		return err_nomem(e);
	k->fd = -1;
	buf_init(&k->out, PIECE_BYTES + EVBLOCK_MAX_BYTES);
	rc = open_file(k, path, b, e);
	if (rc)
		evkeep_close(k);
	else
		*out = k;
	return rc;
}

void evkeep_close(struct evkeep *k)
{
	if (!k)
		return;
	if (k->fd >= 0)
		close(k->fd);
	buf_done(&k->out);
	free(k);
}

/* --- new blocks */

/* Removes a partial block. Data that the disk did not confirm never count as stored. */
static int give_up(struct evkeep *k, int rc)
{
	k->has_failed = true;
	if (ftruncate(k->fd, (off_t)k->safe))
		return rc; /* the next open removes the torn block */
	return rc;
}

static int write_out(struct evkeep *k, struct err *e)
{
	for (size_t at = 0; at < k->out.n;) {
		ssize_t got = write(k->fd, k->out.p + at, k->out.n - at);

		if (got < 0 && errno != EINTR)
			return give_up(k, fail_sys(e, "writing it"));
		at += got > 0 ? (size_t)got : 0;
	}
	k->written += k->out.n;
	buf_clear(&k->out);
	return 0;
}

int evkeep_put(struct evkeep *k, const uint8_t *p, size_t n, struct err *e)
{
	if (k->has_failed)
		return err_set(e, ERR_CLOSED, "writing it has failed before");
	if (buf_put(&k->out, p, n))
		return give_up(k, err_nomem(e));
	return k->out.n >= PIECE_BYTES ? write_out(k, e) : 0;
}

int evkeep_commit(struct evkeep *k, struct err *e)
{
	int rc = k->has_failed ? err_set(e, ERR_CLOSED, "writing it has failed before")
			       : write_out(k, e);

	if (rc || k->written == k->safe)
		return rc;
	if (fdatasync(k->fd))
		return give_up(k, fail_sys(e, "cannot sync it to the disk"));
	k->safe = k->written;
	return 0;
}
