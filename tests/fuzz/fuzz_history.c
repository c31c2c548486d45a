/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of jobs from any bytes. Each accepted sample is within its limits. A fuzzer cannot find
 * the checksum of a block: the input is also used as records of a valid block.
 */
#include "common/base/hash.h"
#include "mainsm/history/sample.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void on_job(void *arg, const struct history_job *j)
{
	if (j->ncall > HISTORY_CALLS_MAX || j->span_ms < 0 || j->alive < 0 || j->exit_status < -1)
		abort();
	for (size_t i = 0; i < j->ncall; i++)
		if (!j->call[i].name[0] && strlen(j->call[i].class) > EV_RECORD_MAX_BYTES)
			abort();
}

static void on_ranks(void *arg, const struct history_ranks *r)
{
	if (r->n > HISTORY_RANKS_EACH_MAX)
		abort();
	for (size_t i = 1; i < r->n; i++)
		if (r->rank[i].rank <= r->rank[i - 1].rank)
			abort();
}

static void read_all(const uint8_t *p, size_t n)
{
	const struct history_visit visit = { on_job, on_ranks, NULL };
	struct history_reader *r = history_reader_new(&visit);

	if (r)
		history_read(r, p, n);
	history_reader_free(r);
}

/* Uses the input as the records of a block with a valid head. */
static void read_block(const uint8_t *p, size_t n)
{
	static uint8_t block[EVBLOCK_MAX_BYTES];
	struct evblock head = { .version = EVBLOCK_VERSION, .stream = 1 };

	n &= ~(size_t)3;
	if (n > sizeof(block) - EVBLOCK_HEAD_BYTES)
		return;
	head.bytes = (uint32_t)(EVBLOCK_HEAD_BYTES + n);
	head.crc = hash_crc32c(0, p, n);
	evblock_encode(&head, block);
	memcpy(block + EVBLOCK_HEAD_BYTES, p, n);
	read_all(block, head.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	read_all(p, n);
	read_block(p, n);
	if (n > EVBLOCK_HEAD_BYTES)
		read_block(p + EVBLOCK_HEAD_BYTES, n - EVBLOCK_HEAD_BYTES);
	return 0;
}
