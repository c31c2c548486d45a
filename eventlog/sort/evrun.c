/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/sort/evrun.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The two largest events: one further read always completes an event. */
#define WINDOW_BYTES (2 * (EVRUN_RECORD_MAX_BYTES + sizeof(struct evrun_head)))

/* Makes a file and removes its name, for file systems such as NFS without O_TMPFILE. */
static int unnamed(const char *folder)
{
	char path[PATH_MAX];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	if ((size_t)snprintf(path, sizeof(path), "%s/omig-sort-XXXXXX", folder) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int evrun_file(const char *folder, int *fd, struct err *e)
{
	const char *named = getenv("TMPDIR");

	if (!folder)
		folder = named && *named ? named : "/var/tmp";
	*fd = unnamed(folder);
	return *fd < 0 ? err_sys(e, "temporary file in %s (TMPDIR)", folder) : 0;
}

int evrun_write(int fd, uint64_t *end, struct bytes b, struct err *e)
{
	while (b.n) {
		ssize_t put = pwrite(fd, b.p, b.n, (off_t)*end);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return err_sys(e, "temporary file");
		b = bytes_at(b.p + put, b.n - (size_t)put);
		*end += (uint64_t)put;
	}
	return 0;
}

void evrun_open(struct evrun *r, int fd, uint64_t begin, uint64_t end)
{
	*r = (struct evrun){ .fd = fd, .at = begin, .end = end, .window = BUF_INIT(WINDOW_BYTES) };
}

void evrun_done(struct evrun *r)
{
	buf_done(&r->window);
}

/* Fills the window with the next bytes of the run. */
static int fill(struct evrun *r, struct err *e)
{
	buf_drop_front(&r->window, r->begin);
	r->begin = 0;
	while (r->at < r->end && r->window.n < WINDOW_BYTES) {
		size_t want = WINDOW_BYTES - r->window.n;
		ssize_t got;

		want = r->end - r->at < want ? (size_t)(r->end - r->at) : want;
		if (buf_reserve(&r->window, want))
			return err_nomem(e);
		got = pread(r->fd, r->window.p + r->window.n, want, (off_t)r->at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? err_sys(e, "temporary file")
				   : err_set(e, ERR_SYS, "the temporary file has become shorter");
		r->window.n += (size_t)got;
		r->at += (uint64_t)got;
	}
	return 0;
}

/* True if the window has n unread bytes. */
static bool has(const struct evrun *r, size_t n)
{
	return r->window.n - r->begin >= n;
}

int evrun_next(struct evrun *r, struct evrun_head *head, const uint8_t **record, struct err *e)
{
	int rc = 0;

	if (!has(r, sizeof(*head) + EVRUN_RECORD_MAX_BYTES) && r->at < r->end)
		rc = fill(r, e);
	if (rc || !has(r, sizeof(*head)))
		return rc;
	memcpy(head, r->window.p + r->begin, sizeof(*head));
	if (!has(r, sizeof(*head) + head->n))
		return err_set(e, ERR_SYS, "the temporary file has changed");
	*record = r->window.p + r->begin + sizeof(*head);
	r->begin += sizeof(*head) + head->n;
	return 1;
}
