/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/launch/launch.h"

#include "common/base/hash.h"
#include "common/base/str.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libomig.so"
#define FILES_LIBRARY "libomig-io.so" /* beside it */

const char *const launch_variables[] = { "OMIG_MAINSM",	  "OMIG_LM",	"OMIG_SITE",
					 "OMIG_JOB",	  "OMIG_START", "OMIG_CHOSEN",
					 "OMIG_OTHER_LM", "OMIG_IO",	NULL };

static int bin_dir(char *out, struct err *e)
{
	ssize_t n = readlink("/proc/self/exe", out, FILE_PATH_BYTES - 1);

	if (n < 0)
		return err_sys(e, "/proc/self/exe");
	out[n] = '\0';
	dirname(out);
	return 0;
}

static int need_file(const char *path, int mode, struct err *e)
{
	if (access(path, mode) == 0)
		return 0;
	return err_set(e, ERR_NOTFOUND, "%s is missing: is the installation whole?", path);
}

/* LD_PRELOAD is a list without quotes, so a path must not contain a separator. */
static bool is_plain(const char *path)
{
	return !strpbrk(path, " :\t\n");
}

/*
 * Makes the link by rename, again for the same target: another command may use it at this
 * moment.
 */
static int put_link(const char *target, const char *path, struct err *e)
{
	char now[FILE_PATH_BYTES], made[FILE_PATH_BYTES + 24];
	ssize_t n = readlink(path, now, sizeof(now) - 1);

	if (n > 0 && (size_t)n == strlen(target) && !memcmp(now, target, (size_t)n))
		return 0;
	snprintf(made, sizeof(made), "%s.%ld", path, (long)getpid());
	unlink(made);
	if (!symlink(target, made) && !rename(made, path))
		return 0;
	err_sys(e, "%s", path);
	unlink(made);
	return -ERR_SYS;
}

#define FILES_LIBRARY_BYTES (FILE_PATH_BYTES + sizeof(FILES_LIBRARY))

/* Returns out: the path of the library of --files beside that of libomig, or beside its link. */
static const char *files_library(char out[FILES_LIBRARY_BYTES], const char *lib)
{
	snprintf(out, FILES_LIBRARY_BYTES, "%.*s" FILES_LIBRARY, (int)(str_base_name(lib) - lib),
		 lib);
	return out;
}

/* Both links are in one folder, as both libraries are. */
static int link_files_library(const char *lib, const char *link, struct err *e)
{
	char target[FILES_LIBRARY_BYTES], path[FILES_LIBRARY_BYTES];

	files_library(target, lib);
	return access(target, R_OK) ? 0 : put_link(target, files_library(path, link), e);
}

/*
 * A library whose folder no list can name is loaded by a link in the state directory. Other hosts
 * have that link when they have the library. Each library has its own link, with its own name,
 * which lists are searched for.
 */
static int link_library(struct launch *l, struct err *e)
{
	static const struct hash_key of_path;
	char state[FILE_PATH_BYTES], folder[FILE_PATH_BYTES], name[40], path[FILE_PATH_BYTES];
	int rc = file_state_dir(state, e);

	snprintf(name, sizeof(name), "lib-%016" PRIx64,
		 hash_sip13(&of_path, l->lib, strlen(l->lib)));
	rc = rc ? rc : file_join(folder, sizeof(folder), state, name, e);
	rc = rc ? rc : file_join(path, sizeof(path), folder, LIBRARY, e);
	if (rc)
		return rc;
	if (!is_plain(path))
		return err_set(
			e, ERR_INVALID,
			"%s: LD_PRELOAD takes no path with blanks or colons, install it elsewhere",
			l->lib);
	rc = file_private_dir(folder, e);
	rc = rc ? rc : put_link(l->lib, path, e);
	rc = rc ? rc : link_files_library(l->lib, path, e);
	if (!rc)
		str_copy(l->lib, sizeof(l->lib), path);
	return rc;
}

/* The first is a link that the installation makes; the second is the build folder. */
static int find_library(struct launch *l, struct err *e)
{
	static const char *const places[] = { "../libexec/omig/" LIBRARY, "../lib/" LIBRARY, NULL };
	const char *given = getenv("OMIG_LIBRARY");
	int rc = 0;

	if (given && *given) {
		if (!str_copy(l->lib, sizeof(l->lib), given))
			return err_set(e, ERR_LIMIT, "OMIG_LIBRARY is too long");
		return need_file(l->lib, R_OK, e);
	}
	for (size_t i = 0; places[i]; i++) {
		rc = file_join(l->lib, sizeof(l->lib), l->bin, places[i], e);
		if (rc || access(l->lib, R_OK) == 0)
			return rc;
	}
	return err_set(e, ERR_NOTFOUND, "neither %s/%s nor %s is there: is the installation whole?",
		       l->bin, places[0], places[1]);
}

