/* SPDX-License-Identifier: Apache-2.0 */
/* Segments with false contents: none of them harms the lm or other processes. */
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct world w;
static struct fake_segment bad, good;

static void open_ranks(void)
{
	world_open(&w);
	world_add_rank(&w, &bad, 100, 0, NULL);
	world_add_rank(&w, &good, 200, 1, NULL);
	world_arm(&w, "c_5", "thread_has_started_lib_call([n_7],\"MPI_Send\"): print([1])", 0,
		  true);
	above_skip_all(&w.mainsm);
}

static void close_ranks(void)
{
	world_close(&w);
	fake_segment_close(&bad);
	fake_segment_close(&good);
}

static void send_from(struct fake_segment *s)
{
	fake_segment_call(s, &(struct fake_call){ .name = "MPI_Send", .partner = 1 });
}

static uint64_t *ring_word(uint64_t at)
{
	struct seg_thread *t = fake_segment_thread(&bad, 0);

	return (uint64_t *)(void *)((uint8_t *)t + bad.h->ring_offset + at % bad.h->ring_bytes);
}

/* The violator is detached in the same poll; the values of the other process are exact. */
static void assert_detached(void)
{
	unsigned n = 0;

	for (int i = 0; i < 7; i++)
		send_from(&good);
	world_run(&w, CSRS_POLL_NS + 5 * MS);
	while (above_next(&w.mainsm, MSG_TRIGGERED))
		n++;
	ck_assert_uint_eq(n, 7);
	ck_assert_uint_eq(procs_detached(w.lm->procs), 1);
	ck_assert_ptr_null(procs_find_pid(w.lm->procs, 100)->seg);
	ck_assert_ptr_nonnull(procs_find_pid(w.lm->procs, 200)->seg);
	close_ranks();
}

TEST(more_in_the_ring_than_fits)
{
	open_ranks();
	fake_segment_thread(&bad, 0)->ring_head = bad.h->ring_bytes + 8;
	assert_detached();
}

TEST(the_writer_behind_the_reader)
{
	open_ranks();
	send_from(&bad);
	world_run(&w, 20 * MS);
	above_skip_all(&w.mainsm);
	fake_segment_thread(&bad, 0)->ring_head -= 8;
	assert_detached();
}

TEST(a_record_without_length)
{
	open_ranks();
	*ring_word(0) = RING_WORD(0, RING_CALL);
	fake_segment_thread(&bad, 0)->ring_head = 64;
	assert_detached();
}

TEST(a_record_of_four_gigabytes)
{
	open_ranks();
	*ring_word(0) = RING_WORD(0xffffffff, RING_CALL);
	fake_segment_thread(&bad, 0)->ring_head = 64;
	assert_detached();
}

TEST(a_record_across_the_end)
{
	uint64_t at;

	open_ranks();
	at = bad.h->ring_bytes - 32;
	fake_segment_thread(&bad, 0)->ring_head = fake_segment_thread(&bad, 0)->ring_tail = at;
	world_run(&w, 20 * MS);
	*ring_word(at) = RING_WORD(96, RING_CALL);
	fake_segment_thread(&bad, 0)->ring_head = at + 96;
	assert_detached();
}

TEST(a_record_of_no_known_type_or_function)
{
	open_ranks();
	*ring_word(0) = RING_WORD(32, RING_CALL);
	ring_word(0)[2] = 0xffff; /* function */
	fake_segment_thread(&bad, 0)->ring_head = 32;
	assert_detached();
}

