/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ranks that do what processes may do besides computing, and print it. Their output is the
 * same, watched or not.
 *
 *	lives PREFIX DEED...
 *
 * fork exit exec vfork spawn mpi	children: one that calls MPI, one that ends as careless
 *			programs do, programs, and this program again, alone
 * signals		how many SIGCHLD have come, of children that it never had
 * fault		a handler of its own for SIGSEGV, in a watched call
 * files		closes all descriptors from 100 on, and puts others there
 * environment		removes it, then starts a program
 * errjump jump		leaves a call by siglongjmp() from a handler of errors or of signals
 * daemon		a grandchild that lives on until PREFIX.end exists
 * children		MPI_Comm_spawn of this program
 * unfinished		returns without MPI_Finalize
 * thread		(the first) MPI_Init_thread is called by another thread than main()
 *
 * PREFIX.books.RANK is its pid and how often it made which calls. A spawned
 * or lonely one has S or M for its rank there.
 */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static char *prefix, *self;
static char who[8];
static int rank;
static volatile sig_atomic_t children_signalled;
static sigjmp_buf back;

/* --- calls, and their counts */

enum { REDUCE, SENDRECV, RECV, SEND, CALLS };
static const char *const names[] = { "MPI_Reduce_local", "MPI_Sendrecv", "MPI_Recv", "MPI_Send" };
static long made[CALLS];

static void reduce(int times)
{
	int one = 1, sum = 0;

	for (int i = 0; i < times; i++) {
		made[REDUCE]++;
		MPI_Reduce_local(&one, &sum, 1, MPI_INT, MPI_SUM);
	}
}

static void exchange(int times)
{
	int mine = rank, other = -1;

	for (int i = 0; i < times; i++) {
		made[SENDRECV]++;
		MPI_Sendrecv(&mine, 1, MPI_INT, !rank, 5, &other, 1, MPI_INT, !rank, 5,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

static void put_books(void)
{
	char path[4096], new[4200];
	FILE *f;

	snprintf(path, sizeof(path), "%s.books.%s", prefix, who);
	snprintf(new, sizeof(new), "%s.new", path);
	f = fopen(new, "w");
	if (!f)
		exit(90);
	fprintf(f, "pid %ld\n", (long)getpid());
	for (int i = 0; i < CALLS; i++)
		if (made[i])
			fprintf(f, "%s %ld\n", names[i], made[i]);
	fclose(f);
	rename(new, path);
}

/* A launcher may kill the other rank when one ends without MPI_Finalize: it must have finished. */
static void wait_for_other(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.books.%d", prefix, !rank);
	for (int i = 0; access(path, F_OK) && i < 1000; i++)
		nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
}

static void report(const char *deed, long a, long b)
{
	printf("rank %d %s: %ld %ld\n", rank, deed, a, b);
	fflush(stdout);
}

/* --- children */

static int end_of(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void do_fork(void)
{
	long before = made[REDUCE];
	pid_t pid = fork();

	if (pid == 0) {
		reduce(1000);
		_exit(7);
	}
	report("fork", end_of(pid), made[REDUCE] - before);
}

static void do_exit(void)
{
	pid_t pid = fork();

	if (pid == 0)
		exit(6);
	report("exit", end_of(pid), 0);
}

static void do_exec(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
		_exit(99);
	}
	report("exec", end_of(pid), 0);
}

static void do_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "exit 4", (char *)NULL);
		_exit(99);
	}
	report("vfork", end_of(pid), 0);
}

static void do_spawn(void)
{
	char sh[] = "sh", c[] = "-c", text[] = "exit 3", *argv[] = { sh, c, text, NULL };
	pid_t pid = 0;
	int rc = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);

	report("spawn", rc, end_of(pid));
}

