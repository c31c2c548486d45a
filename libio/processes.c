/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that begin, end, and are waited for. */
#include "libio/io.h"

#include "common/base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define IN_THREAD static _Thread_local __attribute__((tls_model("initial-exec")))

enum real {
	REAL_posix_spawn,
	REAL_posix_spawnp,
	REAL__exit,
	REAL__Exit,
	REAL_wait,
	REAL_waitpid,
	REAL_wait3,
	REAL_wait4,
	REAL_waitid,
	REALS
};
static void *real[REALS];

/* As io_real(). */
static void *look(enum real which, const char *name)
{
	void *f = io_real(name);

	if (f)
		__atomic_store_n(&real[which], f, __ATOMIC_RELAXED);
	return f;
}

/* Before the constructor of this library, the first call looks the function up. */
#define GET(pointer, name)                                                                 \
	do {                                                                               \
		void *found_ = __atomic_load_n(&real[REAL_##name], __ATOMIC_RELAXED);      \
                                                                                           \
		*(void **)(void *)&(pointer) = found_ ? found_ : look(REAL_##name, #name); \
	} while (0)

void io_processes_look(void)
{
	static const char *const names[REALS] = {
		"posix_spawn", "posix_spawnp", "_exit", "_Exit",  "wait",
		"waitpid",     "wait3",	       "wait4", "waitid",
	};

	for (unsigned i = 0; i < REALS; i++)
		look(i, names[i]);
}

/* --- fork(): the child records its begin, in place of the thread that calls */

IN_THREAD struct board_record forks;

static void before_fork(void)
{
	forks = (struct board_record){ .kind = BOARD_SPAWN,
				       .ns = (uint64_t)clock_mono(),
				       .pid = (int32_t)syscall(SYS_getpid),
				       .tid = (int32_t)syscall(SYS_gettid) };
}

static void in_child(void)
{
	struct board *b = io_board_now();
	struct board_record r = forks;

	r.child = (int32_t)syscall(SYS_getpid);
	if (b)
		io_note(b, &r);
}

void io_processes_begin(void)
{
	pthread_atfork(before_fork, NULL, in_child);
}

static void note_child(struct board *b, uint64_t ns, pid_t child)
{
	struct board_record r = { .kind = BOARD_SPAWN, .ns = ns, .child = child };

	io_note(b, &r);
}

/* --- posix_spawn() */

typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,
		     const posix_spawnattr_t *, char *const[], char *const[]);

#define SPAWN(name)                                                                            \
	int io_##name(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, \
		      const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);  \
	EXPORT int io_##name(                                                                  \
		pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,       \
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[])         \
	{                                                                                      \
		spawn_fn *f;                                                                   \
		struct board *b = io_board_now();                                              \
		uint64_t ns = b ? (uint64_t)clock_mono() : 0;                                  \
		pid_t child = 0;                                                               \
		int code;                                                                      \
                                                                                               \
		GET(f, name);                                                                  \
		if (!f)                                                                        \
			return ENOSYS;                                                         \
		code = f(&child, path, actions, attr, argv, envp);                             \
		if (!code && pid)                                                              \
			*pid = child;                                                          \
		if (!code && b)                                                                \
			note_child(b, ns, child);                                              \
		return code;                                                                   \
	}
SPAWN(posix_spawn)
SPAWN(posix_spawnp)

/* --- vfork(): the child runs on the stack of its caller, until it is another program */

#if defined(__x86_64__)
uint64_t io_vfork_begin(void);
long io_vfork_end(long pid, uint64_t ns);

/* Returns 0 if the call is not recorded. */
uint64_t io_vfork_begin(void)
{
	return io_board_now() ? (uint64_t)clock_mono() : 0;
}

long io_vfork_end(long pid, uint64_t ns)
{
	struct board *b = io_board_now();

	if (pid < 0) {
		errno = (int)-pid;
		return -1;
	}
	if (b && ns)
		note_child(b, ns, (pid_t)pid);
	return pid;
}

