/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that do not need each other, and one that ends.
 *
 *	fate PREFIX RANK HOW
 *
 * Each rank makes its calls, MPI_Barrier and MPI_Reduce_local, until PREFIX.end exists. It leaves
 * by exit(), without MPI_Finalize, which would wait for the missing one, unless RANK is -1. When
 * PREFIX.go exists, RANK ends by HOW:
 *
 * wait			it does not: the test ends it
 * segv			in MPI_Pack, from an address that is none
 * abort exit3		in MPI_Recv for what never comes, by another thread
 * mpi_abort		in an error handler, called from within MPI_Send
 *
 * PREFIX.pid.RANK is its pid. PREFIX.books.RANK has its calls begun and done, in a mapping that
 * outlives it; `fate books FILE` prints that.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 20000 /* of at least 5 ms each: it ends by itself */

struct books {
	uint64_t begun, done; /* rounds: in each one MPI_Barrier and one MPI_Reduce_local */
};

static struct books *books;
static const char *prefix;

static void nap(long ms)
{
	nanosleep(&(struct timespec){ 0, ms * 1000000 }, NULL);
}

static int is_there(const char *what)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.%s", prefix, what);
	return access(path, F_OK) == 0;
}

static void open_books(int rank)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s.books.%d", prefix, rank);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || ftruncate(fd, sizeof(*books)))
		exit(90);
	books = mmap(NULL, sizeof(*books), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (books == MAP_FAILED)
		exit(91);
	close(fd);
}

static void put_pid(int rank)
{
	char path[4096], new[4200];
	FILE *f;

	snprintf(path, sizeof(path), "%s.pid.%d", prefix, rank);
	snprintf(new, sizeof(new), "%s.new", path);
	f = fopen(new, "w");
	if (!f)
		exit(92);
	fprintf(f, "%ld\n", (long)getpid());
	fclose(f);
	rename(new, path);
}

static int print_books(const char *path)
{
	struct books b = { 0 };
	FILE *f = fopen(path, "r");

	if (!f || fread(&b, sizeof(b), 1, f) != 1)
		return 1;
	fclose(f);
	printf("%llu %llu\n", (unsigned long long)b.begun, (unsigned long long)b.done);
	return 0;
}

static void one_round(void)
{
	int one = 1, sum = 0;

	books->begun++;
	MPI_Barrier(MPI_COMM_SELF);
	MPI_Reduce_local(&one, &sum, 1, MPI_INT, MPI_SUM);
	books->done++;
}

static void *end_it(void *how)
{
	nap(200); /* the other one has long begun to wait */
	if (!strcmp(how, "abort"))
		abort();
	_exit(3);
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	MPI_Abort(MPI_COMM_WORLD, 5);
}

static void meet(const char *how)
{
	MPI_Errhandler handler;
	pthread_t thread;
	char out[64];
	int x = 0, at = 0;

	if (!strcmp(how, "segv"))
		MPI_Pack((const void *)(uintptr_t)64, 1, MPI_INT, out, sizeof(out), &at,
			 MPI_COMM_SELF);
	if (!strcmp(how, "abort") || !strcmp(how, "exit3")) {
		pthread_create(&thread, NULL, end_it, (void *)(uintptr_t)how);
		MPI_Recv(&x, 1, MPI_INT, 0, 77, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	}
	if (!strcmp(how, "mpi_abort")) {
		MPI_Comm_create_errhandler(on_error, &handler);
		MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
		MPI_Send(&x, 1, MPI_INT, 1234, 0, MPI_COMM_SELF);
	}
}

int main(int argc, char **argv)
{
	int rank, victim;

	if (argc == 3 && !strcmp(argv[1], "books"))
		return print_books(argv[2]);
	MPI_Init(&argc, &argv);
	if (argc != 4)
		return 2;
	prefix = argv[1];
	victim = (int)strtol(argv[2], NULL, 10);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	open_books(rank);
	put_pid(rank);
	for (int i = 0; i < ROUNDS_MAX && !is_there("end"); i++) {
		one_round();
		nap(5);
		if (rank == victim && is_there("go"))
			meet(argv[3]);
	}
	printf("rank %d ends\n", rank);
	if (victim < 0)
		MPI_Finalize();
	exit(0);
}
