/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ranks that switch hooks and install actions in their own segments, as an lm would, and check
 * the results: partners, events, actions in the rank, sampling, MPI_Pcontrol, delays, errors,
 * errno. Prints errors; exit status 1 then.
 */
#include "bench/self.h"
#include "common/ring/calls.h"
#include "common/ring/calls_id.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct segview *v;
static int rank, failed;
static MPI_Comm swapped; /* the two ranks the other way round */

#define IS(have, want)                                                                           \
	do {                                                                                     \
		long long have_ = (long long)(have), want_ = (long long)(want);                  \
		if (have_ != want_) {                                                            \
			printf("rank %d line %d: %s is %lld, not %lld\n", rank, __LINE__, #have, \
			       have_, want_);                                                    \
			failed = 1;                                                              \
		}                                                                                \
	} while (0)
#define HOLDS(what) IS(!!(what), 1)

static void all_hooks(uint32_t word)
{
	for (unsigned f = 0; f < segview_funcs(v); f++)
		segview_hook_set(v, f, word, 0);
}

static struct segview_call total(unsigned func)
{
	struct segview_call c;

	segview_call(v, SEGVIEW_ALL, func, 0, &c);
	return c;
}

/* One message from rank 0 to rank 1 of world, addressed through `comm`. */
static void message(MPI_Comm comm, int any)
{
	int data[10] = { 0 }, peer = comm == swapped ? rank : !rank;

	if (rank == 0)
		MPI_Send(data, 3, MPI_INT, peer, 5, comm);
	else
		MPI_Recv(data, 10, MPI_INT, any ? MPI_ANY_SOURCE : peer, 5, comm,
			 MPI_STATUS_IGNORE);
}

/* --- partners are world ranks for any communicator */

static struct segview_partner found[8];
static int nfound;

static void on_partner(void *arg, const struct segview_partner *p)
{
	if (nfound < 8)
		found[nfound++] = *p;
}

static void partners(void)
{
	all_hooks(HOOK_COUNT | HOOK_PARTNER);
	message(MPI_COMM_WORLD, 0);
	message(swapped, 0);
	message(swapped, 1);
	all_hooks(0);
	segview_partners(v, 0, on_partner, NULL);
	IS(nfound, 1);
	IS(found[0].func, rank ? CALL_ID_Recv : CALL_ID_Send);
	IS(found[0].rank, !rank);
	IS(found[0].count, 3);
	IS(found[0].bytes_out, rank ? 0 : 36);
	IS(found[0].bytes_in, rank ? 36 : 0);
}

/* A persistent receive that was not started has received nothing, however often it is waited
 * for. */
