/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/hold/journal.h"

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "lm/host/proctext.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* and the epoch; no pid, so that a reader that does not know it passes it over */
#define HEAD "lm "
#define TURN_TRIES 50
#define TURN_STEP_NS (10 * NSEC_PER_MSEC)

void journal_begin(struct buf *b, uint64_t epoch)
{
	buf_printf(b, HEAD "%" PRIu64 "\n", epoch);
}

void journal_add(struct buf *b, const struct journal_line *l)
{
	buf_printf(b, "%d %" PRIu64 " %s\n", (int)l->pid, l->start, l->boot);
}

const struct store_kind journal_kind = { .what = "holds",
					 .version = 1,
					 .max_bytes = JOURNAL_MAX_BYTES,
					 .ends_with_boot = true,
					 .is_expendable = true };

int journal_write(struct store *s, const struct buf *b, size_t nline, struct err *e)
{
	return nline ? store_write(s, b, e) : store_remove(s, e);
}

static bool parse_line(const char *text, struct journal_line *l)
{
	int64_t pid, start;
	const char *p = text_number(text, &pid);

	p = p ? text_number(p, &start) : NULL;
	if (!p || pid <= 1 || pid > INT32_MAX)
		return false;
	l->pid = (int32_t)pid;
	l->start = (uint64_t)start;
	text_line(l->boot, sizeof(l->boot), p);
	return true;
}

static bool is_of(const char *text, uint64_t epoch)
{
	char head[32];

	snprintf(head, sizeof(head), HEAD "%" PRIu64 "\n", epoch);
	return !epoch || !strncmp(text, head, strlen(head));
}

static int replay(struct store *s, uint64_t epoch, journal_line_fn fn, void *arg, struct err *e)
{
	struct buf b = { 0 };
	int rc = store_read(s, &b, e);
	bool is_ours = !rc && is_of(buf_str(&b), epoch);

	for (const char *p = is_ours ? buf_str(&b) : NULL; p && *p; p = text_next_line(p)) {
		struct journal_line l;

		if (parse_line(p, &l))
			fn(arg, &l);
	}
	buf_done(&b);
	if (rc == -ERR_NOTFOUND)
		return 0;
	return rc || !is_ours ? rc : store_remove(s, e);
}

/* Locks the folder, because the journal itself may be removed. Returns -1 without a folder. */
static int take_turn(const char *path)
{
	const struct timespec step = { .tv_nsec = TURN_STEP_NS };
	char dir[FILE_PATH_BYTES];
	const char *slash = strrchr(path, '/');
	int fd;

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; fd >= 0 && i < TURN_TRIES && flock(fd, LOCK_EX | LOCK_NB) < 0; i++)
		nanosleep(&step, NULL);
	return fd;
}

int journal_replay(struct store *s, uint64_t epoch, journal_line_fn fn, void *arg, struct err *e)
{
	int turn = take_turn(s->path);
	int rc = replay(s, epoch, fn, arg, e);

	if (turn >= 0)
		close(turn);
	return rc;
}
