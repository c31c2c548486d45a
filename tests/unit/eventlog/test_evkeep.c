/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/evgap.h"
#include "eventlog/evkeep.h"
#include "tests/suite.h"
#include "tests/unit/eventlog/made.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

static char path[64];

static void new_file(void)
{
	snprintf(path, sizeof(path), "/tmp/omig-test-%ld.olog", (long)getpid());
	unlink(path);
}

static off_t file_size(void)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_size;
}

/* Blocks of b from byte `from` to `to` as far as they are new. How many were. */
static unsigned put_blocks(struct evkeep *k, struct evbalance *balance, const struct buf *b,
			   size_t from, size_t to)
{
	struct evbalance_stream *of;
	struct evblock head;
	unsigned n = 0;

	for (size_t at = from; at < to; at += head.bytes) {
		ck_assert_int_eq(evblock_look(b->p + at, b->n - at, &head), EVBLOCK_GOOD);
		if (evbalance_block(balance, b->p + at, &head, &of, NULL) != 1)
			continue;
		n++;
		if (k)
			ck_assert_int_eq(evkeep_put(k, b->p + at, head.bytes, NULL), 0);
	}
	return n;
}

static struct evkeep *open_file(struct evbalance *balance)
{
	struct evkeep *k;
	struct err e = { 0 };

	evbalance_init(balance);
	ck_assert_msg(!evkeep_open(path, balance, &k, &e), "%s", e.text);
	return k;
}

static void is_whole(const struct buf *b)
{
	static uint8_t has[1 << 20];
	FILE *f = fopen(path, "r");

	ck_assert_uint_eq(fread(has, 1, sizeof(has), f), b->n);
	ck_assert(!memcmp(has, b->p, b->n));
	fclose(f);
}

/* A process that is killed at any byte continues, with all blocks sent again. */
TEST(a_file_that_was_cut_anywhere_is_whole_again)
{
	struct buf b;
	struct evbalance balance;
	struct evkeep *k;

	new_file();
	made_many(&b, 7, 0, 40, 256);
	for (size_t cut = 0; cut <= b.n; cut += 19) {
		k = open_file(&balance);
		put_blocks(k, &balance, &b, 0, b.n);
		ck_assert_int_eq(evkeep_commit(k, NULL), 0);
		evkeep_close(k);
		evbalance_done(&balance);
		is_whole(&b);
		ck_assert_int_eq(truncate(path, (off_t)cut), 0);
	}
	buf_done(&b);
	unlink(path);
}

TEST(good_blocks_behind_a_torn_one_stay)
{
	struct buf b, more;
	struct evbalance balance;
	struct evbalance_totals t;
	off_t size;
	int fd;

	new_file();
	made_many(&b, 7, 0, 100, 1024);
	made_many(&more, 8, 0, 10, 1024);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(write(fd, b.p, b.n - 10), (ssize_t)(b.n - 10));
	ck_assert_int_eq(write(fd, more.p, more.n), (ssize_t)more.n);
	close(fd);
	size = file_size();
	evkeep_close(open_file(&balance));
	ck_assert_int_eq(file_size(), size);
	evbalance_totals(&balance, &t);
	ck_assert_uint_eq(t.streams, 2);
	ck_assert_uint_ge(t.stored, 10);
	evbalance_done(&balance);
	buf_done(&b);
	buf_done(&more);
	unlink(path);
}

TEST(a_file_of_another_kind_is_unchanged)
{
	static const char text[] = "a letter to somebody";
	struct evbalance balance;
	struct evkeep *k;
	int fd;

	new_file();
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(write(fd, text, sizeof(text)), sizeof(text));
	close(fd);
	evbalance_init(&balance);
	ck_assert_int_eq(evkeep_open(path, &balance, &k, NULL), -ERR_INVALID);
	ck_assert_int_eq(evkeep_open("/dev/null", &balance, &k, NULL), -ERR_INVALID);
	ck_assert_int_eq(evkeep_open("/proc/nowhere/at/all", &balance, &k, NULL), -ERR_NOTFOUND);
	ck_assert_int_eq(file_size(), sizeof(text));
	unlink(path);
	k = open_file(&balance);
	ck_assert_int_eq(evkeep_open(path, &balance, &(struct evkeep *){ NULL }, NULL), -ERR_AGAIN);
	evkeep_close(k);
	evbalance_done(&balance);
	unlink(path);
}

TEST(without_space_what_was_safe_stays)
{
	struct rlimit was, little;
	struct buf b;
	struct evbalance balance;
	struct evkeep *k;
	size_t half = 0;
	struct evblock head;

	new_file();
	made_many(&b, 7, 0, 4000, 1024);
	while (half < b.n / 2 && evblock_look(b.p + half, b.n - half, &head) == EVBLOCK_GOOD)
		half += head.bytes;
	sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	getrlimit(RLIMIT_FSIZE, &was);
	little = (struct rlimit){ half + 100, was.rlim_max };
	k = open_file(&balance);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
	put_blocks(k, &balance, &b, 0, half);
	ck_assert_int_eq(evkeep_commit(k, NULL), 0);
	put_blocks(k, &balance, &b, half, b.n);
	ck_assert_int_eq(evkeep_commit(k, NULL), -ERR_SYS);
	ck_assert_int_eq(evkeep_put(k, b.p, 64, NULL), -ERR_CLOSED);
	setrlimit(RLIMIT_FSIZE, &was);
	evkeep_close(k);
	evbalance_done(&balance);
	ck_assert_int_eq(file_size(), half);
	k = open_file(&balance);
	ck_assert_uint_gt(put_blocks(k, &balance, &b, 0, b.n), 0);
	ck_assert_int_eq(evkeep_commit(k, NULL), 0);
	evkeep_close(k);
	evbalance_done(&balance);
	is_whole(&b);
	buf_done(&b);
	unlink(path);
}

