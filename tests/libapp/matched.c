/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that send and receive in all modes, and take the vertices out of their own segments. Each
 * message carries a serial number. matched FILE writes lines "S SERIAL ID UNCERTAIN" for sends and
 * "R SERIAL ID UNCERTAIN" for receives to FILE.RANK. The ids of a serial number must be the same.
 * With the argument "threads", threads send and receive at once.
 */
#include "tests/libapp/book.h"

#include <mpi.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EACH 12 /* messages of a channel in one phase */
#define TAGS 3
#define THREADS 3

static int size;
static struct book books[THREADS + 1];
static uint64_t dice;

static int roll(void)
{
	dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int)(dice >> 33) & 0xffff;
}

static void phase_end(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	book_compare(&books[0], 0);
	MPI_Barrier(MPI_COMM_WORLD);
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
	book_got(&books[0], &m);
}

/* Neighbours in a ring, one message at a time; rank 0 begins. */
static void ring(int any)
{
	struct book *b = &books[0];
	struct message m;

	for (int i = 0; i < 50; i++) {
		int to = (book.rank + 1) % size,
		    from = any ? MPI_ANY_SOURCE : (book.rank + size - 1) % size;
		int tag = any ? MPI_ANY_TAG : i % TAGS;

		if (book.rank)
			receive_one(from, tag);
		m = book_next(b);
		if (i % 2)
			MPI_Ssend(&m, sizeof(m), MPI_BYTE, to, i % TAGS, MPI_COMM_WORLD);
		else
			MPI_Send(&m, sizeof(m), MPI_BYTE, to, i % TAGS, MPI_COMM_WORLD);
		if (!book.rank)
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
		book_got(b, &inbox[i]);
		return 1;
	}
	MPI_Testsome(n, in, &done, index, MPI_STATUSES_IGNORE);
	for (i = 0; done != MPI_UNDEFINED && i < done; i++)
		book_got(b, &inbox[index[i]]);
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
		book_got(&books[0], &inbox[i]);
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
				outbox[n] = book_next(&books[0]);
				/* a blocking send to itself could wait for ever */
				outgoing[n] = send_some_way(to == book.rank ? 0 : roll() % 4,
							    &outbox[n], to, tag);
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
			outbox[n] = book_next(b);
			outgoing[n] = send_some_way(0, &outbox[n], to, 1);
		}
	for (i = 0; i < 5; i++) {
		MPI_Waitany(total, in, &done, MPI_STATUS_IGNORE);
		book_got(b, &inbox[done]);
	}
	MPI_Waitsome(total, in, &done, index, MPI_STATUSES_IGNORE);
	for (i = 0; i < done; i++)
		book_got(b, &inbox[index[i]]);
	for (done = i = 0; i < total; i++)
		if (in[i] != MPI_REQUEST_NULL)
			index[done++] = i;
	MPI_Waitall(total, in, MPI_STATUSES_IGNORE);
	for (i = 0; i < done; i++)
		book_got(b, &inbox[index[i]]);
	MPI_Waitall(size * EACH, outgoing, MPI_STATUSES_IGNORE);
	phase_end();
}

static void persistent(void)
{
	struct book *b = &books[0];
	struct message to_send[2], to_get[2];
	MPI_Request r[4];
	int to = (book.rank + 1) % size, from = (book.rank + size - 1) % size;

	MPI_Send_init(&to_send[0], sizeof(to_send[0]), MPI_BYTE, to, 4, MPI_COMM_WORLD, &r[0]);
	MPI_Bsend_init(&to_send[1], sizeof(to_send[1]), MPI_BYTE, to, 5, MPI_COMM_WORLD, &r[1]);
	MPI_Recv_init(&to_get[0], sizeof(to_get[0]), MPI_BYTE, from, 4, MPI_COMM_WORLD, &r[2]);
	MPI_Recv_init(&to_get[1], sizeof(to_get[1]), MPI_BYTE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD,
		      &r[3]);
	for (int i = 0; i < 20; i++) {
		to_send[0] = book_next(b);
		to_send[1] = book_next(b);
		if (i % 2)
			MPI_Startall(4, r);
		else
			for (int k = 0; k < 4; k++)
				MPI_Start(&r[k]);
		MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
		book_got(b, &to_get[0]);
		book_got(b, &to_get[1]);
	}
	for (int k = 0; k < 4; k++)
		MPI_Request_free(&r[k]);
	phase_end();
}

static void probes(void)
{
	struct book *b = &books[0];
	int to = (book.rank + 1) % size, flag;
	MPI_Message message[2];
	struct message m;
	MPI_Request r;

	for (int i = 0; i < 40; i++) {
		outbox[i] = book_next(b);
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
		book_got(b, &m);
		MPI_Mrecv(&m, sizeof(m), MPI_BYTE, &message[0], MPI_STATUS_IGNORE);
		book_got(b, &m);
	}
	MPI_Waitall(40, outgoing, MPI_STATUSES_IGNORE);
	phase_end();
}

