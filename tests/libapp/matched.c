/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that send and receive in all modes, and take the vertices out of their own segments. Each
 * message carries a serial number. matched FILE writes lines "S SERIAL ID UNCERTAIN" for sends and
 * "R SERIAL ID UNCERTAIN" for receives to FILE.RANK. The ids of a serial number must be the same.
 * With the argument "threads", threads send and receive at once.
 */
#include "bench/self.h"
#include "common/base/clock.h"

#include <mpi.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY 20000 /* messages of one phase and rank */
#define EACH 12 /* messages of a channel in one phase */
#define TAGS 3
#define THREADS 3

struct message {
	long long serial;
	int step; /* as expected: the result of the program does not change */
};

/* The messages of one thread, in its order. */
struct book {
	long long sent[MANY], received[MANY];
	uint64_t sent_at[MANY], received_at[MANY];
	int nsent, nreceived, tid;
};
struct vertex {
	uint64_t ticks, id;
	int uncertain;
};

static struct segview *v;
static int rank, size, failed;
static int number[2] = { -1, -1 }; /* of the types: sends, receives */
static struct vertex seen[2][MANY];
static int nseen[2], nlost[2], nmessages[2], nvertices[2], has_threads;
static long long serials;
static struct book books[THREADS + 1];
static FILE *out;
static uint64_t dice;
static enum ticks_source ticks;

static int roll(void)
{
	dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int)(dice >> 33) & 0xffff;
}

static void fail(const char *what)
{
	fprintf(stderr, "matched: rank %d: %s\n", rank, what);
	failed = 1;
}

static struct message next(struct book *b)
{
	struct message m = {
		(long long)rank << 40 | __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED), 7
	};

	b->sent_at[b->nsent] = ticks_now(ticks);
	b->sent[b->nsent++] = m.serial;
	return m;
}

static void got(struct book *b, const struct message *m)
{
	if (m->step != 7)
		fail("a message with other contents");
	b->received_at[b->nreceived] = ticks_now(ticks);
	b->received[b->nreceived++] = m->serial;
}

/* --- records */

