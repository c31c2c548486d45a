/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/plugin/plugin_file.h"

#include "common/base/file.h"
#include "common/base/str.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_owner(const char *path, const struct stat *s, struct err *e)
{
	if (s->st_uid != getuid() && s->st_uid != 0)
		return err_set(e, ERR_DENIED, "%s is not of this user: copy it, and add the copy",
			       path);
	/* In a folder such as /tmp users cannot replace the files of others. */
	if (S_ISDIR(s->st_mode) && s->st_mode & S_ISVTX)
		return 0;
	if (s->st_mode & (S_IWGRP | S_IWOTH))
		return err_set(e, ERR_DENIED, "others may write %s: chmod go-w %s", path, path);
	return 0;
}

static int look(const char *path, bool is_folder, struct stat *s, struct err *e)
{
	if (!(is_folder ? stat(path, s) : lstat(path, s)))
		return 0;
	if (errno == ENOENT || errno == ENOTDIR)
		return err_set(e, ERR_NOTFOUND, "there is no %s", path);
	return err_sys(e, "%s", path);
}

int plugin_file_check(const char *path, struct err *e)
{
	char folder[FILE_PATH_BYTES];
	struct stat s;
	int rc;

	if (path[0] != '/' || !str_copy(folder, sizeof(folder), path))
		return err_set(e, ERR_INVALID, "'%.80s' is not an absolute path of a plug-in",
			       path);
	rc = look(path, false, &s, e);
	if (!rc && !S_ISREG(s.st_mode))
		rc = err_set(e, ERR_DENIED, "%s is not a regular file: name the file itself", path);
	if (!rc)
		rc = check_owner(path, &s, e);
	*strrchr(folder, '/') = 0;
	if (!rc && folder[0])
		rc = look(folder, true, &s, e);
	return !rc && folder[0] ? check_owner(folder, &s, e) : rc;
}
