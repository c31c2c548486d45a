/* SPDX-License-Identifier: Apache-2.0 */
/* Makes private directories, and finds their places. */
#include "common/base/file.h"

#include "common/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Makes a directory. Removes it if its name could not be synced. Otherwise a second attempt would
 * find it and assume that it was synced. Keeps it if its parent can never be synced (EACCES,
 * EINVAL).
 */
static int make_one(const char *path)
{
	struct stat st;

	if (mkdir(path, FILE_DIR_MODE))
		return errno == EEXIST ? 0 : -ERR_SYS;
	/* The umask may have removed rights of the owner. */
	if (!lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	    (st.st_mode & 0777) != FILE_DIR_MODE)
		chmod(path, FILE_DIR_MODE);
	if (file_sync_name(path) && errno != EACCES && errno != EINVAL) {
		int why = errno;

		rmdir(path);
		errno = why;
		return -ERR_SYS;
	}
	return 0;
}

/* Creates missing directories with mode 0700. */
static int make_path(char *path, struct err *e)
{
	for (char *at = path + 1;; at++) {
		char was = *at;

		if (was != '/' && was != '\0')
			continue;
		*at = '\0';
		if (make_one(path))
			return err_sys(e, "%s: cannot make this directory", path);
		*at = was;
		if (!was)
			return 0;
	}
}

static int private_dir(const char *path, bool make, struct err *e)
{
	char copy[FILE_PATH_BYTES];
	struct stat st;

	if (!*path || !str_copy(copy, sizeof(copy), path))
		return err_set(e, ERR_LIMIT, "path of a directory is empty or too long: %.60s",
			       path);
	for (size_t n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--)
		copy[n - 1] = '\0';
	if (lstat(copy, &st)) {
		if (!make && errno == ENOENT)
			return 0;
		if (make_path(copy, e))
			return -ERR_SYS;
		if (lstat(copy, &st))
			return err_sys(e, "%s", copy);
	}
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_DENIED, "%s: is not a directory (or is a link to one)", copy);
	if (st.st_uid != geteuid())
		return err_set(e, ERR_DENIED, "%s: belongs to uid %u, not to this user", copy,
			       st.st_uid);
	if (st.st_mode & 077)
		return err_set(e, ERR_DENIED,
			       "%s: mode %04o lets others in: close it by chmod -R go=", copy,
			       st.st_mode & 07777u);
	return 0;
}

int file_private_dir(const char *path, struct err *e)
{
	return private_dir(path, true, e);
}

int file_private_dir_look(const char *path, struct err *e)
{
	return private_dir(path, false, e);
}

/* Relative values are ignored, as the XDG specification requires. */
static const char *absolute_env(const char *name)
{
	const char *v = getenv(name);

	return v && *v == '/' ? v : NULL;
}

static int fall_back(char *out, bool make, struct err *e)
{
	snprintf(out, FILE_PATH_BYTES, "/tmp/omig-%u", (unsigned)geteuid());
	return private_dir(out, make, e);
}

static bool is_of(const char *path, bool own)
{
	struct stat st;

	return !lstat(path, &st) && (st.st_uid == geteuid()) == own;
}

/*
 * A standard place that cannot be used is not an error, because /tmp remains. A directory that is
 * ours, and open to others, is an error: otherwise its contents (an authority, a socket) would be
 * skipped silently.
 */
static int first_usable(char *out, const char *parent, const char *below, bool make, struct err *e)
{
	struct err why = { 0 };

	if (!parent || file_join(out, FILE_PATH_BYTES, parent, below, NULL))
		return fall_back(out, make, e);
	if (!private_dir(out, make, &why))
		return 0;
	if (!is_of(out, true))
		return fall_back(out, make, e);
	if (e)
		*e = why;
	return -(int)why.code;
}

static int explicit_dir(char *out, const char *dir, bool make, struct err *e)
{
	if (!str_copy(out, FILE_PATH_BYTES, dir))
		return err_set(e, ERR_LIMIT, "path is too long: %.100s", dir);
	return private_dir(out, make, e);
}

static int state_dir(char *out, bool make, struct err *e)
{
	const char *own = getenv("OMIG_STATE_DIR"), *xdg = absolute_env("XDG_STATE_HOME");

	if (own && *own)
		return explicit_dir(out, own, make, e);
	if (xdg)
		return first_usable(out, xdg, "omig", make, e);
	return first_usable(out, absolute_env("HOME"), ".local/state/omig", make, e);
}

int file_state_dir(char *out, struct err *e)
{
	return state_dir(out, true, e);
}

int file_state_dir_find(char *out, struct err *e)
{
	return state_dir(out, false, e);
}

/*
 * Any user may make a name in /tmp first, and it is then that user's: a name of another user is
 * skipped. *taken, if not NULL, reports that.
 */
static int runtime_dir(char *out, bool make, struct err *taken, struct err *e)
{
	const char *own = getenv("OMIG_RUNTIME_DIR");
	char state[FILE_PATH_BYTES];
	struct err why = { 0 };
	int rc;

	if (own && *own)
		return explicit_dir(out, own, make, e);
	rc = first_usable(out, absolute_env("XDG_RUNTIME_DIR"), "omig", make, &why);
	if (rc && is_of(out, false) && !state_dir(state, make, NULL) &&
	    !file_join(out, FILE_PATH_BYTES, state, "run", NULL) && !private_dir(out, make, NULL)) {
		if (taken)
			err_set(taken, ERR_DENIED, "%s; %s is used", why.text, out);
		return 0;
	}
	if (rc && e)
		*e = why;
	return rc;
}

int file_runtime_dir(char *out, struct err *e)
{
	return runtime_dir(out, true, NULL, e);
}

int file_runtime_dir_taken(struct err *e)
{
	char out[FILE_PATH_BYTES];
	struct err taken = { 0 };

	runtime_dir(out, false, &taken, NULL);
	return taken.code ? err_set(e, taken.code, "%s", taken.text) : 0;
}

int file_runtime_dir_find(char *out, struct err *e)
{
	return runtime_dir(out, false, NULL, e);
}

int file_beside_program(char *out, const char *name, struct err *e)
{
	char self[FILE_PATH_BYTES];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n < 0)
		return err_sys(e, "/proc cannot be read: is /proc mounted? (/proc/self/exe)");
	self[n] = 0;
	slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	return file_join(out, FILE_PATH_BYTES, self, name, e);
}