int launch_find_daemon(char *out, const char *bin, const char *name, struct err *e)
{
	int n = snprintf(out, FILE_PATH_BYTES, "%s/../libexec/omig/%s", bin, name);

	if (n > 0 && n < FILE_PATH_BYTES && access(out, X_OK) == 0)
		return 0;
	n = file_join(out, FILE_PATH_BYTES, bin, name, e);
	return n ? n : need_file(out, X_OK, e);
}

int launch_exec_daemon(char **argv, struct err *e)
{
	char bin[FILE_PATH_BYTES], path[FILE_PATH_BYTES];
	int rc = bin_dir(bin, e);

	rc = rc ? rc : launch_find_daemon(path, bin, argv[0], e);
	if (rc)
		return rc;
	execv(path, argv);
	return err_sys(e, "%s", path);
}

int launch_find_files(struct launch *l, struct err *e)
{
	char files[FILES_LIBRARY_BYTES];
	int rc = bin_dir(l->bin, e);

	if (!rc)
		rc = launch_find_daemon(l->lm, l->bin, "lm", e);
	if (!rc)
		rc = find_library(l, e);
	if (!rc)
		rc = is_plain(l->lib) ? 0 : link_library(l, e);
	if (!rc && (l->files || l->board))
		rc = need_file(files_library(files, l->lib), R_OK, e);
	return rc;
}

static int read_conn(struct launch *l, const char *path, struct err *e)
{
	struct buf b = BUF_INIT(LAUNCH_CONN_BYTES - 1);
	int rc = file_read(path, LAUNCH_CONN_BYTES - 1, FILE_SECRET, &b, e);

	if (!rc) {
		str_copy(l->conn, sizeof(l->conn), buf_str(&b));
		l->conn[strcspn(l->conn, "\r\n")] = '\0';
	}
	buf_done(&b);
	return rc;
}

static int read_own_conn(struct launch *l, struct err *e)
{
	char state[FILE_PATH_BYTES], path[FILE_PATH_BYTES];
	int rc = file_state_dir(state, e);

	if (!rc)
		rc = file_join(path, sizeof(path), state, "mainsm/mainsm.conn", e);
	return !rc ? read_conn(l, path, e) : rc;
}

static int find_string(struct launch *l, bool *is_given, struct err *e)
{
	const char *given = l->mainsm ? l->mainsm : getenv("OMIG_MAINSM");

	*is_given = given && *given;
	if (!*is_given)
		return read_own_conn(l, e);
	if (l->mainsm && *given == '@')
		return read_conn(l, given + 1, e);
	if (!str_copy(l->conn, sizeof(l->conn), given))
		return err_set(e, ERR_LIMIT, "the connection string is too long");
	return 0;
}

int launch_find_string(struct launch *l, bool *is_given, struct err *e)
{
	int rc = find_string(l, is_given, e);

	if (!rc && *is_given)
		rc = launch_probe(l->conn, l->resolves_names, e);
	if (rc && *is_given)
		err_add(e,
			l->mainsm ? "--mainsm" : "OMIG_MAINSM (unset it to use your own mainsm)");
	return rc;
}

int launch_find_mainsm(struct launch *l, struct err *e)
{
	bool is_given;
	int rc = launch_find_string(l, &is_given, e);

	if (!rc && !is_given && launch_probe(l->conn, l->resolves_names, e))
		rc = err_add(e, "your mainsm has ended");
	return rc;
}

static const char *batch_job(void)
{
	static const char *const names[] = { "OMIG_JOB", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID",
					     NULL };
	const char *v;

	for (size_t i = 0; names[i]; i++) {
		v = getenv(names[i]);
		if (v && *v)
			return v;
	}
	return NULL;
}

/*
 * mainsm refuses control characters and invalid UTF-8: all characters outside of ASCII become '_'.
 */
static void make_name(char *s)
{
	if (str_is_name(s, strlen(s)))
		return;
	for (; *s; s++)
		if (*s < ' ' || *s > '~')
			*s = '_';
}

void launch_name_job(struct launch *l, const char *program)
{
	const char *given = l->job ? l->job : batch_job();

	if (given)
		str_copy(l->job_name, sizeof(l->job_name), given);
	else
		snprintf(l->job_name, sizeof(l->job_name), "%.200s.%ld",
			 program ? str_base_name(program) : "job", (long)getpid());
	make_name(l->job_name);
}

static bool has_tail(const char *s, size_t n, const char *tail)
{
	size_t k = strlen(tail);

	return n >= k && memcmp(s + n - k, tail, k) == 0;
}