static void on_event(void *arg, const struct segview_event *e)
{
	(void)arg;
	for (int k = 0; k < 2; k++) {
		struct vertex *x = &seen[k][nseen[k]];

		if ((int)e->number != number[k] || e->n != 16)
			continue;
		x->ticks = e->ticks;
		memcpy(&x->id, e->value, 8);
		memcpy(&x->uncertain, e->value + 12, 4);
		nseen[k]++;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct vertex *x = a, *y = b;

	return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

static void print(char what, long long serial, const struct vertex *x)
{
	fprintf(out, "%c %lld %llu %d\n", what, serial, (unsigned long long)x->id, x->uncertain);
}

/*
 * Vertices were lost, and counted: the times of the others say which message each belongs to. A
 * send begins after from[i], and before from[i + 1]; a receive has ended before from[i].
 */
static void print_some(char what, const long long *serial, const uint64_t *from, int n)
{
	int k = what == 'R', at = 0;

	for (int i = 0; i < n; i++) {
		uint64_t low = !k ? from[i] : i ? from[i - 1] : 0;
		uint64_t high = k ? from[i] : i + 1 < n ? from[i + 1] : UINT64_MAX;

		while (at < nseen[k] && seen[k][at].ticks <= low)
			at++;
		if (at < nseen[k] && seen[k][at].ticks < high)
			print(what, serial[i], &seen[k][at]);
	}
}

static void print_all(char what, const long long *serial, const uint64_t *from, int n)
{
	int k = what == 'R', lost = (int)segview_event_lost(v, (unsigned)number[k]) - nlost[k];

	nlost[k] += lost;
	if (nseen[k] + lost != n && !has_threads)
		fail("vertices are neither there nor counted as lost");
	if (nseen[k] != n) {
		print_some(what, serial, from, n);
		return;
	}
	for (int i = 0; i < n; i++)
		print(what, serial[i], &seen[k][i]);
}

/* The vertices of a thread, by time, are its messages in their order. */
static void compare(struct book *b, unsigned block)
{
	nseen[0] = nseen[1] = 0;
	while (segview_take(v, block, 1000, &(struct segview_taker){ .on_event = on_event }) > 0)
		;
	qsort(seen[1], (size_t)nseen[1], sizeof(seen[1][0]), by_time);
	qsort(seen[0], (size_t)nseen[0], sizeof(seen[0][0]), by_time);
	print_all('S', b->sent, b->sent_at, b->nsent);
	print_all('R', b->received, b->received_at, b->nreceived);
	nmessages[0] += b->nsent;
	nmessages[1] += b->nreceived;
	nvertices[0] += nseen[0];
	nvertices[1] += nseen[1];
	b->nsent = b->nreceived = 0;
}

static void phase_end(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	compare(&books[0], 0);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void find_types(void)
{
	uint8_t text[256];

	for (unsigned i = 0; i < segview_event_count(v); i++) {
		size_t n = segview_event_definition(v, i, text, sizeof(text));

		for (size_t at = 0; at + 16 < n; at++) {
			if (!memcmp(text + at, "interaction.send", 16))
				number[0] = (int)i;
			if (at + 19 < n && !memcmp(text + at, "interaction.receive", 19))
				number[1] = (int)i;
		}
	}
	if (number[0] < 0 || number[1] < 0)
		fail("no types of vertices");
	for (int k = 0; k < 2 && number[k] >= 0; k++)
		segview_event_set(v, (unsigned)number[k], EVENT_RECORD);
}

/* --- phases */

static MPI_Request send_some_way(int way, struct message *m, int to, int tag)
{
	MPI_Request r = MPI_REQUEST_NULL;

	switch (way) {
	case 1:
		MPI_Bsend(m, sizeof(*m), MPI_BYTE, to, tag, MPI_COMM_WORLD);
		break;
	case 2:
		MPI_Issend(m, sizeof(*m), MPI_BYTE, to, tag, MPI_COMM_WORLD, &r);
		break;
	default:
		MPI_Isend(m, sizeof(*m), MPI_BYTE, to, tag, MPI_COMM_WORLD, &r);
		break;
	}
	return r;
}

static void receive_one(int from, int tag)
{
	struct message m;

	MPI_Recv(&m, sizeof(m), MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	got(&books[0], &m);
}

/* Neighbours in a ring, one message at a time; rank 0 begins. */
static void ring(int any)
{
	struct book *b = &books[0];
	struct message m;

	for (int i = 0; i < 50; i++) {
		int to = (rank + 1) % size, from = any ? MPI_ANY_SOURCE : (rank + size - 1) % size;
		int tag = any ? MPI_ANY_TAG : i % TAGS;

		if (rank)
			receive_one(from, tag);
		m = next(b);
		if (i % 2)
			MPI_Ssend(&m, sizeof(m), MPI_BYTE, to, i % TAGS, MPI_COMM_WORLD);
		else
			MPI_Send(&m, sizeof(m), MPI_BYTE, to, i % TAGS, MPI_COMM_WORLD);
		if (!rank)
			receive_one(from, tag);
	}
	phase_end();
}

/*
 * Receives are posted at random, some with wildcards. A message may go to a wildcard that another
 * receive waits for. Then that one is cancelled, and a wildcard takes its place.
 */
#define STORM (8 * EACH * TAGS)

static struct message inbox[STORM], outbox[STORM];
static MPI_Request in[STORM], outgoing[STORM];

static void post(int i, int source, int tag)
{
	MPI_Irecv(&inbox[i], sizeof(inbox[i]), MPI_BYTE, source, tag, MPI_COMM_WORLD, &in[i]);
}

static int complete(int n)
{
	int index[STORM], done = 0, flag, i;
	struct book *b = &books[0];

	if (roll() % 2) {
		MPI_Testany(n, in, &i, &flag, MPI_STATUS_IGNORE);
		if (!flag || i == MPI_UNDEFINED)
			return 0;
		got(b, &inbox[i]);
		return 1;
	}
	MPI_Testsome(n, in, &done, index, MPI_STATUSES_IGNORE);
	for (i = 0; done != MPI_UNDEFINED && i < done; i++)
		got(b, &inbox[index[i]]);
	return done == MPI_UNDEFINED ? 0 : done;
}

/* Returns 1 if the receive has got a message. */
static int cancel_one(int n)
{
	int i = roll() % n, cancelled;
	MPI_Status status;

	if (in[i] == MPI_REQUEST_NULL)
		return 0;
	MPI_Cancel(&in[i]);
	MPI_Wait(&in[i], &status);
	MPI_Test_cancelled(&status, &cancelled);
	if (!cancelled)
		got(&books[0], &inbox[i]);
	else
		post(i, MPI_ANY_SOURCE, MPI_ANY_TAG);
	return !cancelled;
}

static void storm(int wild, int per_channel)
{
	int n = 0, idle = 0, total = size * TAGS * per_channel;

	for (int i = 0; i < total; i++)
		post(i, roll() % 100 < wild ? MPI_ANY_SOURCE : i % size,
		     roll() % 100 < wild ? MPI_ANY_TAG : i / size % TAGS);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int k = 0; k < per_channel; k++)
		for (int to = 0; to < size; to++)
			for (int tag = 0; tag < TAGS; tag++, n++) {
				outbox[n] = next(&books[0]);
				/* a blocking send to itself could wait for ever */
				outgoing[n] = send_some_way(to == rank ? 0 : roll() % 4, &outbox[n],
							    to, tag);
			}
	for (int left = total; left > 0;) {
		int done = complete(total);

		idle = done ? 0 : idle + 1;
		if (idle > 2000) {
			done = cancel_one(total);
			idle = 1500;
		}
		left -= done;
	}
	MPI_Waitall(n, outgoing, MPI_STATUSES_IGNORE);
	phase_end();
}

/* Without wildcards, blocking waits of all kinds. */
static void waits(void)
{
	int n = 0, total = size * EACH, index[STORM], done, i;
	struct book *b = &books[0];

	for (i = 0; i < total; i++)
		post(i, i % size, 1);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int k = 0; k < EACH; k++)
		for (int to = 0; to < size; to++, n++) {
			outbox[n] = next(b);
			outgoing[n] = send_some_way(0, &outbox[n], to, 1);
		}
	for (i = 0; i < 5; i++) {
		MPI_Waitany(total, in, &done, MPI_STATUS_IGNORE);
		got(b, &inbox[done]);
	}
	MPI_Waitsome(total, in, &done, index, MPI_STATUSES_IGNORE);
	for (i = 0; i < done; i++)
		got(b, &inbox[index[i]]);
	for (done = i = 0; i < total; i++)
		if (in[i] != MPI_REQUEST_NULL)
			index[done++] = i;
	MPI_Waitall(total, in, MPI_STATUSES_IGNORE);
	for (i = 0; i < done; i++)
		got(b, &inbox[index[i]]);
	MPI_Waitall(size * EACH, outgoing, MPI_STATUSES_IGNORE);
	phase_end();
}

static void persistent(void)
{
	struct book *b = &books[0];
	struct message to_send[2], to_get[2];
	MPI_Request r[4];
	int to = (rank + 1) % size, from = (rank + size - 1) % size;

	MPI_Send_init(&to_send[0], sizeof(to_send[0]), MPI_BYTE, to, 4, MPI_COMM_WORLD, &r[0]);
	MPI_Bsend_init(&to_send[1], sizeof(to_send[1]), MPI_BYTE, to, 5, MPI_COMM_WORLD, &r[1]);
	MPI_Recv_init(&to_get[0], sizeof(to_get[0]), MPI_BYTE, from, 4, MPI_COMM_WORLD, &r[2]);
	MPI_Recv_init(&to_get[1], sizeof(to_get[1]), MPI_BYTE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD,
		      &r[3]);
	for (int i = 0; i < 20; i++) {
		to_send[0] = next(b);
		to_send[1] = next(b);
		if (i % 2)
			MPI_Startall(4, r);
		else
			for (int k = 0; k < 4; k++)
				MPI_Start(&r[k]);
		MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
		got(b, &to_get[0]);
		got(b, &to_get[1]);
	}
	for (int k = 0; k < 4; k++)
		MPI_Request_free(&r[k]);
	phase_end();
}

static void probes(void)
{
	struct book *b = &books[0];
	int to = (rank + 1) % size, flag;
	MPI_Message message[2];
	struct message m;
	MPI_Request r;

	for (int i = 0; i < 40; i++) {
		outbox[i] = next(b);
		outgoing[i] = send_some_way(0, &outbox[i], to, i % TAGS);
	}
	for (int i = 0; i < 20; i++) {
		MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message[0],
			   MPI_STATUS_IGNORE);
		do
			MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message[1],
				    MPI_STATUS_IGNORE);
		while (!flag);
		/* the other way round */
		MPI_Imrecv(&m, sizeof(m), MPI_BYTE, &message[1], &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		got(b, &m);
		MPI_Mrecv(&m, sizeof(m), MPI_BYTE, &message[0], MPI_STATUS_IGNORE);
		got(b, &m);
	}
	MPI_Waitall(40, outgoing, MPI_STATUSES_IGNORE);
	phase_end();
}

static void pairs(MPI_Comm comm, int to, int from)
{
	struct book *b = &books[0];
	struct message m, in_one;

	for (int i = 0; i < 10; i++) {
		m = next(b);
		MPI_Sendrecv(&m, sizeof(m), MPI_BYTE, to, 2, &in_one, sizeof(in_one), MPI_BYTE,
			     i % 2 ? MPI_ANY_SOURCE : from, i % 3 ? 2 : MPI_ANY_TAG, comm,
			     MPI_STATUS_IGNORE);
		got(b, &in_one);
		m = next(b);
		MPI_Sendrecv_replace(&m, sizeof(m), MPI_BYTE, to, 2, from, 2, comm,
				     MPI_STATUS_IGNORE);
		got(b, &m);
	}
	/* no messages */
	MPI_Sendrecv(&m, sizeof(m), MPI_BYTE, MPI_PROC_NULL, 2, &in_one, sizeof(in_one), MPI_BYTE,
		     MPI_PROC_NULL, 2, comm, MPI_STATUS_IGNORE);
}

static void around(MPI_Comm comm)
{
	int me, n;

	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	pairs(comm, (me + 1) % n, (me + n - 1) % n);
}

static void communicators(void)
{
	MPI_Comm dup, split, again, cart, group_comm, inter, merged, idup, all[5];
	int ranks[2] = { 1, 0 }, dims = size, periods = 1;
	MPI_Group world, two;
	MPI_Request r;

	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_idup(dup, &idup, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Comm_split(dup, rank % 2, -rank, &split);
	MPI_Comm_dup(split, &again);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &cart);
	all[0] = dup, all[1] = idup, all[2] = split, all[3] = again, all[4] = cart;
	for (int i = 0; i < 5; i++)
		around(all[i]);
	if (size % 2 == 0) {
		MPI_Intercomm_create(split, 0, dup, rank % 2 ? size - 2 : size - 1, 9, &inter);
		pairs(inter, rank / 2, rank / 2);
		MPI_Intercomm_merge(inter, rank % 2, &merged);
		around(merged);
	}
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, ranks, &two);
	if (rank < 2) {
		MPI_Comm_create_group(MPI_COMM_WORLD, two, 3, &group_comm);
		around(group_comm);
		MPI_Comm_free(&group_comm);
	}
	MPI_Comm_free(&dup);
	MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &dup); /* maybe with an old handle */
	around(dup);
	MPI_Comm_free(&dup);
	phase_end();
}

