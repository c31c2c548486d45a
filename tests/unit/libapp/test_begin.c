/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways in which a program begins, and the reports to its lm. A process begins once: each case
 * is a child that reports by its exit status.
 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/ring/calls_id.h"
#include "libapp/hot/app_state.h"
#include "libapp/hot/hook.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* this program as a rank: the name of its job is the one in the environment */
#define AS_RANK "--as-rank"

void mpi_init_(int *ierr), mpi_init(int *ierr), mpi_init__(int *ierr), MPI_INIT(int *ierr);
void mpi_init_f08_(int *ierr);
void mpi_init_thread_(const int *required, int *provided, int *ierr);
void mpi_init_thread(const int *required, int *provided, int *ierr);
void mpi_init_thread__(const int *required, int *provided, int *ierr);
void MPI_INIT_THREAD(const int *required, int *provided, int *ierr);
void mpi_init_thread_f08_(const int *required, int *provided, int *ierr);

/* Runs fn in a child. Returns its result. */
static int in_child(int (*fn)(const void *arg), const void *arg)
{
	pid_t pid = fork();
	int how = -1;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		exit(fn(arg));
	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	return WIFEXITED(how) ? WEXITSTATUS(how) : 1000 + how;
}

static bool is_watched(void)
{
	return app_state.base && app_state.fd >= 0 && app_header()->magic == SEG_MAGIC;
}

/* --- calls that begin */

struct begin {
	int (*c)(void *argc, void *argv);
	void (*f)(int *ierr);
	void (*f_thread)(const int *required, int *provided, int *ierr);
	int result;
};

/* Returns 0 if all is as expected; each fault has a number. */
static int begins(const void *arg)
{
	const struct begin *b = arg;
	const int required = 3;
	int ierr = 77, provided = -1;

	fake_end.result = b->result;
	if (b->c)
		ierr = b->c(NULL, NULL);
	else if (b->f)
		b->f(&ierr);
	else if (b->f_thread)
		b->f_thread(&required, &provided, &ierr);
	else
		ierr = MPI_Init_thread(NULL, NULL, required, &provided);
	if (ierr != b->result)
		return 1;
	if (!b->c && !b->f && provided != required)
		return 2;
	return is_watched() == (b->result == 0) ? 0 : 3;
}

static const struct begin ways[] = {
	{ .c = MPI_Init },
	{ 0 },
	{ .f = mpi_init_ },
	{ .f = mpi_init },
	{ .f = mpi_init__ },
	{ .f = MPI_INIT },
	{ .f = mpi_init_f08_ },
	{ .f_thread = mpi_init_thread_ },
	{ .f_thread = mpi_init_thread },
	{ .f_thread = mpi_init_thread__ },
	{ .f_thread = MPI_INIT_THREAD },
};

TEST(a_program_is_watched_however_it_begins)
{
	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		ck_assert_msg(in_child(begins, &ways[i]) == 0, "way %zu", i);
}

TEST(one_that_cannot_begin_gets_its_error_and_is_not_watched)
{
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		struct begin b = ways[i];

		b.result = 15;
		ck_assert_msg(in_child(begins, &b) == 0, "way %zu", i);
	}
}

static int begins_without_ierror(const void *arg)
{
	const int required = 1;
	int provided = -1;

	if (arg)
		mpi_init_(NULL);
	else
		mpi_init_thread_(&required, &provided, NULL);
	return is_watched() ? 0 : 1;
}

TEST(fortran_may_leave_out_its_error)
{
	ck_assert_int_eq(in_child(begins_without_ierror, NULL), 0);
	ck_assert_int_eq(in_child(begins_without_ierror, ""), 0);
}

/* The MPI of this test has no such function. */
static int begins_with_what_is_missing(const void *arg)
{
	const int required = 1;
	int provided = -1, ierr = 0;

	mpi_init_thread_f08_(&required, &provided, &ierr);
	mpi_init_thread_f08_(&required, &provided, NULL);
	return ierr && provided == -1 && !is_watched() ? 0 : 1;
}

TEST(missing_library_function_is_an_error)
{
	ck_assert_int_eq(in_child(begins_with_what_is_missing, NULL), 0);
}

static int begins_twice(const void *arg)
{
	const void *base;

	MPI_Init(NULL, NULL);
	base = app_state.base;
	MPI_Init(NULL, NULL);
	return is_watched() && app_state.base == base ? 0 : 1;
}

TEST(a_second_beginning_changes_nothing)
{
	ck_assert_int_eq(in_child(begins_twice, NULL), 0);
}

/* --- environment */

struct env {
	const char *name, *value;
	uint64_t want;
	const char *version; /* of the MPI library; NULL: the one that is known */
};

static void begin_with(const struct env *e)
{
	fake_version = e->version;
	if (e->name)
		setenv(e->name, e->value, 1);
	MPI_Init(NULL, NULL);
}

static int starts_with_word(const void *arg)
{
	const struct env *e = arg;

	begin_with(e);
	if (!is_watched() || app_header()->w.start_word != e->want)
		return 1;
	for (unsigned i = 0; i < CALL_COUNT; i++)
		if (hook_word[i] != e->want)
			return 2;
	return 0;
}