/* The launcher's variables are for this process only. */
static void forget_launcher(void)
{
	static const char *const its[] = {
		"OMPI_", "PMIX_", "PMI_", "MPIR_", "HYDI_", "MPI_LOCAL"
	};
	char **to = environ;

	for (char **e = environ; *e; e++) {
		bool is_its = false;

		for (size_t i = 0; i < sizeof(its) / sizeof(its[0]); i++)
			is_its |= !strncmp(*e, its[i], strlen(its[i])) &&
				  strncmp(*e, "OMPI_ALLOW", 10) != 0;
		if (!is_its)
			*to++ = *e;
	}
	*to = NULL;
}

/* Rank 0 only: one is enough. */
static void do_mpi(void)
{
	pid_t pid;

	if (rank)
		return;
	pid = fork();
	if (pid == 0) {
		forget_launcher();
		execl(self, self, prefix, "alone", (char *)NULL);
		_exit(99);
	}
	report("mpi", end_of(pid), 0);
}

static void put_pid(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		_exit(91);
	fprintf(f, "%ld\n", (long)getpid());
	fclose(f);
}

static void live_on(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.daemon.%d", prefix, rank);
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	put_pid(path);
	snprintf(path, sizeof(path), "%s.end", prefix);
	for (int i = 0; access(path, F_OK) && i < 3000; i++)
		nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
	_exit(0);
}

static void do_daemon(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		if (fork() == 0)
			live_on();
		_exit(0);
	}
	report("daemon", end_of(pid), 0);
}

static void do_children(void)
{
	char spawned[] = "spawned", *argv[] = { prefix, spawned, NULL };
	int error = -1, got = -1, rc;
	MPI_Comm child;

	rc = MPI_Comm_spawn(self, argv, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, &error);
	if (rank == 0) {
		made[RECV]++;
		MPI_Recv(&got, 1, MPI_INT, 0, 9, child, MPI_STATUS_IGNORE);
	}
	MPI_Comm_disconnect(&child);
	report("children", rc == MPI_SUCCESS && error == MPI_SUCCESS, got);
}

/* --- signals */

static void on_child(int sig)
{
	children_signalled += sig == SIGCHLD;
}

static void do_signals(void)
{
	report("signals", children_signalled, 0);
}

static int *guarded;
static volatile sig_atomic_t faults;

static void on_fault(int sig)
{
	faults += sig == SIGSEGV;
	mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
}

static void do_fault(void)
{
	struct sigaction mine = { .sa_handler = on_fault }, before;
	int one = 1;

	guarded = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &mine, &before);
	made[REDUCE]++;
	MPI_Reduce_local(&one, guarded, 1, MPI_INT, MPI_SUM);
	sigaction(SIGSEGV, &before, NULL);
	report("fault", faults, *guarded);
}

static void on_alarm(int sig)
{
	siglongjmp(back, sig);
}

/*
 * Runs deeper on the stack than all later calls: only then does libapp detect that the call was
 * left.
 */
#define DEEP_BYTES 8192

static void wait_in_vain(void *in, void *out, int *n, MPI_Datatype *type)
{
	for (int i = 0; in && out && n && type && i < 500; i++)
		nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
}

/* In a user-defined operation MPI itself is not affected by the following. */
static __attribute__((noinline)) void reduce_in_vain(void)
{
	volatile char room[DEEP_BYTES];
	int one = 1, sum = 0;
	MPI_Op op;

	room[0] = 0;
	MPI_Op_create(wait_in_vain, 1, &op);
	made[REDUCE]++;
	MPI_Reduce_local(&one, &sum, 1, MPI_INT, op);
	report("never", sum, room[0]);
}

static void do_jump(void)
{
	struct sigaction mine = { .sa_handler = on_alarm }, before;
	struct itimerval soon = { { 0, 0 }, { 0, 50000 } };
	int sig;

	sigaction(SIGALRM, &mine, &before);
	sig = sigsetjmp(back, 1);
	if (sig == 0) {
		setitimer(ITIMER_REAL, &soon, NULL);
		reduce_in_vain();
	}
	sigaction(SIGALRM, &before, NULL);
	reduce(10);
	report("jump", sig, 0);
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
	siglongjmp(back, comm != NULL && *code != MPI_SUCCESS ? 77 : 78);
}

