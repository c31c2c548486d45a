/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cmd/log/run_board.h"

#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/rng.h"
#include "eventlog/evwrite.h"
#include "tools/launch/supervise.h"
#include "tools/term/say.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PAUSE_MIN_MS 1 /* at a million records a second the board is full after 65 ms */
#define PAUSE_MAX_MS 16
#define STUCK_NS (200 * NSEC_PER_MSEC) /* then the writer of a record was killed in its midst */
#define END_NS (2 * NSEC_PER_SEC) /* for what is on the board at the end */
#define HOST_BYTES 256

static volatile sig_atomic_t ends;

static void on_end(int signal)
{
	(void)signal;
	ends = 1;
}

/* --- the types of events */

enum type { SPAWN = 1, EXEC, EXIT, REAP, WRITE, READ, WAIT, TYPES };

#define OF_THREAD                                 \
	{ "pid", EV_INT32 }, { "tid", EV_INT32 }, \
	{                                         \
		"PROG", EV_STRING                 \
	}
static const struct evfield plain[] = { OF_THREAD };
static const struct evfield of_child[] = { OF_THREAD, { "child", EV_INT32 } };
static const struct evfield of_stream[] = { OF_THREAD,
					    { "stream", EV_INT64 },
					    { "end", EV_INT64 },
					    { "uncertain", EV_INT32 },
					    { "unsent", EV_INT32 } };

#define TYPE(text, fields)                                                      \
	{                                                                       \
		.name = "interaction." text, .level = EV_INFO, .field = fields, \
		.nfield = ARRAY_LEN(fields)                                     \
	}
static const struct evtype types[TYPES] = {
	[SPAWN] = TYPE("spawn", of_child),  [EXEC] = TYPE("exec", plain),
	[EXIT] = TYPE("exit", plain),	    [REAP] = TYPE("reap", of_child),
	[WRITE] = TYPE("write", of_stream), [READ] = TYPE("read", of_stream),
	[WAIT] = TYPE("wait", plain),
};

/* --- made */

/* Memory that is not there yet would be a signal in a program. So is a limit of file sizes here. */
static int allocate(int fd)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction before;
	int rc;

	sigaction(SIGXFSZ, &ignore, &before);
	rc = posix_fallocate(fd, 0, sizeof(struct board));
	sigaction(SIGXFSZ, &before, NULL);
	return rc;
}

static int map(struct run_board *b, int fd, struct err *e)
{
	uint64_t salt;
	void *p;
	int rc = rng_fill_random(&salt, sizeof(salt), e);

	if (rc)
		return rc;
	rc = allocate(fd);
	if (rc) {
		errno = rc;
		return err_sys(e, "%s", b->path);
	}
	p = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return err_sys(e, "%s", b->path);
	b->board = p;
	b->board->filters = board_filters();
	board_init(p, salt);
	return 0;
}