/* Any memory may hold anything at any time: nothing crashes, and the neighbour is exact. */
static void *vandal(void *arg)
{
	atomic_bool *stop = arg;
	uint64_t x = 88172645463325252u, words = bad.bytes / 8;

	while (!atomic_load(stop)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		/* Not the magic: a segment that is in use is not examined there. */
		__atomic_store_n((uint64_t *)(void *)bad.base + 1 + x % (words - 1),
				 x * 2685821657736338717u, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST(a_segment_that_changes_while_it_is_read_does_no_harm)
{
	atomic_bool stop = false;
	pthread_t thread;
	unsigned n = 0;

	open_ranks();
	world_ask(&w, OBSERVER, ":omig_calls_enable([n_7],\"partner\")");
	above_skip_all(&w.mainsm);
	ck_assert_int_eq(pthread_create(&thread, NULL, vandal, &stop), 0);
	for (int i = 0; i < 100; i++) {
		send_from(&good);
		world_run(&w, CSRS_POLL_NS);
		world_ask(&w, OBSERVER, ":omig_calls_read([n_7],2) omig_status()");
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	for (size_t i = 0; i < w.mainsm.got.n; i++)
		if (w.mainsm.got.m[i]->type == MSG_TRIGGERED)
			n += !strcmp(w.mainsm.got.m[i]->triggered.proc, world_token(&w, 200));
	ck_assert_uint_eq(n, 100);
	ck_assert_ptr_nonnull(procs_find_pid(w.lm->procs, 200)->seg);
	close_ranks();
}

/* --- descriptors passed instead of a segment */

static uint64_t refused_with(int fd)
{
	struct registration_stats before, after;

	ck_assert_int_ge(fd, 0);
	registration_stats(w.lm->registration, &before);
	ck_assert_int_lt(registration_segment(w.lm->registration, fd, 100, false), 0);
	world_run(&w, REGISTRATION_RETRY_NS * (REGISTRATION_RETRIES_MAX + 2));
	registration_stats(w.lm->registration, &after);
	ck_assert_uint_eq(after.taken, before.taken);
	return after.refused - before.refused;
}

static int sealed(off_t bytes, int seals)
{
	int fd = memfd_create("omig-testtest", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_eq(ftruncate(fd, bytes), 0);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

TEST(only_a_sealed_memfd_is_mapped)
{
	const int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	int pipe_fd[2];
	char path[] = "/tmp/omig-test-XXXXXX";

	world_open(&w);
	fake_proc_add(&w.host, 100, "liar");
	ck_assert_uint_eq(refused_with(sealed(1 << 20, F_SEAL_SHRINK | F_SEAL_GROW)), 1);
	ck_assert_uint_eq(refused_with(sealed(1 << 20, F_SEAL_SHRINK | F_SEAL_SEAL)), 1);
	ck_assert_uint_eq(refused_with(sealed(1 << 20, F_SEAL_GROW | F_SEAL_SEAL)), 1);
	ck_assert_uint_eq(refused_with(sealed(0, all)), 1);
	ck_assert_uint_eq(refused_with(sealed(100, all)), 1);
	ck_assert_uint_eq(refused_with(sealed((off_t)1 << 40, all)), 1);
	ck_assert_uint_eq(refused_with(open("/dev/zero", O_RDWR)), 1);
	ck_assert_uint_eq(refused_with(open("/tmp", O_RDONLY | O_DIRECTORY)), 1);
	ck_assert_uint_eq(refused_with(mkstemp(path)), 1);
	unlink(path);
	ck_assert_int_eq(pipe(pipe_fd), 0);
	ck_assert_uint_eq(refused_with(pipe_fd[0]), 1);
	close(pipe_fd[1]);
	world_close(&w);
}

TEST(a_segment_that_is_never_set_up_is_given_up)
{
	world_open(&w);
	fake_proc_add(&w.host, 100, "lazy");
	fake_segment_open(&bad, 100, 0, 100);
	bad.h->magic = 0;
	ck_assert_uint_eq(refused_with(dup(bad.fd)), 1);
	fake_segment_close(&bad);
	world_close(&w);
}

static unsigned count_fds(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

TEST(segments_that_are_never_set_up_hold_few_descriptors)
{
	struct registration_stats s;
	unsigned before;

	world_open(&w);
	fake_proc_add(&w.host, 100, "lazy");
	fake_segment_open(&bad, 100, 0, 100);
	bad.h->magic = 0;
	before = count_fds();
	for (int i = 0; i < 500; i++)
		ck_assert_int_eq(registration_segment(w.lm->registration, dup(bad.fd), 100, false),
				 -ERR_AGAIN);
	ck_assert_uint_le(count_fds(), before + REGISTRATION_UNREADY_MAX);
	registration_stats(w.lm->registration, &s);
	ck_assert_uint_eq(s.refused, 500 - REGISTRATION_UNREADY_MAX);
	/* The last ones are those that have a chance. */
	bad.h->magic = SEG_MAGIC;
	world_run(&w, SEC);
	ck_assert_ptr_nonnull(procs_find_pid(w.lm->procs, 100));
	ck_assert_uint_eq(count_fds(), before);
	fake_segment_close(&bad);
	world_close(&w);
}

TEST(a_segment_that_is_set_up_late_is_taken)
{
	world_open(&w);
	fake_proc_add(&w.host, 100, "late");
	fake_segment_open(&bad, 100, 0, 100);
	bad.h->magic = 0;
	ck_assert_int_eq(registration_segment(w.lm->registration, dup(bad.fd), 100, false),
			 -ERR_AGAIN);
	bad.h->magic = SEG_MAGIC;
	world_run(&w, SEC);
	ck_assert_ptr_nonnull(procs_find_pid(w.lm->procs, 100));
	fake_segment_close(&bad);
	world_close(&w);
}

TEST(another_layout_or_nonsense_in_the_header_is_refused)
{
	world_open(&w);
	fake_proc_add(&w.host, 100, "liar");
	for (int i = 0; i < 8; i++) {
		fake_segment_open(&bad, 100, 0, 100);
		switch (i) {
		case 0:
			bad.h->version = SEG_VERSION + 1;
			break;
		case 1:
			bad.h->thread_offset = UINT64_MAX - 7;
			break;
		case 2:
			bad.h->thread_count = 1u << 30;
			break;
		case 3:
			bad.h->ring_bytes = 12345;
			break;
		case 4:
			bad.h->segment_bytes += 4096;
			break;
		case 5:
			bad.h->slot_offset = bad.h->thread_bytes;
			break;
		case 6:
			bad.h->magic = 1;
			break;
		default:
			bad.h->w.pid = 101; /* another one's */
			break;
		}
		ck_assert_msg(refused_with(dup(bad.fd)) == 1, "case %d", i);
		fake_segment_close(&bad);
	}
	world_close(&w);
}

TEST(a_punched_segment_reads_as_zeros)
{
	world_open(&w);
	world_add_rank(&w, &bad, 100, 0, NULL);
	ck_assert_int_eq(
		fallocate(bad.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)bad.bytes),
		0);
	world_arm(&w, "c_5", "thread_has_started_lib_call([n_7],\"MPI_Send\"): print([1])", 0,
		  true);
	world_ask(&w, OBSERVER, ":omig_calls_enable([n_7],\"partner\") omig_calls_read([n_7],2)");
	world_run(&w, 5 * SEC);
	world_close(&w);
	fake_segment_close(&bad);
}

SUITE("lm hostile segments")