/* --- the balance */

static void gap(struct evbalance *b, const struct evgap *g, int expected)
{
	struct evbalance_stream *of;
	struct evblock head;
	uint8_t p[EVGAP_BLOCK_BYTES];

	evgap_encode(g, p);
	ck_assert_int_eq(evblock_look(p, sizeof(p), &head), EVBLOCK_GOOD);
	ck_assert_int_eq(evbalance_block(b, p, &head, &of, NULL), expected);
}

static void totals_are(const struct evbalance *b, struct evbalance_totals expected)
{
	struct evbalance_totals t;

	evbalance_totals(b, &t);
	ck_assert_uint_eq(t.generated, expected.generated);
	ck_assert_uint_eq(t.stored, expected.stored);
	ck_assert_uint_eq(t.dropped, expected.dropped);
	ck_assert_uint_eq(t.lost, expected.lost);
	ck_assert_uint_eq(t.open, expected.open);
	ck_assert_uint_eq(t.generated, t.stored + t.left_out + t.dropped + t.lost);
}

TEST(each_generated_event_is_stored_or_lost)
{
	struct buf b;
	struct evbalance balance;
	struct evblock head[3];
	size_t at[3], n = 0;

	made_many(&b, 7, 0, 60, 512);
	for (unsigned i = 0; i < 3; i++, n += head[i - 1].bytes) {
		at[i] = n;
		ck_assert_int_eq(evblock_look(b.p + n, b.n - n, &head[i]), EVBLOCK_GOOD);
	}
	evbalance_init(&balance);
	ck_assert_uint_eq(put_blocks(NULL, &balance, &b, at[0], at[1]), 1);
	totals_are(&balance, (struct evbalance_totals){ .generated = head[0].events,
							.stored = head[0].events,
							.open = 1 });
	ck_assert_uint_eq(put_blocks(NULL, &balance, &b, at[0], at[1]), 0);
	ck_assert_uint_eq(put_blocks(NULL, &balance, &b, at[2], at[2] + head[2].bytes), 1);
	totals_are(&balance, (struct evbalance_totals){ .generated = head[2].first + head[2].events,
							.stored = head[0].events + head[2].events,
							.lost = head[1].events,
							.open = 1 });
	/* late: it is reported as lost already */
	ck_assert_uint_eq(put_blocks(NULL, &balance, &b, at[1], at[2]), 0);
	gap(&balance,
	    &(struct evgap){ .stream = 7,
			     .seq = 3,
			     .end_seq = 5,
			     .first = head[2].first + head[2].events,
			     .end_first = 1000,
			     .dropped = 40 },
	    1);
	gap(&balance,
	    &(struct evgap){ .stream = 7,
			     .seq = 3,
			     .end_seq = 5,
			     .first = head[2].first + head[2].events,
			     .end_first = 1000,
			     .dropped = 40 },
	    0);
	gap(&balance,
	    &(struct evgap){ .stream = 7,
			     .seq = 3,
			     .end_seq = 6,
			     .first = head[2].first + head[2].events,
			     .end_first = 1010,
			     .dropped = 50,
			     .is_last = true },
	    1); /* it grew */
	totals_are(&balance,
		   (struct evbalance_totals){ .generated = 1060,
					      .stored = head[0].events + head[2].events,
					      .dropped = 50,
					      .lost = 1010 - head[0].events - head[2].events });
	evbalance_done(&balance);
	buf_done(&b);
}

TEST(a_balance_is_saved_and_continues)
{
	struct buf b;
	struct evbalance one, other;
	struct evbalance_totals t;

	made_many(&b, 7, 0, 60, 512);
	evbalance_init(&one);
	evbalance_init(&other);
	put_blocks(NULL, &one, &b, 0, b.n);
	evbalance_left_out(one.changed, 5);
	ck_assert_int_eq(evbalance_restore(&other, one.changed, NULL), 0);
	ck_assert_int_eq(evbalance_restore(&other, one.changed, NULL), -ERR_INVALID);
	evbalance_saved(&one);
	ck_assert_ptr_null(one.changed);
	ck_assert_ptr_null(other.changed);
	ck_assert_uint_eq(put_blocks(NULL, &other, &b, 0, b.n), 0);
	evbalance_totals(&other, &t);
	ck_assert_uint_eq(t.stored, 55);
	ck_assert_uint_eq(t.left_out, 5);
	ck_assert_int_eq(
		evbalance_restore(&one,
				  &(struct evbalance_stream){
					  .id = 9, .first = 10, .stored = 8, .left_out = 3 },
				  NULL),
		-ERR_INVALID);
	evbalance_done(&one);
	evbalance_done(&other);
	buf_done(&b);
}

SUITE("evkeep")