static void partners_of_what_was_not_started(void)
{
	MPI_Request r = MPI_REQUEST_NULL;
	uint64_t in = 0;
	int x, flag;

	nfound = 0;
	all_hooks(HOOK_COUNT | HOOK_VOLUME | HOOK_PARTNER);
	MPI_Recv_init(&x, 1, MPI_INT, !rank, 6, MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
	MPI_Waitall(1, &r, MPI_STATUSES_IGNORE);
	all_hooks(0);
	PMPI_Request_free(&r);
	segview_partners(v, 0, on_partner, NULL);
	for (int i = 0; i < nfound; i++)
		in += found[i].bytes_in;
	IS(nfound, 2); /* one event of partners(), one of the call that created the communicator */
	IS(in, rank ? 36 : 0); /* of partners() */
}

/* --- events */

static int64_t event[8][RING_PAR_MAX];
static int nevent, npar[8], phase[8];

static void on_event(void *arg, const struct ring_call *c)
{
	if (nevent == 8)
		return;
	memcpy(event[nevent], c->par, c->npar * 8u);
	npar[nevent] = c->npar;
	phase[nevent++] = c->phase;
	HOLDS(c->ticks);
	IS(c->tid, getpid());
}

static void events(void)
{
	segview_hook_set(v, CALL_ID_Send, HOOK_EVENT_START | HOOK_EVENT_END, 0);
	segview_hook_set(v, CALL_ID_Recv, HOOK_EVENT_START | HOOK_EVENT_END, 0);
	message(swapped, 1);
	all_hooks(0);
	IS(segview_events(v, 0, 100, on_event, NULL), 2);
	IS(phase[0], CALL_START);
	IS(phase[1], CALL_END);
	IS(event[0][0], rank);
	IS(event[0][2], rank ? 10 : 3); /* count */
	IS(event[0][5], 5); /* tag */
	IS(npar[0], rank ? 8 : 9);
	if (rank == 0)
		IS(event[0][7], 12); /* length */
	/* any source has no rank yet */
	IS(event[0][rank ? 7 : 8], rank ? CALL_PARTNER_UNKNOWN : 1);
	IS(npar[1], 4);
	IS(event[1][1], MPI_SUCCESS);
	IS(event[1][2], !rank); /* the source is known at the end */
	IS(event[1][3], 12);
}

static void events_with_nobody(void)
{
	nevent = 0;
	segview_hook_set(v, CALL_ID_Send, HOOK_EVENT_START, 0);
	MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
	all_hooks(0);
	IS(segview_events(v, 0, 100, on_event, NULL), 1);
	IS(event[0][8], CALL_PARTNER_NONE);
}

/* --- actions in the rank */

static void install(struct seg_action a, int32_t partner)
{
	unsigned index;

	a.flags = ACTION_PATOP;
	a.partner_count = partner >= 0;
	if (a.op == ACTION_COUNTER_ADD && a.value == 0)
		a.operand = ACTION_VOLUME;
	IS(segview_action_add(v, &a, &partner, NULL, &index), 0);
}

static void actions(void)
{
	unsigned f = rank ? CALL_ID_Recv : CALL_ID_Send;
	struct segview_cell c;

	install((struct seg_action){ .func = f,
				     .phase = CALL_START,
				     .op = ACTION_COUNTER_ADD,
				     .cell = 1,
				     .value = 1 },
		-1);
	install((struct seg_action){ .func = f,
				     .phase = CALL_END,
				     .op = ACTION_COUNTER_ADD,
				     .cell = 2,
				     .value = 0 },
		!rank);
	install((struct seg_action){ .func = f,
				     .phase = CALL_END,
				     .op = ACTION_COUNTER_ADD,
				     .cell = 3,
				     .value = 1 },
		7); /* the world has no such rank */
	install((struct seg_action){ .func = f,
				     .phase = CALL_START,
				     .op = ACTION_PATOP_INTEGRATOR_ADD,
				     .cell = 4,
				     .value = 1 },
		!rank);
	install((struct seg_action){ .func = f,
				     .phase = CALL_END,
				     .op = ACTION_PATOP_INTEGRATOR_ADD,
				     .cell = 4,
				     .value = -1 },
		!rank);
	segview_hook_set(v, f, HOOK_ACTION_START | HOOK_ACTION_END, 0);
	for (int i = 0; i < 5; i++)
		message(i % 2 ? swapped : MPI_COMM_WORLD, i > 2);
	all_hooks(0);
	segview_counter(v, SEGVIEW_ALL, 1, &c);
	IS(c.n, 5);
	segview_counter(v, SEGVIEW_ALL, 2, &c);
	IS(c.n, 60);
	segview_counter(v, SEGVIEW_ALL, 3, &c);
	IS(c.n, 0);
	segview_integrator(v, SEGVIEW_ALL, 4, UINT64_MAX, &c);
	HOLDS(c.integral > 0);
	IS(c.v, 0); /* also for a call that began with any source */
	segview_reset(v);
	message(MPI_COMM_WORLD, 0);
	segview_counter(v, SEGVIEW_ALL, 1, &c);
	IS(c.n, 5);
}

/* --- delay, open calls, sampling */

/*
 * Measures a barrier in which rank 1 waits for rank 0. Returns true if its delay is nearly the time
 * that rank 1 measured.
 */
static int delay_once(const struct ticks_scale *scale)
{
	struct segview_call before = total(CALL_ID_Barrier);
	nsec_t begin, took, delay;

	PMPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		usleep(20000);
	begin = clock_mono();
	MPI_Barrier(MPI_COMM_WORLD);
	took = clock_mono() - begin;
	delay = ticks_delta_to_nsec(scale, total(CALL_ID_Barrier).delay - before.delay);
	IS(total(CALL_ID_Barrier).count - before.count, 1);
	IS(total(CALL_ID_Barrier).in_call, 0);
	HOLDS(delay <= took + took / 50 + 1000); /* the error of the calibration */
	return rank == 0 || delay >= took * 9 / 10;
}

static void delays(void)
{
	struct ticks_scale scale;
	int good = 0;

	IS(ticks_calibrate(&scale, ticks_source_best(), 20000000), 0);
	all_hooks(HOOK_COUNT | HOOK_TIME);
	/*
	 * On a busy machine a process may be descheduled between two clock reads: one success is
	 * enough.
	 */
	for (int i = 0; i < 50 && !good; i++) {
		good = delay_once(&scale);
		PMPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	}
	HOLDS(good);
	all_hooks(0);
}

static void sampling(void)
{
	struct segview_call before = total(CALL_ID_Iprobe), c;
	double mean_all, mean_sampled;
	int flag;

	all_hooks(HOOK_COUNT | HOOK_TIME);
	for (int i = 0; i < 100000; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	c = total(CALL_ID_Iprobe);
	IS(c.sampled - before.sampled, 100000);
	mean_all = (double)(c.delay - before.delay) / 100000;
	before = c;
	all_hooks(HOOK_COUNT | HOOK_TIME | 4 << HOOK_SAMPLE_SHIFT);
	for (int i = 0; i < 400000; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	all_hooks(0);
	c = total(CALL_ID_Iprobe);
	IS(c.count - before.count, 400000);
	/* 25,000 expected; the deviation is 153. */
	HOLDS(c.sampled - before.sampled > 23500 && c.sampled - before.sampled < 26500);
	mean_sampled = (double)(c.delay - before.delay) / 400000;
	HOLDS(mean_sampled > 0 && mean_all > 0);
}

/* --- the program's own setting, errors, errno */

static void pcontrol(void)
{
	struct segview_call before = total(CALL_ID_Barrier);
	struct seg_own own;

	all_hooks(HOOK_COUNT);
	MPI_Pcontrol(0);
	MPI_Barrier(MPI_COMM_WORLD);
	segview_own(v, &own);
	IS(own.pcontrol, 0);
	IS(total(CALL_ID_Barrier).count, before.count);
	MPI_Pcontrol(1);
	MPI_Pcontrol(2);
	MPI_Barrier(MPI_COMM_WORLD);
	IS(total(CALL_ID_Barrier).count, before.count + 1);
	all_hooks(0);
}

static void errors(void)
{
	struct segview_call before;
	int x = 0, rc_bare, rc;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	before = total(CALL_ID_Send);
	rc_bare = PMPI_Send(&x, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
	all_hooks(0xff);
	rc = MPI_Send(&x, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
	HOLDS(rc != MPI_SUCCESS);
	MPI_Error_class(rc_bare, &rc_bare);
	MPI_Error_class(rc, &rc);
	IS(rc, rc_bare);
	IS(total(CALL_ID_Send).count, before.count + 1);
	IS(total(CALL_ID_Send).bytes_out, before.bytes_out); /* nothing was sent */
	errno = 4711;
	MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_SELF, &x, MPI_STATUS_IGNORE);
	IS(errno, 4711);
	all_hooks(0);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	v = self_open();
	if (!v) {
		printf("not watched\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	PMPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &swapped);
	partners();
	partners_of_what_was_not_started();
	events();
	events_with_nobody();
	actions();
	delays();
	sampling();
	pcontrol();
	errors();
	segview_free(v);
	MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	MPI_Finalize();
	return failed;
}