/* --- threads: each has a tag of its own */

static void *thread(void *arg)
{
	int k = (int)(long)arg, to = (rank + 1) % size, from = (rank + size - 1) % size;
	struct book *b = &books[k + 1];
	struct message m, in_one;
	MPI_Request r;

	b->tid = (int)syscall(SYS_gettid);
	for (int i = 0; i < 300; i++) {
		MPI_Irecv(&in_one, sizeof(in_one), MPI_BYTE, from, 20 + k, MPI_COMM_WORLD, &r);
		m = next(b);
		MPI_Send(&m, sizeof(m), MPI_BYTE, to, 20 + k, MPI_COMM_WORLD);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		got(b, &in_one);
	}
	return NULL;
}

/* All use one tag: which of them sends first is not known. */
static pthread_barrier_t all_done;

static void *crowd(void *arg)
{
	int flag;
	int k = (int)(long)arg, to = (rank + 1) % size;
	struct book *b = &books[k + 1];
	struct message m, in_one;

	b->tid = (int)syscall(SYS_gettid);
	for (int i = 0; i < 300; i++) {
		m = next(b);
		MPI_Send(&m, sizeof(m), MPI_BYTE, to, 30, MPI_COMM_WORLD);
		MPI_Recv(&in_one, sizeof(in_one), MPI_BYTE, MPI_ANY_SOURCE, 30, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		got(b, &in_one);
	}
	/* Numbers that others have settled are reported in the next call. */
	pthread_barrier_wait(&all_done);
	for (int i = 0; i < 100; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, 31, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	pthread_barrier_wait(&all_done);
	MPI_Iprobe(MPI_ANY_SOURCE, 31, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	return NULL;
}

static void at_once(void *(*fn)(void *arg))
{
	struct segview_thread block;
	pthread_t t[THREADS];

	pthread_barrier_init(&all_done, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, fn, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (unsigned k = 0; k < segview_threads(v); k++)
		for (int i = 1; i <= THREADS; i++)
			if (!segview_thread(v, k, &block) && block.tid == (uint32_t)books[i].tid)
				compare(&books[i], k);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void all_phases(void)
{
	ring(0);
	ring(1);
	waits();
	storm(0, EACH / 2);
	storm(100, EACH / 2);
	for (int i = 0; i < 6; i++)
		storm(15 * i, 4);
	persistent();
	probes();
	around(MPI_COMM_WORLD);
	phase_end();
	communicators();
}

int main(int argc, char **argv)
{
	static char room[1 << 20];
	struct seg_own own;
	char path[4096];
	int provided;
	void *buffer;
	int n;

	has_threads = argc > 2;
	MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
			&provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Buffer_attach(room, sizeof(room));
	dice = (uint64_t)rank + 1;
	v = self_open();
	snprintf(path, sizeof(path), "%s.%d", argv[1], rank);
	out = fopen(path, "w");
	if (!v || !out || size > 8) {
		fail("no segment, no file, or too many ranks");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	segview_own(v, &own);
	ticks = (enum ticks_source)own.tick_source;
	find_types();
	if (has_threads && provided == MPI_THREAD_MULTIPLE) {
		at_once(thread);
		at_once(crowd);
	}
	all_phases();
	for (int k = 0; k < 2; k++)
		if (nvertices[k] + (int)segview_event_lost(v, (unsigned)number[k]) !=
		    nmessages[k]) {
			fprintf(stderr, "%d vertices, %d lost, %d messages\n", nvertices[k],
				(int)segview_event_lost(v, (unsigned)number[k]), nmessages[k]);
			fail("vertices are neither there nor counted as lost");
		}
	if (!has_threads && nvertices[0] + nvertices[1] != nmessages[0] + nmessages[1])
		fail("vertices were lost");
	fclose(out);
	MPI_Buffer_detach(&buffer, &n);
	MPI_Finalize();
	return failed;
}
