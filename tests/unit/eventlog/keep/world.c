/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/eventlog/keep/world.h"

#include "common/base/hash.h"
#include "eventlog/evgap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char dir[32];
struct loop *l;
struct keeps *ks;
struct keeps_all all;
struct seen seen;
uint64_t seq;

static int send_up(void *arg, const struct msg *m)
{
	const struct msg_events *ev = &m->events;
	struct evblock b;
	struct evgap g;

	ck_assert_int_eq(m->type, MSG_EVENTS);
	if (seen.refuses)
		return -ERR_CLOSED;
	seen.stream = ev->stream;
	seen.place = ev->place;
	seen.messages++;
	seen.ends += ev->end;
	for (size_t at = 0; at < ev->blocks.n; at += b.bytes) {
		ck_assert_int_eq(evblock_look(ev->blocks.p + at, ev->blocks.n - at, &b),
				 EVBLOCK_GOOD);
		if (evgap_of(ev->blocks.p + at, &b, &g))
			seen.lost += g.end_first - g.first;
		else
			seen.events += b.events;
		ck_assert_uint_eq(g.seq, seen.due);
		seen.due = g.end_seq;
		seen.blocks++;
	}
	return 0;
}

static void on_request(void *arg, struct keep *k)
{
	seen.reported++;
}

static void on_settled(void *arg, struct keep *k, uint64_t n)
{
	seen.settled = n;
}

static void on_full(void *arg, struct keep *k, bool is_full)
{
	seen.full += is_full ? 1 : 100;
}

static void on_given(void *arg, struct keep *k, const uint8_t *p, size_t n)
{
	seen.given += n;
}

static void on_made(void *arg, struct keep *k)
{
	seen.made++;
}

static void on_gone(void *arg, struct keep *k)
{
	seen.gone++;
}

void start(void)
{
	const struct keeps_conf c = { .loop = l,
				      .dir = dir,
				      .max_bytes = 160 * MIB,
				      .all = &all,
				      .send = send_up,
				      .on_request = on_request,
				      .on_settled = on_settled,
				      .on_full = on_full,
				      .on_made = on_made,
				      .on_given = on_given,
				      .on_gone = on_gone };
	struct err e = { 0 };

	ck_assert_msg(!keeps_open(&c, &ks, &e), "%s", e.text);
}

void open_as(const char *name, const char *owner, uint64_t stream, uint32_t policy, bool ending)
{
	keeps_take(ks, &(struct msg){ .type = MSG_EVENTS_OPEN,
				      .events_open = { name, owner, stream, 4, policy,
						       policy == MSG_KEEP_STOP ? 2 * MIB : 8 * MIB,
						       600, ending } });
}

void open_it(uint64_t stream)
{
	open_as("run7", OWNER, stream, MSG_KEEP_DROP_OLDEST, false);
}

void ack(uint64_t stream, uint64_t place)
{
	keeps_take(ks, &(struct msg){ .type = MSG_EVENTS_ACK,
				      .events_ack = { "run7", stream, place } });
}

struct keep *run7(void)
{
	struct keep *k = keeps_find(ks, "run7");

	ck_assert_ptr_nonnull(k);
	return k;
}

int append(size_t body)
{
	static uint8_t p[EVBLOCK_MAX_BYTES];
	struct evblock b = { .version = EVBLOCK_VERSION,
			     .bytes = (uint32_t)(EVBLOCK_HEAD_BYTES + body),
			     .stream = 9,
			     .seq = seq,
			     .first = 10 * seq,
			     .events = 10 };

	b.crc = hash_crc32c(0, p + EVBLOCK_HEAD_BYTES, body);
	evblock_encode(&b, p);
	seq++;
	return keep_append(run7(), p, &b);
}

void set_up(void)
{
	/* In memory if there is such a file system, because these tests are not about the disk. */
	snprintf(dir, sizeof(dir), "%s/omig-keep-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	memset(&seen, 0, sizeof(seen));
	seq = 0;
	l = loop_new();
	start();
}

void clean_up(void)
{
	pid_t child;

	keeps_free(ks);
	loop_free(l);
	child = fork();
	if (!child)
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
	waitpid(child, NULL, 0);
}

bool is_there(const char *name)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !lstat(path, &st);
}
