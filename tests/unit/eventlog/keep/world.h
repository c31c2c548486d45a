/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subscriptions of a daemon, a source of blocks for one of them, and the messages to the
 * parent.
 */
#ifndef TESTS_UNIT_EVENTLOG_KEEP_WORLD_H
#define TESTS_UNIT_EVENTLOG_KEEP_WORLD_H

#include "eventlog/keep/keeps.h"

#include <check.h>

#define WAIT_MAX_NS (20 * NSEC_PER_SEC)
#define OWNER "omig:tool-observe//u"
#define MIB (UINT64_C(1) << 20)

extern char dir[32];
extern struct loop *l;
extern struct keeps *ks;
extern struct keeps_all all;
extern uint64_t seq; /* number of the next block */

/* Blocks that were received, of one stream. */
extern struct seen {
	uint64_t stream, place, messages, blocks, events, lost, ends, due, settled, reported, made,
		gone, given;
	bool refuses;
	int full;
} seen;

#define WAIT_FOR(expr)                                      \
	do {                                                \
		nsec_t end_ = clock_mono() + WAIT_MAX_NS;   \
		while (!(expr) && clock_mono() < end_)      \
			loop_wait(l, 100 * NSEC_PER_MSEC);  \
		ck_assert_msg(expr, "not in time: " #expr); \
	} while (0)

/* Run before and after each test. */
void set_up(void);
void clean_up(void);

void start(void); /* starts the daemon again */

void open_as(const char *name, const char *owner, uint64_t stream, uint32_t policy, bool ending);
void open_it(uint64_t stream); /* Opens "run7". */
void ack(uint64_t stream, uint64_t place);
struct keep *run7(void);

/*
 * Appends a block with ten events and so many bytes after its head. Returns the result of
 * keep_append().
 */
int append(size_t body);

bool is_there(const char *name); /* True if the file is in the daemon's directory. */

#endif
