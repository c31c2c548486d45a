/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the configuration of a daemon that does not start, and checks the modes of its private
 * keys.
 */
#include "common/base/str.h"
#include "common/daemon/daemon_internal.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_MAX_BYTES (1024 * 1024)

static int example(const struct daemon_args *a, const struct conf *c, struct buf *out)
{
	return conf_example(&a->schema, out);
}

static int dump(const struct daemon_args *a, const struct conf *c, struct buf *out)
{
	return conf_dump(c, out);
}

static int show(const struct daemon_args *a, const struct conf *c, struct buf *out)
{
	return conf_show(c, out);
}

bool config_print(const struct daemon_args *a, const struct conf *c, int *exit_code)
{
	int (*fn)(const struct daemon_args *, const struct conf *, struct buf *) =
		a->example_config ? example
		: !c		  ? NULL
		: a->dump_config  ? dump
		: a->print_config ? show
				  : NULL;
	struct buf b = BUF_INIT(TEXT_MAX_BYTES);

	if (!fn)
		return false;
	*exit_code = DAEMON_FAILED;
	if (!fn(a, c, &b) && fputs(buf_str(&b), stdout) >= 0 && !fflush(stdout))
		*exit_code = DAEMON_OK;
	buf_done(&b);
	return true;
}

/* --- private keys */

static bool is_key(const char *name)
{
	return str_eq(name, "key.pem") || str_eq(name, "ca.key");
}

static int check_file(const char *dir, const char *name, struct err *e)
{
	char path[FILE_PATH_BYTES];
	struct stat st;

	if (file_join(path, sizeof(path), dir, name, NULL) || lstat(path, &st))
		return 0;
	if (st.st_mode & 077)
		return err_set(e, ERR_DENIED,
			       "%s:1: mode %04o lets others at the key: chmod 600 it, or revoke it",
			       path, st.st_mode & 07777u);
	return 0;
}

static int check_folder(const char *dir, unsigned depth, struct err *e)
{
	DIR *d = opendir(dir);
	struct dirent *i;
	char path[FILE_PATH_BYTES];
	int rc = 0;

	while (d && !rc && (i = readdir(d))) {
		if (is_key(i->d_name))
			rc = check_file(dir, i->d_name, e);
		else if (depth && i->d_name[0] != '.' && i->d_type == DT_DIR &&
			 !file_join(path, sizeof(path), dir, i->d_name, NULL))
			rc = check_folder(path, depth - 1, e);
	}
	if (d)
		closedir(d);
	return rc;
}

/* True for folders such as "mainsm", "sm-east", "lm-node1-5e2f...". */
static bool is_of_program(const char *name, const char *program)
{
	size_t n = strlen(program);

	return !strncmp(name, program, n) && (!name[n] || name[n] == '-');
}

static int check_below(const char *base, const char *program, unsigned depth, struct err *e)
{
	DIR *d = opendir(base);
	struct dirent *i;
	char path[FILE_PATH_BYTES];
	int rc = 0;

	while (d && !rc && (i = readdir(d)))
		if (i->d_type == DT_DIR && is_of_program(i->d_name, program) &&
		    !file_join(path, sizeof(path), base, i->d_name, NULL))
			rc = check_folder(path, depth, e);
	if (d)
		closedir(d);
	return rc;
}

/*
 * Keys of daemons are in folders such as mainsm/own/key.pem; for a shared sm in
 * site-NAME/users/PIN/key.pem.
 */
int config_check_keys(const char *program, const char *state_dir, struct err *e)
{
	char runtime[FILE_PATH_BYTES];
	int rc = check_below(state_dir, program, 1, e);

	if (!rc && str_eq(program, "sm"))
		rc = check_below(state_dir, "site", 2, e);
	return rc || file_runtime_dir_find(runtime, NULL) ? rc
							  : check_below(runtime, program, 1, e);
}