static void pairs(MPI_Comm comm, int to, int from)
{
	struct book *b = &books[0];
	struct message m, in_one;

	for (int i = 0; i < 10; i++) {
		m = book_next(b);
		MPI_Sendrecv(&m, sizeof(m), MPI_BYTE, to, 2, &in_one, sizeof(in_one), MPI_BYTE,
			     i % 2 ? MPI_ANY_SOURCE : from, i % 3 ? 2 : MPI_ANY_TAG, comm,
			     MPI_STATUS_IGNORE);
		book_got(b, &in_one);
		m = book_next(b);
		MPI_Sendrecv_replace(&m, sizeof(m), MPI_BYTE, to, 2, from, 2, comm,
				     MPI_STATUS_IGNORE);
		book_got(b, &m);
	}
	/* no messages */
	MPI_Sendrecv(&m, sizeof(m), MPI_BYTE, MPI_PROC_NULL, 2, &in_one, sizeof(in_one), MPI_BYTE,
		     MPI_PROC_NULL, 2, comm, MPI_STATUS_IGNORE);
}

/* To a neighbour, or from it. */
static void pass(MPI_Comm comm, int peer, int tag, int sends)
{
	struct message m;

	if (sends) {
		m = book_next(&books[0]);
		MPI_Send(&m, sizeof(m), MPI_BYTE, peer, tag, comm);
		return;
	}
	MPI_Recv(&m, sizeof(m), MPI_BYTE, peer, tag, comm, MPI_STATUS_IGNORE);
	book_got(&books[0], &m);
}

/* The same calls over and over; some receives are behind a wildcard that takes the message. */
static void repeat(MPI_Comm comm, int me, int to, int from)
{
	struct message first;
	MPI_Request r;

	for (int i = 0; i < 12; i++) {
		pass(comm, me % 2 ? from : to, i % 2, !(me % 2));
		pass(comm, me % 2 ? to : from, i % 2, me % 2);
		if (i % 3)
			continue;
		MPI_Irecv(&first, sizeof(first), MPI_BYTE, MPI_ANY_SOURCE, 1, comm, &r);
		pass(comm, to, 1, 1);
		pass(comm, to, 1, 1);
		pass(comm, from, 1, 0);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		book_got(&books[0], &first);
	}
}

static void around(MPI_Comm comm)
{
	int me, n;

	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	pairs(comm, (me + 1) % n, (me + n - 1) % n);
	if (n > 1)
		repeat(comm, me, (me + 1) % n, (me + n - 1) % n);
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
	MPI_Comm_split(dup, book.rank % 2, -book.rank, &split);
	MPI_Comm_dup(split, &again);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &cart);
	all[0] = dup, all[1] = idup, all[2] = split, all[3] = again, all[4] = cart;
	for (int i = 0; i < 5; i++)
		around(all[i]);
	if (size % 2 == 0) {
		MPI_Intercomm_create(split, 0, dup, book.rank % 2 ? size - 2 : size - 1, 9, &inter);
		pairs(inter, book.rank / 2, book.rank / 2);
		MPI_Intercomm_merge(inter, book.rank % 2, &merged);
		around(merged);
	}
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, ranks, &two);
	if (book.rank < 2) {
		MPI_Comm_create_group(MPI_COMM_WORLD, two, 3, &group_comm);
		around(group_comm);
		MPI_Comm_free(&group_comm);
	}
	MPI_Comm_free(&dup);
	MPI_Comm_split(MPI_COMM_WORLD, 0, book.rank, &dup); /* maybe with an old handle */
	around(dup);
	MPI_Comm_free(&dup);
	phase_end();
}

/* --- threads: each has a tag of its own */

static void *thread(void *arg)
{
	int k = (int)(long)arg, to = (book.rank + 1) % size, from = (book.rank + size - 1) % size;
	struct book *b = &books[k + 1];
	struct message m, in_one;
	MPI_Request r;

	b->tid = (int)syscall(SYS_gettid);
	for (int i = 0; i < 300; i++) {
		MPI_Irecv(&in_one, sizeof(in_one), MPI_BYTE, from, 20 + k, MPI_COMM_WORLD, &r);
		m = book_next(b);
		MPI_Send(&m, sizeof(m), MPI_BYTE, to, 20 + k, MPI_COMM_WORLD);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		book_got(b, &in_one);
	}
	return NULL;
}

/* All use one tag: which of them sends first is not known. */
static pthread_barrier_t all_done;

static void *crowd(void *arg)
{
	int flag;
	int k = (int)(long)arg, to = (book.rank + 1) % size;
	struct book *b = &books[k + 1];
	struct message m, in_one;

	b->tid = (int)syscall(SYS_gettid);
	for (int i = 0; i < 300; i++) {
		m = book_next(b);
		MPI_Send(&m, sizeof(m), MPI_BYTE, to, 30, MPI_COMM_WORLD);
		MPI_Recv(&in_one, sizeof(in_one), MPI_BYTE, MPI_ANY_SOURCE, 30, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		book_got(b, &in_one);
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
	for (unsigned k = 0; k < segview_threads(book_segment()); k++)
		for (int i = 1; i <= THREADS; i++)
			if (!segview_thread(book_segment(), k, &block) &&
			    block.tid == (uint32_t)books[i].tid)
				book_compare(&books[i], k);
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
	int provided;
	void *buffer;
	int n;

	book.has_threads = argc > 2;
	MPI_Init_thread(&argc, &argv, book.has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
			&provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &book.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Buffer_attach(room, sizeof(room));
	dice = (uint64_t)book.rank + 1;
	if (size > 8 || !book_open(argv[1]))
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (book.has_threads && provided == MPI_THREAD_MULTIPLE) {
		at_once(thread);
		at_once(crowd);
	}
	all_phases();
	book_close();
	MPI_Buffer_detach(&buffer, &n);
	MPI_Finalize();
	return book.failed;
}
