/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wrappers of moves.def: io_read() is read() for the linker of libomig-io.so alone (module.mk).
 * Each real function has a pointer that initially points to a resolver. So a call needs no test for
 * it, also before the constructor of this library.
 */
#include "libio/io.h"

#include <errno.h>
#include <linux/prctl.h>
#include <stdarg.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <fcntl.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define REAL(name) __atomic_load_n(&real.name, __ATOMIC_RELAXED)

#define MOVE(name, way, pars, args) static ssize_t resolve_##name pars;
#define BOTH MOVE
#define TALK MOVE
#include "libio/moves.def"
static int resolve_socketpair(int domain, int type, int protocol, int fd[2]);
static int resolve_prctl(int option, long a, long b, long c, long d);
static long resolve_syscall(long number, long a, long b, long c, long d, long e, long f);

static struct {
#define MOVE(name, way, pars, args) ssize_t(*name) pars;
#define BOTH MOVE
#define TALK MOVE
#include "libio/moves.def"
	int (*socketpair)(int domain, int type, int protocol, int fd[2]);
	int (*prctl)(int option, long a, long b, long c, long d);
	long (*syscall)(long number, long a, long b, long c, long d, long e, long f);
} real = {
#define MOVE(name, way, pars, args) .name = resolve_##name,
#define BOTH MOVE
#define TALK MOVE
#include "libio/moves.def"
	.socketpair = resolve_socketpair,
	.prctl = resolve_prctl,
	.syscall = resolve_syscall,
};

/* Returns false, with errno, if the C library has no such function. */
static bool look(const char *name, void **pointer)
{
	void *f = io_real(name);

	if (f)
		__atomic_store_n(pointer, f, __ATOMIC_RELAXED);
	return f;
}

#define RESOLVER(type, name, pars, args)                                                \
	static type resolve_##name pars                                                 \
	{                                                                               \
		return look(#name, (void **)(void *)&real.name) ? REAL(name) args : -1; \
	}
#define MOVE(name, way, pars, args) RESOLVER(ssize_t, name, pars, args)
#define BOTH MOVE
#define TALK MOVE
#include "libio/moves.def"
RESOLVER(int, socketpair, (int domain, int type, int protocol, int fd[2]),
	 (domain, type, protocol, fd))
RESOLVER(int, prctl, (int option, long a, long b, long c, long d), (option, a, b, c, d))
RESOLVER(long, syscall, (long number, long a, long b, long c, long d, long e, long f),
	 (number, a, b, c, d, e, f))

/* Looks all functions up, so that no later call does. */
static void resolve_all(void)
{
#define MOVE(name, way, pars, args) look(#name, (void **)(void *)&real.name);
#define BOTH MOVE
#define TALK MOVE
#include "libio/moves.def"
	look("socketpair", (void **)(void *)&real.socketpair);
	look("prctl", (void **)(void *)&real.prctl);
	look("syscall", (void **)(void *)&real.syscall);
}

static __attribute__((constructor)) void begin(void)
{
	int saved = errno;

	resolve_all();
	io_processes_look();
	io_polls_look();
	errno = saved;
	if (io_board_open())
		io_begin();
}

/* --- exported */

/* Both ways end in a jump: while it is off, the real call returns to the program itself. */
#define WRAP(name, pars, args, before, ...)                                \
	static __attribute__((noinline)) ssize_t counted_##name pars       \
	{                                                                  \
		struct io_call call[2];                                    \
		ssize_t moved;                                             \
                                                                           \
		before;                                                    \
		moved = REAL(name) args;                                   \
		__VA_ARGS__                                                \
		return moved;                                              \
	}                                                                  \
	ssize_t io_##name pars;                                            \
	EXPORT ssize_t io_##name pars                                      \
	{                                                                  \
		return io_is_on() ? counted_##name args : REAL(name) args; \
	}
#define MOVE(name, way, pars, args)                                                 \
	WRAP(name, pars, args, io_before(call, fd, way), io_after(call, fd, moved); \
	     io_moved(fd, way, moved);)
#define BOTH(name, way, pars, args)                                                                \
	WRAP(name, pars, args, (io_before(&call[0], in, IO_IN), io_before(&call[1], out, IO_OUT)), \
	     io_after(&call[0], in, moved);                                                        \
	     io_after(&call[1], out, moved); io_moved(in, IO_IN | (way), moved);                   \
	     io_moved(out, IO_OUT | (way), moved);)
#define TALK(name, way, pars, args)                                              \
	WRAP(name, pars, args, io_before(call, fd, flags &MSG_PEEK ? 0 : (way)), \
	     io_after(call, fd, moved);)
#include "libio/moves.def"

int io_socketpair(int domain, int type, int protocol, int fd[2]);
EXPORT int io_socketpair(int domain, int type, int protocol, int fd[2])
{
	int rc = REAL(socketpair)(domain, type, protocol, fd);

	if (!rc)
		io_pair(fd);
	return rc;
}

/*
 * A program that restricts its system calls may end at one that it does not expect. So the
 * library is off from there on, also where the restriction fails.
 */
int io_prctl(int option, ...);
EXPORT int io_prctl(int option, ...)
{
	long a[4];
	va_list more;

	va_start(more, option);
	for (unsigned i = 0; i < 4; i++)
		a[i] = va_arg(more, long);
	va_end(more);
	if (option == PR_SET_SECCOMP)
		io_restricted();
	return REAL(prctl)(option, a[0], a[1], a[2], a[3]);
}

long io_syscall(long number, ...);
EXPORT long io_syscall(long number, ...)
{
	long a[6];
	va_list more;

	va_start(more, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(more, long);
	va_end(more);
	if (number == SYS_seccomp)
		io_restricted();
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
