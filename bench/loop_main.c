/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-loop PACE: a rank over an MPI that does nothing. It passes the probe bench_loop at the rate
 * of the file PACE (bench/pace.h). The passes are even down to a millisecond, and make up for
 * delays. bench-tick is the same with an event of omig/event.h instead of the probe.
 */
#include "bench/bench.h"
#include "bench/pace.h"
#ifdef BENCH_TICK
#include <omig/event.h>
OMIG_EVENT(bench_tick, "bench.tick", OMIG_INFO, (int64, number))
#else
#include "bench/bench_probes.h"
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS 1000000
#define LOOK_NS 20000000 /* slow ones poll for a new pace meanwhile */
#define BEHIND_MAX_NS 50000000 /* more is not made up for: a ring would overflow */
#define NS INT64_C(1000000000)

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);

static const struct pace *pace;

static int64_t get(const int64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void wait_until(int64_t ns)
{
	const struct timespec t = { .tv_sec = ns / NS, .tv_nsec = ns % NS };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		continue;
}

static void come_by(long vt)
{
#ifdef BENCH_TICK
	omig_event(bench_tick, vt);
#else
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	bench_loop(vt, (double)t.tv_sec + (double)t.tv_nsec / 1e9);
#endif
}

/* Runs until the pace changes. Returns the next virtual time. */
static long loop(long vt, int64_t turn, int64_t rate)
{
	int64_t begin = bench_now(), done = 0;

	while (get(&pace->turn) == turn && get(&pace->go) > 0) {
		int64_t now = bench_now(),
			due = (now - begin) / NS * rate + (now - begin) % NS * rate / NS;
		int64_t next = begin + (done + 1) * (NS / rate);

		if (due - done > BEHIND_MAX_NS / 1000 * rate / (NS / 1000) + 1)
			done = due - 1;
		for (; done < due; done++)
			come_by(vt++);
		next = rate > NS / TICK_NS ? now + TICK_NS : next;
		wait_until(next < now + LOOK_NS ? next : now + LOOK_NS);
	}
	return vt;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	long vt = 1;

	if (fd < 0)
		bench_fail("bench-loop PACE");
	pace = mmap(NULL, sizeof(*pace), PROT_READ, MAP_SHARED, fd, 0);
	if (pace == MAP_FAILED)
		bench_fail("cannot see the pace");
	while (!get(&pace->go))
		wait_until(bench_now() + LOOK_NS);
	MPI_Init(&argc, &argv);
	while (get(&pace->go) > 0) {
		int64_t turn = get(&pace->turn), rate = get(&pace->rate);

		if (rate > 0)
			vt = loop(vt, turn, rate);
		else
			wait_until(bench_now() + LOOK_NS);
	}
	return MPI_Finalize();
}
