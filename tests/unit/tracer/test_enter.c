/* SPDX-License-Identifier: Apache-2.0 */
/* Real programs are entered and left, or refused with a reason; their results stay right. */
#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "tests/suite.h"
#include "tracer/enter.h"
#include "tracer/gate/image.h"
#include "tracer/thread/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#define TRIES 20000
#define PROGRAMS "../../system/"

static char dir[] = "/tmp/omig-enter-XXXXXX";
static char enough[64], said[64], library[FILE_PATH_BYTES];
static struct loop *loop;
static struct line *line;
static struct tracees *tracees;
static pid_t child;
static int input; /* of the program; it ends when this is closed */
static struct enter_result result;
static struct err err;

static void ignore_msg(void *arg, const struct tracer_msg *m)
{
}

static void ignore_end(void *arg, const char *why)
{
}

static void set_up(void)
{
	int fd[2];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(said, sizeof(said), "%s/said", dir);
	snprintf(enough, sizeof(enough), "%s/enough", dir);
	ck_assert_int_eq(file_beside_program(library, "../../../lib/libomig.so", NULL), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
	loop = loop_new();
	ck_assert_int_eq(line_open(&(struct line_conf){ loop, fd[0], ignore_msg, ignore_end, NULL },
				   &line, NULL),
			 0);
	ck_assert_int_eq(tracees_open(loop, line, &tracees, NULL), 0);
}

static void clean_up(void)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, __WALL);
	}
	tracees_close(tracees);
	line_close(line);
	loop_free(loop);
	unlink(enough);
	unlink(said);
	rmdir(dir);
}

static const char *text(void)
{
	static char all[4096];
	int fd = open(said, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, all, sizeof(all) - 1);

	close(fd);
	all[n > 0 ? n : 0] = 0;
	return all;
}

static void start(const char *program, const char *how)
{
	char path[FILE_PATH_BYTES], name[64];
	int fd[2];

	snprintf(name, sizeof(name), PROGRAMS "%s", program);
	ck_assert_int_eq(file_beside_program(path, name, NULL), 0);
	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	child = fork();
	if (child) {
		close(fd[0]);
		input = fd[1];
		return;
	}
	if (!freopen(said, "w", stdout) || dup2(fd[0], STDIN_FILENO) < 0)
		_exit(1);
	execl(path, path, how, enough, (char *)NULL);
	_exit(127);
}

static struct who who_of(pid_t pid)
{
	return (struct who){ pid, pid, who_start(pid) };
}

static int arm_for(pid_t pid, const char *monitor, const char *host)
{
	const struct enter_conf c = { library, monitor, "/nonexistent", host };
	struct who w = who_of(pid);

	err = (struct err){ 0 };
	return enter_arm(tracees, &w, &c, &result, &err);
}

static int arm(pid_t pid)
{
	return arm_for(pid, "omig1:lm:0:0123", "host");
}

static int leave(pid_t pid)
{
	struct who w = who_of(pid);

	err = (struct err){ 0 };
	return enter_leave(tracees, &w, &result, &err);
}

static int look(pid_t pid)
{
	struct who w = who_of(pid);

	err = (struct err){ 0 };
	return enter_look(&w, &result, &err);
}

/* A program that has just been started has no libraries yet. */
static void arm_it(void)
{
	int rc = arm(child);

	for (int i = 0; rc && i < TRIES; i++) {
		usleep(1000);
		rc = arm(child);
	}
	ck_assert_msg(!rc, "%s", err.text);
}

/* libomig may be being loaded. */
static void leave_it(void)
{
	int rc = leave(child);

	for (int i = 0; rc == -ERR_AGAIN && i < TRIES; i++)
		rc = leave(child);
	ck_assert_msg(!rc, "%s", err.text);
	ck_assert_uint_eq(result.state, GATE_CLOSED);
}

static void until_state(enum gate_state state)
{
	int rc = look(child);

	for (int i = 0; i < TRIES && (rc || result.state != state); i++) {
		loop_wait(loop, NSEC_PER_MSEC);
		rc = look(child);
	}
	ck_assert_msg(!rc && result.state == state, "%s: %s %s", err.text,
		      gate_state_name(result.state), result.why);
}

/* The refusal that remains once the program has loaded its libraries. */
static void refuses(pid_t pid, enum err_code code, const char *why)
{
	for (int i = 0; i < TRIES; i++) {
		int rc = arm(pid);

		ck_assert_int_ne(rc, 0);
		if (rc == -(int)code && strstr(err.text, why))
			return;
		usleep(1000);
	}
	ck_abort_msg("%s", err.text);
}

