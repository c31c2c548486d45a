/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/store/each_fault.h"

#include "common/base/array.h"
#include "common/store/store.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>

#define OPS_MAX 400
#define SEEDS 6 /* variants of the disk after a crash of the machine */

static struct memdisk m;

static const struct {
	const char *name;
	enum memdisk_fault fault;
	int error;
	bool is_power;
} ways[] = {
	{ "fails", MEMDISK_FAIL, EIO, false },
	{ "finds no space", MEMDISK_FAIL, ENOSPC, false },
	{ "does half", MEMDISK_SHORT, 0, false },
	{ "is the last of the process", MEMDISK_CRASH, 0, false },
	{ "fails before power does", MEMDISK_FAIL, EIO, true },
	{ "is the last of the machine", MEMDISK_CRASH, 0, true },
};

/* False: the change has no such operation. */
static bool one(const struct kept_case *c, size_t way, uint64_t op, uint64_t seed)
{
	bool reached;
	enum kept_state got;
	int rc;

	memdisk_init(&m, seed);
	c->put_old(&m.disk);
	m.fault = ways[way].fault;
	m.error = ways[way].error;
	m.fault_at = m.ops + op;
	m.times = 1;
	rc = c->change(&m.disk);
	reached = m.ops >= m.fault_at;
	memdisk_crash(&m, ways[way].is_power);
	got = c->read(&m.disk);
	ck_assert_msg(got != KEPT_OTHER,
		      "%s: operation %d %s (seed %d): neither the old nor the new", c->name,
		      (int)op, ways[way].name, (int)seed);
	ck_assert_msg(rc || got == KEPT_NEW, "%s: operation %d %s (seed %d): done, and lost",
		      c->name, (int)op, ways[way].name, (int)seed);
	ck_assert_msg(!c->change(&m.disk) && c->read(&m.disk) == KEPT_NEW,
		      "%s: operation %d %s (seed %d): it cannot be changed afterwards", c->name,
		      (int)op, ways[way].name, (int)seed);
	memdisk_done(&m);
	return reached;
}

void each_fault(const struct kept_case *c)
{
	for (size_t way = 0; way < ARRAY_LEN(ways); way++) {
		uint64_t seeds = ways[way].is_power ? SEEDS : 1, op = 1;
		bool reached = true;

		if (ways[way].is_power && c->ends_with_boot)
			continue;
		for (; reached && op < OPS_MAX; op++)
			for (uint64_t seed = 1; seed <= seeds; seed++)
				reached = one(c, way, op, seed);
		ck_assert_msg(!reached && op > 2, "%s: %d operations", c->name, (int)op);
	}
}

void put_kept(const struct disk *disk, const char *path, const char *kind, const char *text)
{
	char what[32];
	struct store_kind k = { .what = what, .max_bytes = 1 << 20, .ends_with_boot = true };
	struct store s = STORE_INIT(&k, disk, path);
	struct buf b = BUF_INIT(1 << 20);
	struct err e = { 0 };

	ck_assert_int_eq(sscanf(kind, "%31s %u", what, &k.version), 2);
	buf_puts(&b, text);
	ck_assert_msg(!store_write(&s, &b, &e), "%s", e.text);
	buf_done(&b);
}
