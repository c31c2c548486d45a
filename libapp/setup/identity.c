/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The identity of this process: from MPI, from its launcher's environment, and from /proc if there
 * is one.
 */
#include "common/base/str.h"
#include "libapp/hot/app_state.h"
#include "libapp/hot/flavour.h"
#include "libapp/setup/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANCESTORS 4 /* a launcher's proxy is the parent, or above a shell or two */
#define CMDLINE_BYTES 4096

static int env_int(const char *const *names)
{
	int64_t v;

	for (; *names; names++) {
		const char *s = setup_env(*names);

		if (s && !str_to_i64(s, 0, INT32_MAX, &v))
			return (int)v;
	}
	return -1;
}

static void fill_rank(struct seg_own *own, bool has_mpi)
{
	static const char *const rank[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
					    "SLURM_PROCID", NULL };
	static const char *const size[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS",
					    NULL };
	int level = 0;

	own->rank = own->world_size = -1;
	if (!has_mpi)
		return;
	if (!flavour || mpi.Comm_rank(flavour->comm_world(), &app_state.rank) != 0)
		app_state.rank = env_int(rank);
	if (!flavour || mpi.Comm_size(flavour->comm_world(), &app_state.world_size) != 0)
		app_state.world_size = env_int(size);
	if (flavour && mpi.Query_thread(&level) == 0)
		own->thread_level = (uint32_t)level;
	own->rank = app_state.rank;
	own->world_size = app_state.world_size;
	own->flavour = flavour ? flavour->id : SEG_FLAVOUR_NONE;
}

static ssize_t read_proc(pid_t pid, const char *what, char *out, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, out, size - 1);
	close(fd);
	if (n >= 0)
		out[n] = 0;
	return n;
}

static pid_t parent_of(pid_t pid)
{
	char stat[512], *p;
	int64_t v = 0;

	if (read_proc(pid, "stat", stat, sizeof(stat)) <= 0 || !(p = strrchr(stat, ')')) ||
	    strlen(p) < 5)
		return 0;
	p += 4; /* ") S " */
	p[strcspn(p, " ")] = 0;
	return !str_to_i64(p, 1, INT32_MAX, &v) ? (pid_t)v : 0;
}

/*
 * Value of "--control-port" on a Hydra proxy's command line: host:port of the job's mpiexec, the
 * same on all hosts.
 */
static bool control_port(pid_t pid, char *out, size_t size)
{
	char line[CMDLINE_BYTES];
	ssize_t n = read_proc(pid, "cmdline", line, sizeof(line));
	const char *p = line;

	while (n > 0 && p < line + n) {
		const char *next = p + strlen(p) + 1;

		if (str_eq(p, "--control-port") && next < line + n) {
			snprintf(out, size, "hydra-%s", next);
			return true;
		}
		p = next;
	}
	return false;
}

static bool job_of_hydra(char *out, size_t size)
{
	pid_t pid = getppid();

	for (int i = 0; i < ANCESTORS && pid > 1; i++) {
		if (control_port(pid, out, size))
			return true;
		pid = parent_of(pid);
	}
	return false;
}

static void fill_job(char *out, size_t size)
{
	const char *job = setup_env("OMIG_JOB"), *slurm = setup_env("SLURM_JOB_ID");
	const char *step = setup_env("SLURM_STEP_ID"), *pmix = setup_env("PMIX_NAMESPACE");

	if (job)
		str_copy(out, size, job);
	else if (slurm)
		snprintf(out, size, "slurm-%s.%s", slurm, step ? step : "0");
	else if (pmix)
		str_copy(out, size, pmix);
	else if (!job_of_hydra(out, size))
		snprintf(out, size, "pid-%d", (int)getpid());
}

static void fill_program(char *out, size_t size)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = 0;
	str_copy(out, size, n > 0 ? path : program_invocation_name);
}

/* Stores the first line of the version text, with blanks for tabs. */
static void fill_library(char *out, size_t size)
{
	str_copy(out, size, flavour_version());
	out[strcspn(out, "\r\n")] = 0;
	for (char *p = out; *p; p++)
		if (*p == '\t')
			*p = ' ';
}

/* Fills facts that an observer needs to interpret the peer of a call. */
static void fill_world(struct seg_own *own)
{
	if (!flavour)
		return;
	own->world = flavour->comm_world();
	/* Handles of 4 bytes are Fortran's too; with the others Fortran counts from MPI_COMM_WORLD
	 * on. */
	own->f_world = flavour->handle_bytes == 4 ? (int32_t)own->world : 0;
	own->any_source = flavour->any_source;
	own->proc_null = flavour->proc_null;
}

void identity_fill(struct seg_own *own, bool has_mpi)
{
	fill_rank(own, has_mpi);
	own->pid = getpid();
	own->tick_source = app_state.ticks;
	own->counts_late = 1;
	own->was_entered = app_state.gate != NULL;
	fill_world(own);
	ticks_sample(app_state.ticks, &own->start_ticks, &own->start_ns);
	fill_job(own->job, sizeof(own->job));
	if (setup_env("OMIG_SITE"))
		str_copy(own->site, sizeof(own->site), setup_env("OMIG_SITE"));
	fill_program(own->program, sizeof(own->program));
	fill_library(own->library, sizeof(own->library));
}