/* Its status may have been consumed by tracees, which wait for all that they trace. */
static void ends_right(void)
{
	int fd = open(enough, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	pid_t got = 0;

	ck_assert_int_ge(fd, 0);
	close(fd);
	close(input);
	for (int i = 0; i < TRIES && !got; i++) {
		loop_wait(loop, NSEC_PER_MSEC);
		got = waitpid(child, NULL, WNOHANG);
	}
	ck_assert_int_ne(got, 0);
	child = 0;
	ck_assert_msg(strstr(text(), "0 wrong\n"), "%s", text());
}

static const char *const programs[] = { "entered", "entered-now" };

TEST_EACH(a_program_is_entered_left_and_entered_again, i, ARRAY_LEN(programs))
{
	start(programs[i], "plain");
	for (int round = 0; round < 5; round++) {
		uint64_t slots;

		arm_it();
		slots = result.slots;
		ck_assert_uint_ge(slots, 4);
		ck_assert_uint_eq(result.skipped, 0);
		until_state(GATE_OPEN);
		ck_assert_int_eq(arm(child), 0);
		ck_assert_uint_eq(result.state, GATE_OPEN);
		ck_assert_uint_eq(result.slots, slots);
		ck_assert_uint_eq(result.skipped, 0);
		leave_it();
	}
	ends_right();
}

TEST(a_file_that_cannot_be_loaded_is_named_in_the_reason)
{
	start("entered", "plain");
	ck_assert_int_eq(file_beside_program(library, PROGRAMS "entered-32", NULL), 0);
	arm_it();
	until_state(GATE_FAILED);
	ck_assert_msg(strstr(result.why, "entered-32"), "'%s'", result.why);
	ends_right();
}

TEST(a_program_belongs_to_one_lm)
{
	start("entered", "plain");
	arm_it();
	until_state(GATE_OPEN);
	ck_assert_int_eq(arm_for(child, "omig1:lm:0:0123", "other"), -ERR_EXISTS);
	ck_assert_str_eq(err.text,
			 "it is watched already by the lm of host: omig detach ends that");
	ck_assert_int_eq(arm_for(child, "omig1:lm:0:4567", "host"), -ERR_EXISTS);
	ck_assert_msg(strstr(err.text, "the lm of host of another monitor"), "%s", err.text);
	ck_assert_int_eq(look(child), 0);
	ck_assert_uint_eq(result.state, GATE_OPEN);
	leave_it();
	ck_assert_int_eq(arm_for(child, "omig1:lm:0:4567", "other"), 0);
	ck_assert_int_eq(arm(child), -ERR_EXISTS);
	ends_right();
}

/* --- memory */

#define MEMORY_MAX_BYTES (1 << 20) /* the program and its library have some 50 KiB */

static bool is_of_program(const struct maps_region *r)
{
	static const char *const name[] = { "/entered", "/entered-now", "/libmpi_entered.so" };

	for (size_t i = 0; i < ARRAY_LEN(name); i++) {
		size_t n = strlen(name[i]);

		if (r->path_n > n && !memcmp(r->path + r->path_n - n, name[i], n))
			return true;
	}
	return false;
}

/* Code, slots and variables of the program and its MPI library, with their places and rights. */
static void take_memory(struct buf *out)
{
	struct buf maps = BUF_INIT(MAPS_MAX_BYTES);
	struct maps_region r;

	buf_clear(out);
	ck_assert_int_eq(maps_read(child, &maps, NULL), 0);
	for (const char *at = buf_str(&maps); maps_next(&at, &r);) {
		size_t n = (size_t)(r.to - r.from);
		uint8_t *p;

		if (!is_of_program(&r))
			continue;
		buf_printf(out, "%llx %s", (unsigned long long)r.from, r.rights);
		p = malloc(n);
		ck_assert_ptr_nonnull(p);
		ck_assert_int_eq(image_peek(child, r.from, p, n, NULL), 0);
		ck_assert_int_eq(buf_put(out, p, n), 0);
		free(p);
	}
	ck_assert_uint_gt(out->n, 8 * 4096);
	buf_done(&maps);
}

static bool is_same(const struct buf *a, const struct buf *b)
{
	return a->n == b->n && !memcmp(a->p, b->p, a->n);
}

/* The loader fills slots at their first use: all that are used are filled when nothing changes. */
static void take_settled_memory(struct buf *out)
{
	struct buf before = BUF_INIT(MEMORY_MAX_BYTES);
	int same = 0;

	for (int i = 0; i < TRIES && !strstr(text(), "ready"); i++)
		usleep(1000);
	for (int i = 0; i < TRIES && same < 20; i++) {
		take_memory(&before);
		usleep(5000);
		take_memory(out);
		same = is_same(&before, out) ? same + 1 : 0;
	}
	ck_assert_int_eq(same, 20);
	buf_done(&before);
}

static void spin(pid_t *spinner, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		spinner[i] = fork();
		if (spinner[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
}

static void end_spinners(const pid_t *spinner, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		kill(spinner[i], SIGKILL);
		waitpid(spinner[i], NULL, 0);
	}
}

static const struct {
	const char *program, *how;
	size_t spinners;
} remains[] = {
	{ "entered", "plain", 0 },
	{ "entered-now", "plain", 0 },
	{ "entered", "computes", 4 },
	{ "entered-now", "computes", 4 },
};

TEST_EACH(memory_is_as_before_once_a_program_is_left, i, ARRAY_LEN(remains))
{
	struct buf before = BUF_INIT(MEMORY_MAX_BYTES), after = BUF_INIT(MEMORY_MAX_BYTES);
	pid_t spinner[4];

	start(remains[i].program, remains[i].how);
	take_settled_memory(&before);
	spin(spinner, remains[i].spinners);
	for (int round = 0; round < 3; round++) {
		arm_it();
		until_state(GATE_OPEN);
		take_memory(&after);
		ck_assert(!is_same(&before, &after));
		leave_it();
		take_memory(&after);
		ck_assert(is_same(&before, &after));
	}
	end_spinners(spinner, remains[i].spinners);
	ends_right();
	buf_done(&before);
	buf_done(&after);
}

static pid_t said_child(void)
{
	const char *at = NULL;

	for (int i = 0; i < TRIES && (!at || !strchr(at, '\n')); i++) {
		usleep(1000);
		at = strstr(text(), "child ");
	}
	ck_assert_ptr_nonnull(at);
	return (pid_t)strtol(at + strlen("child "), NULL, 10);
}

TEST(a_child_that_has_its_parents_gate_is_refused)
{
	pid_t other;

	start("entered", "forks-later");
	arm_it();
	until_state(GATE_OPEN);
	kill(child, SIGUSR1);
	other = said_child();
	ck_assert_int_eq(look(other), -ERR_NOTFOUND);
	refuses(other, ERR_UNSUPPORTED, "child process of one that was attached");
	ck_assert_int_eq(leave(other), -ERR_NOTFOUND);
	ck_assert_int_eq(look(child), 0);
	ck_assert_uint_eq(result.state, GATE_OPEN);
	ends_right();
}

static const struct {
	const char *program, *how;
	enum err_code code;
	const char *why;
} refusals[] = {
	{ "entered-static", "plain", ERR_UNSUPPORTED, "the program is static" },
	{ "entered-inside", "plain", ERR_UNSUPPORTED, "MPI is linked into the program" },
	{ "entered", "forbids", ERR_UNSUPPORTED, "seccomp" },
};

TEST_EACH(a_program_that_cannot_be_entered_is_unharmed, i, ARRAY_LEN(refusals))
{
	start(refusals[i].program, refusals[i].how);
	refuses(child, refusals[i].code, refusals[i].why);
	ends_right();
}

/* A compiler without 32-bit programs makes a script instead. */
TEST(a_32_bit_program_is_refused)
{
	start("entered-32", "");
	for (int i = 0; i < TRIES && arm(child) && !strstr(err.text, "32-bit"); i++) {
		if (waitpid(child, NULL, WNOHANG) == child) {
			child = 0;
			return;
		}
		usleep(1000);
	}
	refuses(child, ERR_UNSUPPORTED, "32-bit");
	ends_right();
}

TEST(a_process_that_has_ended_and_is_not_waited_for_is_refused)
{
	start("entered", "zombie");
	refuses(said_child(), ERR_NOTFOUND, "has ended");
	ends_right();
}

TEST(a_process_that_another_traces_is_refused)
{
	pid_t other;

	start("entered", "traced");
	other = said_child(); /* the one that is traced */
	refuses(other, ERR_SYS, "is traced already");
	ends_right();
}

/* Attached at any moment of exec. The last one may come after the attachment and undo it. */
TEST(a_program_that_starts_another_is_unharmed)
{
	int rc;

	start("entered", "starts");
	arm_it();
	for (int i = 0; i < 20; i++) {
		kill(child, SIGUSR1);
		usleep((useconds_t)i * 60);
		arm(child);
		loop_wait(loop, NSEC_PER_MSEC);
	}
	for (int i = 0; i < TRIES && (look(child) || result.state != GATE_OPEN); i++) {
		rc = arm(child);
		ck_assert_msg(!rc || err.code != ERR_NOTFOUND, "%s", err.text);
		loop_wait(loop, NSEC_PER_MSEC);
	}
	ck_assert_uint_eq(result.state, GATE_OPEN);
	ends_right();
}

/* Ended at any moment: an answer, and the next program is entered. */
TEST(a_program_that_ends_meanwhile_is_an_error_or_is_entered)
{
	for (int i = 0; i < 10; i++) {
		pid_t killer;

		start("entered", "plain");
		arm_it();
		leave_it();
		killer = fork();
		if (!killer) {
			usleep((useconds_t)i * 600);
			kill(child, SIGKILL);
			_exit(0);
		}
		for (int k = 0; k < TRIES && !arm(child); k++)
			leave(child);
		ck_assert_msg(err.code == ERR_NOTFOUND || err.code == ERR_AGAIN ||
				      err.code == ERR_SYS,
			      "%d %s", err.code, err.text);
		ck_assert_uint_gt(strlen(err.text), 0);
		waitpid(killer, NULL, 0);
		waitpid(child, NULL, __WALL);
		close(input);
	}
	child = 0;
}

SUITE_WITH("enter", set_up, clean_up)

#else

TEST(elsewhere_programs_are_not_entered_in_this_build)
{
	ck_assert_int_eq(gate_is_valid(&(struct gate){ 0 }), false);
}

SUITE("enter")

#endif
