/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MPI program for tests of measurements, which logs its own calls. Phase k begins when the file
 * PREFIX.phase has a number of k or more. Then rank r sends 10 * (r + 1) messages of 100 * (r + 1)
 * bytes to the next rank. It receives those of the one before. It sends 7 * (r + 1) bytes more by
 * persistent requests, which were made in the beginning. Then all meet at a barrier. The program
 * ends when PREFIX.go exists.
 *
 *	phased PREFIX
 *
 * Rank R keeps these totals in PREFIX.log.R: phases, calls that send, bytes sent, calls that
 * receive, bytes received, barriers. While it waits it makes no call of MPI.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NAPS_MAX 15000 /* of 20 ms each */
#define TAG 5
#define TAG_PERSISTENT 6

struct done {
	long phases, sent, sent_bytes, received, received_bytes, barriers;
};

static MPI_Request persistent[2];

static long read_phase(const char *prefix)
{
	char path[4096];
	long phase = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s.phase", prefix);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%ld", &phase) != 1)
		phase = 0;
	fclose(f);
	return phase;
}

static bool is_over(const char *prefix)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.go", prefix);
	return access(path, F_OK) == 0;
}

static void write_log(const char *prefix, int rank, const struct done *d)
{
	char path[4096], new_path[4096 + 4];
	FILE *f;

	snprintf(path, sizeof(path), "%s.log.%d", prefix, rank);
	snprintf(new_path, sizeof(new_path), "%s.new", path);
	f = fopen(new_path, "w");
	if (!f)
		return;
	fprintf(f, "%ld %ld %ld %ld %ld %ld\n", d->phases, d->sent, d->sent_bytes, d->received,
		d->received_bytes, d->barriers);
	if (!fclose(f))
		rename(new_path, path);
}

static void make_persistent(int rank, int size)
{
	static char out[7 * 64], in[7 * 64];
	int before = (rank + size - 1) % size;

	MPI_Send_init(out, 7 * (rank + 1), MPI_CHAR, (rank + 1) % size, TAG_PERSISTENT,
		      MPI_COMM_WORLD, &persistent[0]);
	MPI_Recv_init(in, sizeof(in), MPI_CHAR, before, TAG_PERSISTENT, MPI_COMM_WORLD,
		      &persistent[1]);
}

static void phase(struct done *d, int rank, int size)
{
	char bytes[100 * 64] = "";
	MPI_Status status[2];
	int before = (rank + size - 1) % size, n = 100 * (rank + 1), m = 100 * (before + 1);

	for (int i = 0; i < 10 * (rank + 1); i++) {
		MPI_Send(bytes, n, MPI_CHAR, (rank + 1) % size, TAG, MPI_COMM_WORLD);
		d->sent++;
		d->sent_bytes += n;
	}
	for (int i = 0; i < 10 * (before + 1); i++) {
		MPI_Recv(bytes, m, MPI_CHAR, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		d->received++;
		d->received_bytes += m;
	}
	MPI_Startall(2, persistent);
	MPI_Waitall(2, persistent, status);
	d->sent_bytes += 7 * (rank + 1);
	d->received_bytes += 7 * (before + 1);
	MPI_Barrier(MPI_COMM_WORLD);
	d->barriers++;
	d->phases++;
}

int main(int argc, char **argv)
{
	const struct timespec nap = { 0, 20000000 };
	struct done done = { 0 };
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc < 2 || size > 60)
		MPI_Abort(MPI_COMM_WORLD, 2);
	make_persistent(rank, size);
	write_log(argv[1], rank, &done);
	for (int i = 0; i < NAPS_MAX && !is_over(argv[1]); i++) {
		while (done.phases < read_phase(argv[1])) {
			phase(&done, rank, size);
			write_log(argv[1], rank, &done);
		}
		nanosleep(&nap, NULL);
	}
	for (int i = 0; i < 2; i++)
		MPI_Request_free(&persistent[i]);
	return MPI_Finalize();
}
