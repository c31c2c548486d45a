/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is linked to no MPI, loads one when it is there, and gives it
 * back. It makes 50 calls of MPI_Reduce_local and writes its pid.
 *
 *	late global|local PIDFILE
 *
 * Functions are found in the global scope, where libomig's are first; or, local, in the library
 * alone.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(OPEN_MPI)
#define LIBRARY "libmpi.so.40"
#define INT ((MPI_Datatype)find("ompi_mpi_int"))
#define SUM ((MPI_Op)find("ompi_mpi_op_sum"))
#else
#define LIBRARY "libmpich.so.12"
#define INT MPI_INT
#define SUM MPI_SUM
#endif

static void *where;

static void *find(const char *name)
{
	void *p = dlsym(where, name);

	if (!p) {
		printf("late: no %s\n", name);
		exit(3);
	}
	return p;
}

static void put_pid(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		exit(4);
	fprintf(f, "%ld\n", (long)getpid());
	fclose(f);
}

static int child(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		exit(9);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
	int (*init)(int *, char ***), (*finalize)(void), one = 1, sum = 0;
	int (*reduce)(const void *, void *, int, MPI_Datatype, MPI_Op);
	bool is_global = argc == 3 && !strcmp(argv[1], "global");
	void *mpi;

	mpi = dlopen(LIBRARY, RTLD_NOW | (is_global ? RTLD_GLOBAL : RTLD_LOCAL));
	if (!mpi || argc != 3) {
		printf("late: %s\n", mpi ? "which file?" : dlerror());
		return 2;
	}
	where = is_global ? RTLD_DEFAULT : mpi;
	*(void **)&init = find("MPI_Init");
	*(void **)&finalize = find("MPI_Finalize");
	*(void **)&reduce = find("MPI_Reduce_local");
	printf("init %d\n", init(NULL, NULL));
	for (int i = 0; i < 50; i++)
		reduce(&one, &sum, 1, INT, SUM);
	put_pid(argv[2]);
	printf("sum %d, child %d, finalize %d\n", sum, child(), finalize());
	printf("closed %d, child %d\n", dlclose(mpi), child());
	return 0;
}
