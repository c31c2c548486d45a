/* SPDX-License-Identifier: Apache-2.0 */
/* A /proc and /sys of a test's own, and the host that it shows. */
#ifndef TESTS_UNIT_LM_HOST_MADE_TREE_H
#define TESTS_UNIT_LM_HOST_MADE_TREE_H

#include "common/base/str.h"
#include "lm/host/host_linux.h"
#include "tests/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/omig-test-XXXXXX", base[sizeof(root)];
static struct host *host;

/* Below the root; valid until the next call. */
static inline const char *at(const char *path)
{
	static char full[300];

	snprintf(full, sizeof(full), "%s/%s", root, path);
	return full;
}

static inline void put_bytes(const char *path, const void *p, size_t n)
{
	char *full = (char *)(uintptr_t)at(path);
	int fd;

	for (char *s = strchr(full + strlen(root) + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = 0;
		ck_assert(mkdir(full, 0755) == 0 || errno == EEXIST);
		*s = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, p, n), (ssize_t)n);
	close(fd);
}

static inline void put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

static inline int remove_one(const char *path, const struct stat *st, int what, struct FTW *f)
{
	return remove(path);
}

static inline void set_up(void)
{
	struct err e = { 0 };

	str_copy(base, sizeof(base), root);
	ck_assert_ptr_nonnull(mkdtemp(root));
	put("proc/stat", "cpu0 1\nctxt 5\nprocs_running 1\nprocs_blocked 0\n");
	ck_assert_msg(host_linux_open(root, NULL, &host, &e) == 0, "%s", e.text);
	host_linux_set_units(host, 4096, 100);
}

static inline void clean_up(void)
{
	host_free(host);
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	str_copy(root, sizeof(root), base);
}

static inline void link_to(const char *path, const char *to)
{
	put(path, ""); /* makes the folder */
	ck_assert_int_eq(unlink(at(path)), 0);
	ck_assert_int_eq(symlink(to, at(path)), 0);
}

#define VARIABLES(...) put_variables((const char *const[]){ __VA_ARGS__, NULL })

static struct {
	char p[1024];
	size_t n;
} environment;

static inline void put_variables(const char *const *v)
{
	environment.n = 0;
	for (; *v; v++) {
		size_t n = strlen(*v) + 1;

		memcpy(environment.p + environment.n, *v, n);
		environment.n += n;
	}
}

static inline void add_proc(int pid, const char *exe)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%d/environ", pid);
	put_bytes(path, environment.p, environment.n);
	snprintf(path, sizeof(path), "proc/%d/comm", pid);
	put(path, "a name\n");
	snprintf(path, sizeof(path), "proc/%d/exe", pid);
	link_to(path, exe);
}

#endif
