/* SPDX-License-Identifier: Apache-2.0 */
/* A library's actions in a foreign program, which the program does not see. */
#include "common/base/array.h"
#include "common/inproc/inproc.h"
#include "tests/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static struct inproc_lock outer = INPROC_LOCK_INIT, inner = INPROC_LOCK_INIT;

static int cancel_state(void)
{
	int is;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &is);
	pthread_setcancelstate(is, NULL);
	return is;
}

TEST(a_thread_with_a_lock_cannot_be_cancelled)
{
	inproc_lock(&outer);
	ck_assert(inproc_trylock(&inner));
	ck_assert(!inproc_trylock(&inner));
	inproc_unlock(&inner);
	ck_assert_int_eq(cancel_state(), PTHREAD_CANCEL_DISABLE);
	inproc_unlock(&outer);
	ck_assert_int_eq(cancel_state(), PTHREAD_CANCEL_ENABLE);
	ck_assert(inproc_trylock(&inner));
	ck_assert(inproc_trylock(&outer));
	inproc_unlock(&outer);
	inproc_unlock(&inner);
	ck_assert_int_eq(cancel_state(), PTHREAD_CANCEL_ENABLE);
}

static int is_pending(int number)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, number);
}

TEST(a_write_that_fails_sends_no_signal_and_takes_none_away)
{
	const struct sigaction dfl = { .sa_handler = SIG_DFL };
	const struct iovec v = { (char[]){ "x" }, 1 };
	sigset_t pipe_only;
	int end[2];

	ck_assert_int_eq(sigaction(SIGPIPE, &dfl, NULL), 0);
	ck_assert_int_eq(pipe2(end, O_CLOEXEC), 0);
	ck_assert_int_eq(inproc_writev(end[1], &v, 1), 1);
	close(end[0]);
	ck_assert_int_eq(inproc_writev(end[1], &v, 1), -1);
	ck_assert_int_eq(errno, EPIPE);
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &pipe_only, NULL), 0);
	ck_assert_int_eq(inproc_writev(end[1], &v, 1), -1);
	ck_assert_int_eq(is_pending(SIGPIPE), 0);
	ck_assert_int_eq(raise(SIGPIPE), 0);
	ck_assert_int_eq(inproc_writev(end[1], &v, 1), -1);
	ck_assert_int_eq(is_pending(SIGPIPE), 1);
	close(end[1]);
}

SUITE("inproc")
