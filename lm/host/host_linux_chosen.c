/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that are chosen, by their environment as it was when they called exec. */
#include "common/base/buf.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/ring/chosen.h"
#include "common/ring/seg.h"
#include "lm/host/host_linux_internal.h"
#include "lm/host/proctext.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROCESSES_MAX 65536 /* examined */
#define ENVIRONMENT_MAX_BYTES (256 * 1024) /* the rest is not examined */
#define DELETED " (deleted)" /* the kernel's mark of a program whose file was removed */

/* One pass over all processes. */
struct survey {
	struct host_linux *h;
	const char *caid;
	char own[FILE_PATH_BYTES]; /* the folder of our programs: none of these is chosen */
	char *text; /* of the environment, with a 0 in front */
	int32_t *pid;
	size_t n;
};

static ssize_t read_environment(const struct survey *s, int32_t pid)
{
	char path[64];
	size_t used = 0;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "proc/%d/environ", (int)pid);
	fd = openat(s->h->root, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while (used < ENVIRONMENT_MAX_BYTES &&
	       (n = read(fd, s->text + 1 + used, ENVIRONMENT_MAX_BYTES - used)) > 0)
		used += (size_t)n;
	close(fd);
	s->text[1 + used] = 0;
	return n < 0 ? -1 : (ssize_t)used;
}

/* NULL: it is not in the n bytes that were read. */
static const char *variable(const struct survey *s, size_t n, const char *name)
{
	size_t length = strlen(name);
	const char *at = s->text, *end = s->text + 1 + n;

	while ((at = memchr(at, 0, (size_t)(end - at))) && (size_t)(end - at) > length + 1) {
		at++;
		if (!memcmp(at, name, length) && at[length] == '=')
			return at + length + 1;
	}
	return NULL;
}

static bool is_of(const char *conn, const char *caid)
{
	char its[SEG_CAID_CHARS + 1];

	seg_caid(conn, its);
	return str_eq(its, caid);
}

static void find_program(const struct survey *s, struct host_chosen *c)
{
	char path[FILE_PATH_BYTES], link[64];
	ssize_t n;
	size_t cut;

	snprintf(link, sizeof(link), "proc/%d/exe", (int)c->pid);
	n = readlinkat(s->h->root, link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	cut = strlen(path) > strlen(DELETED) ? strlen(path) - strlen(DELETED) : 0;
	if (cut && str_eq(path + cut, DELETED))
		path[cut] = 0;
	str_copy(c->program, sizeof(c->program), path);
}

static void find_name(const struct survey *s, struct host_chosen *c)
{
	const char *text = linux_text(s->h, "proc/%d/comm", (int)c->pid);

	str_copy(c->name, sizeof(c->name), text);
	c->name[strcspn(c->name, "\n")] = 0;
}

static bool is_ours(const struct survey *s, const char *program)
{
	size_t n = strlen(s->own);

	return n && !strncmp(program, s->own, n) && program[n] == '/' &&
	       !strchr(program + n + 1, '/');
}

static bool look_at(const struct survey *s, int32_t pid, struct host_chosen *c)
{
	const char *mark, *job;
	ssize_t n = read_environment(s, pid);
	int64_t number;

	if (n <= 0)
		return false;
	mark = variable(s, (size_t)n, CHOSEN_VARIABLE);
	if (!mark || str_to_i64(mark, 1, INT32_MAX, &number) ||
	    !is_of(variable(s, (size_t)n, "OMIG_MAINSM"), s->caid))
		return false;
	*c = (struct host_chosen){ .pid = pid, .mark = (int32_t)number };
	job = variable(s, (size_t)n, "OMIG_JOB");
	str_copy(c->job, sizeof(c->job), job ? job : "");
	find_name(s, c);
	find_program(s, c);
	return !is_ours(s, c->program);
}

static bool is_mine(const struct survey *s, int32_t pid)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "proc/%d", (int)pid);
	return pid != s->h->own_pid && !fstatat(s->h->root, path, &st, 0) && st.st_uid == s->h->uid;
}

static bool survey_begin(struct survey *s)
{
	ssize_t n = readlinkat(s->h->root, "proc/self/exe", s->own, sizeof(s->own) - 1);

	s->own[n > 0 ? n : 0] = 0;
	dirname(s->own);
	s->text = calloc(1, ENVIRONMENT_MAX_BYTES + 2);
	s->pid = malloc(PROCESSES_MAX * sizeof(*s->pid));
	if (s->pid)
		s->n = linux_numbered(s->h, "proc", s->pid, PROCESSES_MAX);
	return s->text && s->pid;
}

int linux_each_chosen(struct host *host, const char *caid, host_on_chosen_fn fn, void *arg)
{
	struct survey s = { .h = (struct host_linux *)host, .caid = caid };
	struct host_chosen c;
	bool has_room = survey_begin(&s);

	for (size_t i = 0; has_room && i < s.n; i++)
		if (is_mine(&s, s.pid[i]) && look_at(&s, s.pid[i], &c))
			fn(arg, &c);
	free(s.text);
	free(s.pid);
	return has_room ? 0 : -ERR_NOMEM;
}

/* --- ranks */

#define ANCESTORS_MAX 64
#define MAPS_MAX_BYTES (4 * 1024 * 1024)

static int64_t number(const struct survey *s, size_t n, const char *const *names)
{
	int64_t v;

	for (; *names; names++) {
		const char *text = variable(s, n, *names);

		if (text && !str_to_i64(text, 0, INT32_MAX, &v))
			return v;
	}
	return -1;
}