/*
 * As in the C library: the return address and the time stay in registers of the caller, which the
 * child does not share. Memory would be the child's, too, which may be killed in a vfork() of its
 * own. The child leaves the stack of return addresses as it is.
 */
__asm__(".text\n"
	".globl io_vfork\n"
	".type io_vfork, @function\n"
	"io_vfork:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call io_vfork_begin\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	movq %rax, %rsi\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_register %rip, %rdi\n"
	"	movl $58, %eax\n" /* SYS_vfork */
	"	syscall\n"
	"	testq %rax, %rax\n"
	"	jne 1f\n"
	"	jmp *%rdi\n"
	"1:	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %rip, -8\n"
	"	movq %rax, %rdi\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call io_vfork_end\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size io_vfork, .-io_vfork\n");
#endif

/* --- ends */

/* Records of a child that runs on its parent's memory are right, too: the number is the kernel's.
 */
static void note_exit(void)
{
	struct board *b = io_board_now();
	struct board_record r = { .kind = BOARD_EXIT };

	if (b)
		io_note(b, &r);
}

static __attribute__((destructor)) void on_exit_of_all(void)
{
	note_exit();
}

#define EXIT(name)                                       \
	_Noreturn void io_##name(int status);            \
	EXPORT _Noreturn void io_##name(int status)      \
	{                                                \
		void (*f)(int);                          \
                                                         \
		note_exit();                             \
		GET(f, name);                            \
		if (f)                                   \
			f(status);                       \
		for (;;)                                 \
			syscall(SYS_exit_group, status); \
	}
EXIT(_exit)
EXIT(_Exit)

/* --- waits */

static void note_end(struct board *b, uint64_t began, pid_t child, int status)
{
	struct board_record r = { .kind = BOARD_REAP, .began = began, .child = child };

	if (WIFEXITED(status) || WIFSIGNALED(status))
		io_note(b, &r);
}

/* pars has `status`, which may be NULL, or wrong: it is read only if the call has set it. */
#define WAIT(name, type, pars, ...)                                  \
	pid_t io_##name pars;                                        \
	EXPORT pid_t io_##name pars                                  \
	{                                                            \
		pid_t(*f) type, pid;                                 \
		struct board *b = io_board_now();                    \
		uint64_t began = b ? (uint64_t)clock_mono() : 0;     \
		int copy = 0, *into = status || !b ? status : &copy; \
                                                                     \
		GET(f, name);                                        \
		if (!f)                                              \
			return -1;                                   \
		pid = f(__VA_ARGS__);                                \
		if (b && pid > 0)                                    \
			note_end(b, began, pid, *into);              \
		return pid;                                          \
	}
WAIT(wait, (int *), (int *status), into)
WAIT(waitpid, (pid_t, int *, int), (pid_t of, int *status, int options), of, into, options)
WAIT(wait3, (int *, int, struct rusage *), (int *status, int options, struct rusage *used), into,
     options, used)
WAIT(wait4, (pid_t, int *, int, struct rusage *),
     (pid_t of, int *status, int options, struct rusage *used), of, into, options, used)

int io_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
EXPORT int io_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	int (*f)(idtype_t, id_t, siginfo_t *, int), rc;
	struct board *b = io_board_now();
	struct board_record r = { .kind = BOARD_REAP };
	siginfo_t copy, *into = info ? info : &copy;

	r.began = b ? (uint64_t)clock_mono() : 0;
	GET(f, waitid);
	if (!f)
		return -1;
	rc = f(type, id, into, options);
	if (rc || !b || options & WNOWAIT || !into->si_pid ||
	    (into->si_code != CLD_EXITED && into->si_code != CLD_KILLED &&
	     into->si_code != CLD_DUMPED))
		return rc;
	r.child = into->si_pid;
	io_note(b, &r);
	return rc;
}