TEST(hooks_start_as_set_by_the_environment)
{
	static const struct env row[] = {
		{ "OMIG_START", "count", HOOK_COUNT, NULL },
		{ "OMIG_START", "time", HOOK_COUNT | HOOK_TIME, NULL },
		{ "OMIG_START", "volume", HOOK_COUNT | HOOK_TIME | HOOK_VOLUME, NULL },
		{ "OMIG_START", "partner", HOOK_START_KNOWN & ~(HOOK_SITE | HOOK_MESSAGE), NULL },
		{ "OMIG_START", "volume+site", HOOK_START_KNOWN & ~(HOOK_PARTNER | HOOK_MESSAGE),
		  NULL },
		{ "OMIG_START", "partner+site", HOOK_START_KNOWN & ~HOOK_MESSAGE, NULL },
		{ "OMIG_START", "partner+site+messages", HOOK_START_KNOWN, NULL },
		{ "OMIG_START", "off+messages", HOOK_MESSAGE, NULL },
		{ "OMIG_START", "messages", 0, NULL },
		{ "OMIG_START", "time+site", 0, NULL },
		{ "OMIG_START", "all", 0, NULL },
		{ "OMIG_START", "", 0, NULL },
		{ NULL, NULL, 0, NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		ck_assert_msg(in_child(starts_with_word, &row[i]) == 0, "row %zu", i);
}

static int is_watched_as_wanted(const void *arg)
{
	const struct env *e = arg;

	begin_with(e);
	return is_watched() == (e->want != 0) ? 0 : 1;
}

TEST(a_program_may_be_left_alone)
{
	static const struct env row[] = {
		{ "OMIG_DISABLE", "1", 0, NULL },
		{ "OMIG_DISABLE", "yes", 0, NULL },
		{ "OMIG_DISABLE", "0", 1, NULL },
		{ "OMIG_DISABLE", "", 1, NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		ck_assert_msg(in_child(is_watched_as_wanted, &row[i]) == 0, "row %zu", i);
}

static int has_rank(const void *arg)
{
	const struct env *e = arg;
	const struct seg_own *own;

	begin_with(e);
	own = &app_header()->w;
	if (e->version)
		return own->flavour == SEG_FLAVOUR_NONE && own->rank == (int32_t)e->want &&
				       own->world == 0 && own->world_size == -1
			       ? 0
			       : 1;
	return own->rank == FAKE_RANK && own->world_size == FAKE_SIZE && own->thread_level == 3 ? 0
												: 2;
}

TEST(a_library_that_is_not_known_leaves_the_rank_to_the_launcher)
{
	static const struct env row[] = {
		{ "OMPI_COMM_WORLD_RANK", "7", 7, "Some MPI 1.0" },
		{ "PMI_RANK", "0", 0, "Some MPI 1.0" },
		{ "PMIX_RANK", "2147483647", INT32_MAX, "Some MPI 1.0" },
		{ "SLURM_PROCID", "3", 3, "Open MPI v5.0" },
		{ "SLURM_PROCID", "2147483648", UINT32_MAX, "Some MPI 1.0" }, /* -1: not known */
		{ "SLURM_PROCID", "-3", UINT32_MAX, "Some MPI 1.0" },
		{ "SLURM_PROCID", "three", UINT32_MAX, "Some MPI 1.0" },
		{ NULL, NULL, UINT32_MAX, "Some MPI 1.0" },
		{ "PMI_RANK", "9", 0, NULL }, /* MPI_Comm_rank decides */
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		ck_assert_msg(in_child(has_rank, &row[i]) == 0, "row %zu", i);
}

static int has_size(const void *arg)
{
	const struct env *e = arg;

	begin_with(e);
	return app_header()->w.world_size == (int32_t)e->want ? 0 : 1;
}

TEST(a_rank_has_the_size_of_its_world)
{
	static const struct env row[] = {
		{ "OMPI_COMM_WORLD_SIZE", "8", 8, "Some MPI 1.0" },
		{ "PMI_SIZE", "1", 1, "Some MPI 1.0" },
		{ "SLURM_NTASKS", "2", 2, "Some MPI 1.0" },
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		ck_assert_msg(in_child(has_size, &row[i]) == 0, "row %zu", i);
}

/* --- its job and its site */

static void forget_jobs(void)
{
	static const char *const name[] = { "OMIG_JOB", "SLURM_JOB_ID", "SLURM_STEP_ID",
					    "PMIX_NAMESPACE", "OMIG_SITE" };

	for (size_t i = 0; i < ARRAY_LEN(name); i++)
		unsetenv(name[i]);
}

static int has_job(const void *arg)
{
	char own[64];

	MPI_Init(NULL, NULL);
	snprintf(own, sizeof(own), "pid-%d", (int)getpid());
	return str_eq(app_header()->w.job, arg ? arg : own) ? 0 : 1;
}

TEST(a_job_has_the_name_that_its_launcher_gives)
{
	forget_jobs();
	ck_assert_int_eq(in_child(has_job, NULL), 0);
	setenv("PMIX_NAMESPACE", "prte-1", 1);
	ck_assert_int_eq(in_child(has_job, "prte-1"), 0);
	setenv("SLURM_JOB_ID", "17", 1);
	ck_assert_int_eq(in_child(has_job, "slurm-17.0"), 0);
	setenv("SLURM_STEP_ID", "2", 1);
	ck_assert_int_eq(in_child(has_job, "slurm-17.2"), 0);
	setenv("OMIG_JOB", "mine", 1);
	ck_assert_int_eq(in_child(has_job, "mine"), 0);
}

/*
 * A process with the command line of Hydra's proxy, and this program as a rank under it and three
 * shells.
 */
static int as_proxy(const void *arg)
{
	char self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = 0;
	setenv("OMIG_TEST_PROGRAM", self, 1);
	execl(self, "proxy", "--control-port", arg, (char *)NULL);
	return 99;
}

TEST(a_job_of_hydra_has_the_name_of_its_port)
{
	forget_jobs();
	setenv("OMIG_TEST_JOB", "hydra-host:4711", 1);
	ck_assert_int_eq(in_child(as_proxy, "host:4711"), 0);
	ck_assert_int_ne(in_child(as_proxy, "host:4712"), 0);
}

static int proxy(void)
{
	pid_t pid = fork();
	int how = -1;

	if (pid == 0) {
		/* Not the last command of the shell, which would become it. */
		execl("/bin/sh", "sh", "-c",
		      "sh -c 'sh -c \"\\\"$OMIG_TEST_PROGRAM\\\" " AS_RANK
		      "; exit \\$?\"; exit $?'; exit $?",
		      (char *)NULL);
		_exit(98);
	}
	return waitpid(pid, &how, 0) == pid && WIFEXITED(how) ? WEXITSTATUS(how) : 97;
}

static int has_site(const void *arg)
{
	MPI_Init(NULL, NULL);
	return str_eq(app_header()->w.site, arg) && app_header()->w.pid == getpid() ? 0 : 1;
}

TEST(its_site_is_the_one_that_it_names)
{
	forget_jobs();
	ck_assert_int_eq(in_child(has_site, ""), 0);
	setenv("OMIG_SITE", "alpha", 1);
	ck_assert_int_eq(in_child(has_site, "alpha"), 0);
}

/* --- without room */

static int begins_without_room(const void *arg)
{
	struct rlimit before, small;

	if (getrlimit(RLIMIT_FSIZE, &before))
		return 1;
	small = (struct rlimit){ 4096, before.rlim_max };
	if (setrlimit(RLIMIT_FSIZE, &small) || MPI_Init(NULL, NULL) || is_watched())
		return 2;
	if (MPI_Send(NULL, 0, FAKE_INT, 1, 1, FAKE_WORLD) || MPI_Finalize())
		return 3;
	return setrlimit(RLIMIT_FSIZE, &before) ? 4 : 0;
}

TEST(without_room_for_its_segment_a_program_runs_nevertheless)
{
	ck_assert_int_eq(in_child(begins_without_room, NULL), 0);
}

static int has_threads(const void *arg)
{
	const struct env *e = arg;

	begin_with(e);
	return is_watched() && app_state.plan.thread_count == e->want ? 0 : 1;
}

/* Descriptors that may be open, and where the segment's is among them. */
struct descriptors {
	rlim_t allowed;
	int from;
};

static int has_descriptor(const void *arg)
{
	const struct descriptors *d = arg;
	const struct rlimit l = { d->allowed, d->allowed };

	if (setrlimit(RLIMIT_NOFILE, &l) || MPI_Init(NULL, NULL))
		return 1;
	return is_watched() && app_state.fd >= d->from && app_state.fd < d->from + 10 ? 0 : 2;
}

/* Programs may rely on low numbers of descriptors. */
TEST(its_descriptor_is_as_high_as_is_allowed)
{
	static const struct descriptors row[] = { { 1024, 900 }, { 910, 900 }, { 900, 200 },
						  { 201, 200 },	 { 200, 100 }, { 101, 100 },
						  { 100, 3 } };

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		ck_assert_msg(in_child(has_descriptor, &row[i]) == 0, "row %zu", i);
}

TEST(threads_have_the_room_that_is_asked_for)
{
	static const struct env row[] = {
		{ "OMIG_THREADS", "3", 3, NULL },
		{ "OMIG_THREADS", "0", SEG_THREADS_DEFAULT, NULL },
		{ "OMIG_THREADS", "many", SEG_THREADS_DEFAULT, NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		ck_assert_msg(in_child(has_threads, &row[i]) == 0, "row %zu", i);
}

int main(int argc, char **argv)
{

	if (argc == 2 && str_eq(argv[1], AS_RANK))
		return has_job(getenv("OMIG_TEST_JOB"));
	if (argc == 3)
		return proxy();
	return suite_run("begin", NULL, NULL);
}
