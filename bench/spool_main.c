/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Full blocks of paper 001's event, 20 bytes each, through a spool: from the first appended block
 * until all are settled. Once on a file system in memory and once on the disk of /tmp. Values are
 * wall time, because the spool waits for the disk.
 */
#include "bench/bench.h"
#include "common/base/clock.h"
#include "common/base/hash.h"
#include "eventlog/spool/spool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES (128 * 1024)
#define EVENT_BYTES 20
#define BLOCKS 1024 /* 128 MB */
#define RUNS 5

static void make(struct evblock *b, uint8_t *p)
{
	uint32_t events = (BLOCK_BYTES - EVBLOCK_HEAD_BYTES) / EVENT_BYTES;

	*b = (struct evblock){
		.version = EVBLOCK_VERSION, .bytes = BLOCK_BYTES, .stream = 1, .events = events
	};
	b->crc = hash_crc32c(0, p + EVBLOCK_HEAD_BYTES, BLOCK_BYTES - EVBLOCK_HEAD_BYTES);
}

static void append_all(struct spool *s, struct evblock *b, uint8_t *p)
{
	for (int i = 0; i < BLOCKS; i++) {
		evblock_encode(b, p);
		if (spool_append(s, p, b, clock_mono()))
			bench_fail("a block is not kept");
		spool_step(s, clock_mono());
		b->seq++;
		b->first += b->events;
	}
	if (spool_commit(s, clock_mono()) || spool_settled(s) != BLOCKS)
		bench_fail("not all is settled");
}

static double once(const char *dir)
{
	static uint8_t p[BLOCK_BYTES];
	struct disk disk;
	struct spool_conf c = { .disk = &disk,
				.max_bytes = 1u << 30,
				.commit_ns = 20 * NSEC_PER_MSEC,
				.commit_bytes = 4u << 20 };
	struct evblock b;
	struct err e = { 0 };
	struct spool *s;
	double t;

	if (disk_enter(NULL, dir, &disk, &e) || spool_open(&c, &s, &e))
		bench_fail("%s", e.text);
	make(&b, p);
	t = (double)bench_now();
	append_all(s, &b, p);
	t = (double)(bench_now() - t);
	spool_free(s);
	disk_leave(&disk);
	return (double)b.events * BLOCKS * 1e9 / t;
}

/* Removes the files of a run. */
static void empty(const char *dir)
{
	char path[128];

	for (uint64_t at = 0; at <= (uint64_t)BLOCKS * BLOCK_BYTES; at += BLOCK_BYTES) {
		snprintf(path, sizeof(path), "%s/%016" PRIx64 ".seg", dir, at);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/ledger", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/lock", dir);
	unlink(path);
	rmdir(dir);
}

static void measure(const char *name, const char *under)
{
	struct bench_series series = { 0 };
	char dir[96];

	for (int i = 0; i < RUNS; i++) {
		snprintf(dir, sizeof(dir), "%s/omig-bench-spool-%ld", under, (long)getpid());
		bench_add(&series, once(dir));
		empty(dir);
	}
	bench_print(name, "1/s", &series, NULL);
	bench_done(&series);
}

int main(void)
{
	if (!access("/dev/shm", W_OK))
		measure("spool.append.events_per_s", "/dev/shm");
	measure("spool.append.disk.events_per_s", "/tmp");
	return 0;
}
