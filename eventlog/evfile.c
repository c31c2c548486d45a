/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/evfile.h"

#include "common/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_BYTES (4 * EVBLOCK_MAX_BYTES)

struct evfile {
	struct evread *read;
	int fd;
	/* is_borrowed: fd is the standard input; has_ended: no byte follows */
	bool is_borrowed, has_ended;
	/* is_skipping: the rest of a line that is too long */
	bool is_regular, is_followed, is_skipping;
	uint64_t size, taken; /* size when it was opened; bytes read so far */
	size_t at, n; /* unread bytes in the window */
	uint8_t window[WINDOW_BYTES];
};

static int open_path(struct evfile *f, const char *path, struct err *e)
{
	struct stat st;

	f->is_borrowed = str_eq(path, "-");
	f->fd = f->is_borrowed ? 0 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f->fd < 0 && errno == ENOENT)
		return err_set(e, ERR_NOTFOUND, "there is no file %s", path);
	if (f->fd < 0 || fstat(f->fd, &st))
		return err_sys(e, "%s", path);
	if (!f->is_borrowed && !S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return err_set(e, ERR_DENIED, "%s is not a file", path);
	f->is_regular = S_ISREG(st.st_mode);
	f->size = f->is_regular ? (uint64_t)st.st_size : 0;
	/* The writer is connected, so that a blocking read is no problem. */
	if (S_ISFIFO(st.st_mode) && !f->is_borrowed)
		fcntl(f->fd, F_SETFL, 0);
	return 0;
}

int evfile_open(const char *path, struct evfile **out, struct err *e)
{
	struct evfile *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return err_nomem(e);
	f->fd = -1;
	f->read = evread_new();
	rc = f->read ? open_path(f, path, e) : err_nomem(e);
	if (rc) {
		evfile_close(f);
		return rc;
	}
	*out = f;
	return 0;
}

void evfile_close(struct evfile *f)
{
	if (!f)
		return;
	if (f->fd >= 0 && !f->is_borrowed)
		close(f->fd);
	evread_free(f->read);
	free(f);
}

void evfile_follow(struct evfile *f)
{
	f->is_followed = true;
}

bool evfile_is_current(const struct evfile *f, const char *path)
{
	struct stat own, named;

	if (!f->is_regular)
		return true;
	if (fstat(f->fd, &own) || (uint64_t)own.st_size < f->taken)
		return false;
	return stat(path, &named) || (named.st_dev == own.st_dev && named.st_ino == own.st_ino);
}

uint64_t evfile_size(const struct evfile *f)
{
	return f->size;
}

const struct evread_report *evfile_report(const struct evfile *f)
{
	return evread_report(f->read);
}

/*
 * True if a read would block. A regular file never does; for a pipe this matters if it is followed.
 */
static bool would_wait(const struct evfile *f)
{
	struct pollfd p = { .fd = f->fd, .events = POLLIN };

	return f->is_followed && !f->is_regular && poll(&p, 1, 0) != 1;
}

/*
 * Moves the unread bytes to the front, and reads further ones. Fails with ERR_AGAIN if there are
 * none.
 */
static int fill(struct evfile *f, struct err *e)
{
	size_t had = f->n;
	ssize_t got;

	memmove(f->window, f->window + f->at, f->n);
	f->at = 0;
	while (!f->has_ended && f->n < WINDOW_BYTES && !would_wait(f)) {
		got = read(f->fd, f->window + f->n, WINDOW_BYTES - f->n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(e, "reading");
		f->has_ended = !got && !(f->is_followed && f->is_regular);
		f->n += (size_t)got;
		f->taken += (uint64_t)got;
		if (!got || !f->is_regular)
			/* a pipe: its bytes are examined before the next read, which may block */
			break;
	}
	return f->is_followed && !f->has_ended && f->n == had ? -ERR_AGAIN : 0;
}

int evfile_peek(struct evfile *f, const uint8_t **p, size_t *n, struct err *e)
{
	int rc = f->n ? 0 : fill(f, e);

	if (rc)
		return rc;
	*p = f->window + f->at;
	*n = f->n < *n ? f->n : *n;
	return 0;
}

int evfile_bytes(struct evfile *f, const uint8_t **p, size_t *n, struct err *e)
{
	int rc = f->n ? 0 : fill(f, e);

	if (rc)
		return rc;
	*p = f->window + f->at;
	*n = f->n;
	f->at += f->n;
	f->n = 0;
	return 0;
}

int evfile_next(struct evfile *f, struct event *out, struct err *e)
{
	size_t used;
	int got, filled = 0;

	while (!evread_next(f->read, out)) {
		if (!f->has_ended && f->n < EVBLOCK_MAX_BYTES) {
			filled = fill(f, e);
			if (filled && filled != -ERR_AGAIN)
				return filled;
		}
		got = evread_push(f->read, f->window + f->at, f->n, f->has_ended, &used);
		if (got < 0)
			return err_nomem(e);
		f->at += used;
		f->n -= used;
		if (got == EVREAD_END)
			return 0;
		if (got == EVREAD_MORE && filled)
			return filled;
	}
	return 1;
}

/* Skips the rest of a line that is too long. */
static int skip_line(struct evfile *f, struct err *e)
{
	int rc = 0;

	f->is_skipping = true;
	for (;;) {
		uint8_t *end = memchr(f->window + f->at, '\n', f->n);
		size_t used = end ? (size_t)(end + 1 - (f->window + f->at)) : f->n;

		f->at += used;
		f->n -= used;
		if (end || f->has_ended) {
			f->is_skipping = false;
			return err_set(e, ERR_LIMIT, "a line is too long");
		}
		rc = fill(f, e);
		if (rc)
			return rc;
	}
}

int evfile_line(struct evfile *f, size_t max, const char **line, size_t *n, struct err *e)
{
	uint8_t *end;
	int rc;

	if (f->is_skipping)
		return skip_line(f, e);
	while (!(end = memchr(f->window + f->at, '\n', f->n)) && !f->has_ended && f->n <= max) {
		rc = fill(f, e);
		if (rc)
			return rc;
	}
	if (!f->n)
		return 0;
	*line = (const char *)f->window + f->at;
	*n = end ? (size_t)(end - (f->window + f->at)) : f->n;
	if (*n > max)
		return skip_line(f, e);
	f->at += *n + (end != NULL);
	f->n -= *n + (end != NULL);
	if (*n && (*line)[*n - 1] == '\r')
		--*n;
	return 1;
}