void launch_list_without(char *out, size_t size, const char *old, const char *seps,
			 const char *tail)
{
	size_t n, used = 0;

	out[0] = '\0';
	for (old = old ? old : ""; *old; old += n) {
		old += strspn(old, seps);
		n = strcspn(old, seps);
		if (n == 0 || has_tail(old, n, tail) || used + n + 2 > size)
			continue;
		used += (size_t)snprintf(out + used, size - used, "%s%.*s",
					 used ? (char[]){ seps[0], 0 } : "", (int)n, old);
	}
}

void launch_preload_rest(char *out, size_t size)
{
	char without[8192];

	launch_list_without(without, sizeof(without), getenv("LD_PRELOAD"), ": ", "/" LIBRARY);
	launch_list_without(out, size, without, ": ", "/" FILES_LIBRARY);
}

/* libomig is first, so that it sees the program's calls unchanged; other tools follow it. */
static void preload_value(const struct launch *l, char *out, size_t size)
{
	char others[8192], files[FILES_LIBRARY_BYTES] = "";

	launch_preload_rest(others, sizeof(others));
	if (l->files || l->board)
		files_library(files, l->lib);
	snprintf(out, size, "%s%s%s%s%s", l->lib, files[0] ? ":" : "", files, others[0] ? ":" : "",
		 others);
}

/*
 * Open MPI passes the environment to other hosts only on request; MPICH and Slurm always do. It
 * accepts either -x options or a list in USER_LIST, and ends the job when it finds both. Unless
 * the user has such a list, our list takes the variable of the list that parameter files set.
 */
#define USER_LIST "OMPI_MCA_mca_base_env_list"
#define OUR_LIST "OMPI_MCA_mca_base_env_list_internal"
#define OUR_LIST_HEAD "LD_PRELOAD;OMIG_MAINSM"

const char *launch_env_list_name(void)
{
	const char *user = getenv(USER_LIST);

	return user && *user ? USER_LIST : OUR_LIST;
}

void launch_env_list_rest(char *out, size_t size)
{
	const char *old = getenv(launch_env_list_name());
	char *at;

	str_copy(out, size, old ? old : "");
	at = strstr(out, OUR_LIST_HEAD);
	if (!at)
		return;
	if (at > out && at[-1] == ';')
		at--;
	*at = '\0';
}

/* Lists only variables that are set: Open MPI warns of the others. */
static void env_list_value(const struct launch *l, char *out, size_t size)
{
	static const char *const maybe[] = { "OMIG_STATE_DIR", "OMIG_RUNTIME_DIR", "OMIG_THREADS",
					     "OMIG_DISABLE", NULL };
	char rest[4096];
	size_t used;

	launch_env_list_rest(rest, sizeof(rest));
	used = (size_t)snprintf(out, size, "%s%s" OUR_LIST_HEAD ";OMIG_LM;OMIG_JOB;OMIG_START%s",
				rest, rest[0] ? ";" : "",
				l->site || getenv("OMIG_SITE") ? ";OMIG_SITE" : "");
	for (size_t i = 0; maybe[i] && used < size; i++)
		if (getenv(maybe[i]))
			used += (size_t)snprintf(out + used, size - used, ";%s", maybe[i]);
}

int launch_each_variable(const struct launch *l,
			 int (*fn)(void *arg, const char *name, const char *value), void *arg)
{
	char preload[2 * FILE_PATH_BYTES + 8192], list[8192], start[48], io[FILE_PATH_BYTES + 32];
	int rc;

	snprintf(io, sizeof(io), "%s%s%s%s", l->files ? "files" : "",
		 l->files && l->board ? "," : "", l->board ? "interactions=" : "",
		 l->board ? l->board : "");

	snprintf(start, sizeof(start), "%.16s%s%s", l->measure ? l->measure : "off",
		 l->callsites ? "+site" : "", l->interactions ? "+messages" : "");
	preload_value(l, preload, sizeof(preload));
	env_list_value(l, list, sizeof(list));
	rc = fn(arg, "OMIG_MAINSM", l->conn);
	if (!rc)
		rc = fn(arg, "OMIG_LM", l->lm);
	if (!rc && (l->site || getenv("OMIG_SITE")))
		rc = fn(arg, "OMIG_SITE", l->site ? l->site : getenv("OMIG_SITE"));
	if (!rc)
		rc = fn(arg, "OMIG_JOB", l->job_name);
	if (!rc)
		rc = fn(arg, "OMIG_START", start);
	if (!rc)
		rc = fn(arg, "LD_PRELOAD", preload);
	if (!rc && (l->files || l->board))
		rc = fn(arg, "OMIG_IO", io);
	if (!rc)
		rc = fn(arg, launch_env_list_name(), list);
	return rc;
}