int run_board_open(struct run_board *b, struct err *e)
{
	char folder[FILE_PATH_BYTES], name[64];
	uint64_t number;
	int rc = file_runtime_dir(folder, e), fd;

	*b = (struct run_board){ .reader = -1 };
	rc = rc ? rc : rng_fill_random(&number, sizeof(number), e);
	if (rc)
		return rc;
	snprintf(name, sizeof(name), "board-%016" PRIx64, number);
	rc = file_join(b->path, sizeof(b->path), folder, name, e);
	if (rc)
		return rc;
	fd = open(b->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(e, "%s", b->path);
	rc = map(b, fd, e);
	close(fd);
	if (rc)
		unlink(b->path);
	return rc;
}

/* --- the reader */

struct reader {
	struct board *board;
	struct evwrite out;
	FILE *kept; /* without a name; the log belongs to another process until it ends */
	uint64_t ahead; /* of wall time */
	nsec_t stuck; /* since when a record is not whole; 0: it is */
	int rc;
	struct err e;
};

static int begin_log(struct reader *r, const char *job)
{
	char host[HOST_BYTES] = "";
	struct evconst of_all[] = { { "HOST", { .kind = EV_STRING, .s = host } },
				    { "job", { .kind = EV_STRING, .s = job } } };
	const struct evtype all = { .name = "", .nconst = ARRAY_LEN(of_all), .constant = of_all };
	uint64_t stream;
	int rc = rng_fill_random(&stream, sizeof(stream), &r->e);

	gethostname(host, sizeof(host) - 1);
	of_all[0].value.n = (uint32_t)strlen(host);
	of_all[1].value.n = (uint32_t)strlen(job);
	evwrite_init(&r->out, stream, false, 0);
	r->ahead = (uint64_t)(clock_wall() - clock_mono());
	rc = rc ? rc : evwrite_define(&r->out, 0, &all, &r->e);
	for (unsigned i = 1; i < TYPES && !rc; i++)
		rc = evwrite_define(&r->out, i, &types[i], &r->e);
	return rc;
}

static void put(struct reader *r, enum type type, uint64_t ns, const struct evvalue *value)
{
	if (!r->rc)
		r->rc = evwrite_event(&r->out, type,
				      &(struct event){ .type = &types[type],
						       .ticks = ns + r->ahead,
						       .value = value },
				      &r->e);
	if (!r->rc && r->out.out.n &&
	    fwrite(r->out.out.p, 1, r->out.out.n, r->kept) != r->out.out.n)
		r->rc = err_sys(&r->e, "temporary file");
	buf_clear(&r->out.out);
}

/* A wait precedes what ends it. */
static void put_record(struct reader *r, const struct board_record *b)
{
	static const enum type type[BOARD_KINDS] = {
		[BOARD_SPAWN] = SPAWN, [BOARD_EXEC] = EXEC,   [BOARD_EXIT] = EXIT,
		[BOARD_REAP] = REAP,   [BOARD_WRITE] = WRITE, [BOARD_READ] = READ,
	};
	struct evvalue v[7] = {
		{ .kind = EV_INT32, .i32 = b->pid },
		{ .kind = EV_INT32, .i32 = b->tid },
		{ .kind = EV_STRING, .n = (uint32_t)strlen(b->label), .s = b->label }
	};

	if (b->kind == BOARD_WRITE || b->kind == BOARD_READ) {
		v[3] = (struct evvalue){ .kind = EV_INT64, .i64 = (int64_t)b->id };
		v[4] = (struct evvalue){ .kind = EV_INT64, .i64 = (int64_t)b->end };
		v[5] = (struct evvalue){ .kind = EV_INT32, .i32 = !!(b->flags & BOARD_UNCERTAIN) };
		v[6] = (struct evvalue){ .kind = EV_INT32, .i32 = !!(b->flags & BOARD_UNSENT) };
	} else {
		v[3] = (struct evvalue){ .kind = EV_INT32, .i32 = b->child };
	}
	if (b->kind == BOARD_READ || b->kind == BOARD_REAP)
		put(r, WAIT, b->began, v);
	put(r, type[b->kind], b->ns, v);
}

/* Programs may write anything there. What no call yields would make the whole log invalid. */
static bool is_plausible(const struct board_record *b)
{
	bool is_of_stream = b->kind == BOARD_WRITE || b->kind == BOARD_READ;
	bool has_child = b->kind == BOARD_SPAWN || b->kind == BOARD_REAP;

	return b->pid > 0 && b->tid > 0 && b->ns <= (uint64_t)clock_mono() &&
	       (!has_child || b->child > 0) && (!is_of_stream || b->end <= INT64_MAX) &&
	       b->began <= b->ns;
}

/* Returns the number of records: not all of them, if programs are fast. */
static unsigned drain(struct reader *r)
{
	struct board_record record;
	unsigned n = 0;
	int got = 0;

	while (n < BOARD_RECORDS && (got = board_get(r->board, &record)) == 1) {
		if (is_plausible(&record))
			put_record(r, &record);
		else
			__atomic_fetch_add(&r->board->lost, 1, __ATOMIC_RELAXED);
		r->stuck = 0;
		n++;
	}
	if (got >= 0)
		r->stuck = 0; /* the record that was not whole was not one */
	else if (!r->stuck)
		r->stuck = clock_mono();
	if (got < 0 && clock_mono() - r->stuck > STUCK_NS) {
		board_skip(r->board);
		r->stuck = 0;
	}
	return n + (got < 0);
}

/* A program that writes on, or all over the board, delays the end for END_NS at most. */
static void drain_until_end(struct reader *r)
{
	int pause = PAUSE_MIN_MS;
	nsec_t last = 0;

	for (;;) {
		bool is_last = ends;
		unsigned n;

		if (is_last && !last) {
			last = clock_mono() + END_NS;
			__atomic_store_n(&r->board->on, 0, __ATOMIC_RELEASE);
		}
		n = drain(r);
		if (is_last && (!n || clock_mono() > last))
			return;
		pause = n ? PAUSE_MIN_MS : pause * 2 < PAUSE_MAX_MS ? pause * 2 : PAUSE_MAX_MS;
		poll(NULL, 0, pause);
	}
}

/* Behind all that is in the log. */
static int append(struct reader *r, const char *path)
{
	char piece[65536];
	size_t n;
	FILE *to;

	if (evwrite_cut(&r->out, true, &r->e))
		return -ERR_NOMEM;
	if (fwrite(r->out.out.p, 1, r->out.out.n, r->kept) != r->out.out.n ||
	    fseek(r->kept, 0, SEEK_SET))
		return err_sys(&r->e, "temporary file");
	to = fopen(path, "ae");
	if (!to)
		return err_sys(&r->e, "%s", path);
	while ((n = fread(piece, 1, sizeof(piece), r->kept)) && fwrite(piece, 1, n, to) == n)
		;
	n = (size_t)ferror(to) + (size_t)ferror(r->kept);
	if (fclose(to) || n)
		return err_sys(&r->e, "%s", path);
	return 0;
}

/* Events that are on the board still. */
static uint64_t left_on(const struct board *b)
{
	uint64_t left = __atomic_load_n(&b->in, __ATOMIC_RELAXED) - b->out;

	return left < BOARD_RECORDS ? left : BOARD_RECORDS;
}

static int read_board(struct board *board, const char *job, const char *log)
{
	struct reader r = { .board = board, .kept = tmpfile() };
	uint64_t lost;

	r.rc = r.kept ? begin_log(&r, job) : err_sys(&r.e, "temporary file");
	if (!r.rc)
		drain_until_end(&r);
	lost = __atomic_load_n(&board->lost, __ATOMIC_RELAXED) + left_on(board);
	evwrite_dropped(&r.out, lost);
	if (lost)
		cmd_warn("%" PRIu64 " events of processes are lost: the board was full", lost);
	r.rc = r.rc ? r.rc : append(&r, log);
	if (r.rc)
		cmd_warn("events of processes: %s", r.e.text);
	return r.rc ? CMD_FAILURE : CMD_OK;
}

/* As the recorder of the job's events, with its signals. */
void run_board_start(struct run_board *b, const char *job, const char *log)
{
	struct sigaction end = { .sa_handler = on_end };
	pid_t parent = getpid();
	sigset_t own;
	int null;

	if (!b->board)
		return;
	b->reader = fork();
	if (b->reader)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	sigaction(SIGUSR1, &end, NULL);
	sigemptyset(&own);
	sigaddset(&own, SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &own, NULL);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	ends = getppid() != parent;
	_exit(read_board(b->board, job, log));
}

void run_board_end(struct run_board *b, int64_t most_ns)
{
	if (!b->board)
		return;
	/* Only the reader uses the board: if a program has cut the file, that is a signal. */
	if (b->reader < 0) {
		cmd_warn("no events of processes: no process for them");
	} else {
		kill(b->reader, SIGUSR1);
		if (supervise_end_child(b->reader, most_ns) != CMD_OK)
			cmd_warn("the events of processes are not complete");
	}
	unlink(b->path);
}