static __attribute__((noinline)) void send_to_nobody(void)
{
	volatile char room[DEEP_BYTES];
	int x = 0;

	room[0] = 0;
	made[SEND]++;
	MPI_Send(&x, 1, MPI_INT, 1234, 0, MPI_COMM_SELF);
	report("never", x, room[0]);
}

static void do_errjump(void)
{
	MPI_Errhandler mine;
	int how;

	MPI_Comm_create_errhandler(on_error, &mine);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
	how = sigsetjmp(back, 1);
	if (how == 0)
		send_to_nobody();
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	reduce(10);
	report("errjump", how, 0);
}

/* --- environment */

static void do_files(void)
{
	int own = 0;

	for (int fd = 100; fd < 1024; fd++)
		close(fd);
	for (int fd = dup(1); fd >= 0 && fd < 950; fd = fcntl(1, F_DUPFD, fd + 1))
		own++;
	reduce(10);
	do_fork(); /* must not close that file */
	own = 0;
	for (int fd = 100; fd < 950; fd++)
		own += fcntl(fd, F_GETFD) == 0;
	report("files", own, 0);
	for (int fd = 100; fd < 1024; fd++)
		close(fd);
}

static void do_environment(void)
{
	clearenv();
	reduce(10);
	do_exec();
	report("environment", environ != NULL, 0);
}

static const struct {
	const char *name;
	void (*deed)(void);
} deeds[] = {
	{ "fork", do_fork },	   { "exit", do_exit },
	{ "exec", do_exec },	   { "vfork", do_vfork },
	{ "spawn", do_spawn },	   { "mpi", do_mpi },
	{ "daemon", do_daemon },   { "children", do_children },
	{ "signals", do_signals }, { "fault", do_fault },
	{ "jump", do_jump },	   { "errjump", do_errjump },
	{ "files", do_files },	   { "environment", do_environment },
};

static void do_it(const char *name)
{
	for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++)
		if (!strcmp(name, deeds[i].name))
			deeds[i].deed();
}

static void *init_here(void *arg)
{
	int *level = arg;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, level);
	reduce(5);
	return NULL;
}

static void begin(const char *first)
{
	struct sigaction mine = { .sa_handler = on_child, .sa_flags = SA_RESTART };
	int level = -1;
	pthread_t thread;

	sigaction(SIGCHLD, &mine, NULL);
	if (strcmp(first, "thread") != 0) {
		MPI_Init(NULL, NULL);
		return;
	}
	pthread_create(&thread, NULL, init_here, &level);
	pthread_join(thread, NULL);
	printf("thread: %d\n", level == MPI_THREAD_MULTIPLE);
}

static void send_to_parent(void)
{
	int word = 4711;
	MPI_Comm parent;

	MPI_Comm_get_parent(&parent);
	made[SEND]++;
	MPI_Send(&word, 1, MPI_INT, 0, 9, parent);
	MPI_Comm_disconnect(&parent);
}

int main(int argc, char **argv)
{
	bool finishes = true;
	int size;

	if (argc < 3)
		return 2;
	self = argv[0];
	prefix = argv[1];
	begin(argv[2]);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(who, sizeof(who), "%d", rank);
	reduce(100);
	if (!strcmp(argv[2], "alone") || !strcmp(argv[2], "spawned"))
		snprintf(who, sizeof(who), argv[2][0] == 'a' ? "M" : "S");
	if (who[0] == 'S')
		send_to_parent();
	else if (size == 2)
		exchange(10);
	for (int i = 2; i < argc; i++) {
		do_it(argv[i]);
		finishes &= strcmp(argv[i], "unfinished") != 0;
	}
	if (size == 2)
		exchange(10);
	printf("rank %s: done\n", who);
	fflush(stdout);
	put_books();
	if (finishes)
		MPI_Finalize();
	else
		wait_for_other();
	return 0;
}