/* Other processes that the launcher has started, such as shells, have none. */
static bool has_mpi(const struct survey *s, int32_t pid)
{
	struct buf b = BUF_INIT(MAPS_MAX_BYTES);
	char path[32];
	bool has;

	snprintf(path, sizeof(path), "proc/%d/maps", (int)pid);
	has = !file_read_at(s->h->root, path, MAPS_MAX_BYTES, &b, NULL) &&
	      strstr(buf_str(&b), "/libmpi");
	buf_done(&b);
	return has;
}

/* Hydra gives its proxy the address of the job's mpiexec, the same on all hosts. */
static void find_control_port(struct survey *s, int32_t pid, char *out, size_t size)
{
	static const char option[] = "--control-port";
	struct buf b = BUF_INIT(HOST_STRINGS_MAX_BYTES);
	int rc = host_strings(&s->h->host, pid, false, &b, NULL);
	const char *end = buf_str(&b) + b.n;

	for (const char *p = buf_str(&b); !rc && p < end; p += strlen(p) + 1)
		if (str_eq(p, option) && p + sizeof(option) < end)
			str_copy(out, size, p + sizeof(option));
	buf_done(&b);
}

/* Open MPI gives ranks the address of their job's mpirun: JOB.0;tcp://ADDRESS[,ADDRESS]...:PORT */
static void find_uri(const struct survey *s, size_t n, char *out, size_t size)
{
	const char *uri = variable(s, n, "OMPI_MCA_orte_hnp_uri"), *at;

	at = uri ? strstr(uri, ";tcp://") : NULL;
	if (!at)
		return;
	str_copy(out, size, at + strlen(";tcp://"));
	out[strcspn(out, ";")] = 0;
}

/* The topmost launcher above it. port: "" or the address of a job of Hydra. */
static int32_t find_launcher(struct survey *s, int32_t pid, char *port, size_t size)
{
	struct host_chosen at = { .pid = pid };
	struct host_figures f;
	int32_t found = 0;

	for (int i = 0; i < ANCESTORS_MAX; i++) {
		if (host_figures(&s->h->host, at.pid, HOST_FIGURES_STAT, &f, NULL) || f.parent <= 1)
			break;
		at.pid = f.parent;
		find_name(s, &at);
		if (!chosen_is_launcher(at.name))
			continue;
		found = at.pid;
		find_control_port(s, at.pid, port, size);
	}
	return found;
}

static void name_job(const struct survey *s, size_t n, const char *port, struct host_rank *r)
{
	const char *given = variable(s, n, "OMIG_JOB"), *slurm = variable(s, n, "SLURM_JOB_ID"),
		   *step = variable(s, n, "SLURM_STEP_ID"),
		   *pmix = variable(s, n, "PMIX_NAMESPACE");

	if (given)
		str_copy(r->job, sizeof(r->job), given);
	else if (slurm)
		snprintf(r->job, sizeof(r->job), "slurm-%s.%s", slurm, step ? step : "0");
	else if (pmix)
		str_copy(r->job, sizeof(r->job), pmix);
	else if (port[0])
		snprintf(r->job, sizeof(r->job), "hydra-%.50s", port);
	else
		snprintf(r->job, sizeof(r->job), "pid-%d", (int)r->pid);
}

static bool read_space(const struct survey *s, const char *pid, const char *kind, char *out,
		       size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "proc/%s/ns/%s", pid, kind);
	n = readlinkat(s->h->root, path, out, size - 1);
	out[n > 0 ? n : 0] = 0;
	return n > 0;
}

static bool is_same_space(const struct survey *s, const char *pid, const char *kind)
{
	char own[32], its[32];

	return !read_space(s, "self", kind, own, sizeof(own)) ||
	       !read_space(s, pid, kind, its, sizeof(its)) || str_eq(own, its);
}

/*
 * Several lms of one machine may see a process, each by another pid: those of the containers around
 * it. Its own pid namespace and its pid there name it.
 */
static void find_spaces(const struct survey *s, struct host_rank *r)
{
	char pid[16], space[32];
	int32_t inner = text_inner_pid(linux_text(s->h, "proc/%d/status", (int)r->pid));

	snprintf(pid, sizeof(pid), "%d", (int)r->pid);
	if (inner > 0 && read_space(s, pid, "pid", space, sizeof(space)))
		snprintf(r->process, sizeof(r->process), "%s.%d", space, (int)inner);
	r->is_near = is_same_space(s, pid, "pid") && is_same_space(s, pid, "uts");
}

static bool look_at_rank(struct survey *s, int32_t pid, struct host_rank *r)
{
	static const char *const rank[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
					    "SLURM_PROCID", NULL };
	static const char *const size[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS",
					    NULL };
	struct host_chosen c = { .pid = pid };
	char port[sizeof(r->origin)] = "";
	ssize_t n = read_environment(s, pid);

	*r = (struct host_rank){ .pid = pid };
	r->rank = n > 0 ? number(s, (size_t)n, rank) : -1;
	if (r->rank < 0 || !has_mpi(s, pid))
		return false;
	r->size = number(s, (size_t)n, size);
	find_program(s, &c);
	str_copy(r->program, sizeof(r->program), c.program);
	r->launcher = find_launcher(s, pid, port, sizeof(port));
	name_job(s, (size_t)n, port, r);
	str_copy(r->origin, sizeof(r->origin), port);
	find_uri(s, (size_t)n, r->origin, sizeof(r->origin));
	find_spaces(s, r);
	return true;
}

int linux_each_rank(struct host *host, host_on_rank_fn fn, void *arg)
{
	struct survey s = { .h = (struct host_linux *)host };
	struct host_rank r;
	bool has_room = survey_begin(&s);

	for (size_t i = 0; has_room && i < s.n; i++)
		if (is_mine(&s, s.pid[i]) && look_at_rank(&s, s.pid[i], &r))
			fn(arg, &r);
	free(s.text);
	free(s.pid);
	return has_room ? 0 : -ERR_NOMEM;
}
