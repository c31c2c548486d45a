/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a spool's directory. The first byte selects the ledger or a segment. It is opened, and a
 * consumer receives whole good blocks, of which each byte was in the input.
 */
#include "eventlog/evgap.h"
#include "eventlog/spool/ledger.h"
#include "eventlog/spool/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

#define SEGMENT "0000000000000000.seg"

/* A disk with two readable files; writes succeed and are dropped. */
static struct {
	const uint8_t *p;
	size_t n;
	bool is_ledger;
} input;

static int mem_create(void *arg, const char *name)
{
	return 1;
}

static int mem_open(void *arg, const char *name)
{
	return strcmp(name, input.is_ledger ? "ledger" : SEGMENT) ? -ENOENT : 0;
}

static ssize_t mem_read(void *arg, int fd, void *p, size_t n, uint64_t at)
{
	size_t has = at < input.n ? input.n - (size_t)at : 0;

	n = n < has ? n : has;
	memcpy(p, input.p + (n ? at : 0), n);
	return (ssize_t)n;
}

static ssize_t mem_write(void *arg, int fd, const void *p, size_t n, uint64_t at)
{
	return (ssize_t)n;
}

static int64_t mem_size(void *arg, int fd)
{
	return (int64_t)input.n;
}

static int mem_cut(void *arg, int fd, uint64_t n)
{
	return 0;
}

static int mem_fd(void *arg, int fd)
{
	return 0;
}

static void mem_close(void *arg, int fd)
{
}

static int mem_rename(void *arg, const char *from, const char *to)
{
	return 0;
}

static int mem_remove(void *arg, const char *name)
{
	return 0;
}

static int mem_names(void *arg, const char *name)
{
	return 0;
}

static int mem_list(void *arg, const char *folder, void (*each)(void *arg, const char *name),
		    void *each_arg)
{
	if (!input.is_ledger)
		each(each_arg, SEGMENT);
	return 0;
}

static const struct disk disk = { .create = mem_create,
				  .open = mem_open,
				  .read_at = mem_read,
				  .write_at = mem_write,
				  .size = mem_size,
				  .cut = mem_cut,
				  .sync = mem_fd,
				  .close = mem_close,
				  .rename = mem_rename,
				  .remove = mem_remove,
				  .sync_names = mem_names,
				  .list = mem_list };

static size_t take(const struct buf *b)
{
	struct evblock head;
	struct evgap g;

	for (size_t at = 0; at < b->n; at += head.bytes) {
		enum evblock_look is = evblock_look(b->p + at, b->n - at, &head);

		if (is != EVBLOCK_GOOD && is != EVBLOCK_FUTURE)
			abort();
		evgap_of(b->p + at, &head, &g);
		if (g.end_seq < g.seq && g.seq != UINT64_MAX)
			abort();
	}
	return b->n;
}

static void use(struct spool *s)
{
	struct buf out = BUF_INIT(2 * SPOOL_READ_BYTES);
	struct consumer *c = spool_find(s, "up");
	struct spool_stats stats;
	uint64_t place;
	size_t got = 0, was;

	if (!c && spool_add(s, "up", true, &c) && !input.is_ledger)
		abort();
	do {
		was = got;
		if (c && spool_read(s, c, &out, &place))
			abort();
		got += c ? take(&out) : 0;
		if (c && spool_ack(s, c, place, 1))
			abort();
	} while (got > was);
	spool_commit(s, 1 + SPOOL_LEDGER_NS);
	spool_stats(s, &stats);
	if (!input.is_ledger && got > input.n)
		abort();
	buf_done(&out);
}

/* A fuzzer cannot find a CRC: repeats the bytes after the head with the right one. */
static void ledger_body(const uint8_t *p, size_t n)
{
	static struct ledger l;
	struct buf again = BUF_INIT(LEDGER_FILE_MAX_BYTES);
	const uint8_t *end = memchr(p, '\n', n);

	if (!end)
		return;
	ledger_init(&l);
	if (!ledger_decode(&l, end + 1, n - (size_t)(end + 1 - p)) && ledger_encode(&l, &again))
		abort();
	ledger_done(&l);
	buf_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	const struct spool_conf c = { .disk = &disk, .max_bytes = 1u << 20, .commit_bytes = 4096 };
	struct spool *s;

	if (!n)
		return 0;
	input.is_ledger = *p & 1;
	input.p = p + 1;
	input.n = n - 1;
	if (input.is_ledger)
		ledger_body(input.p, input.n);
	if (spool_open(&c, &s, NULL))
		return 0;
	use(s);
	spool_free(s);
	return 0;
}
