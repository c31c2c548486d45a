/* SPDX-License-Identifier: Apache-2.0 */
/* Detects by its file, before the start, that a program ignores LD_PRELOAD. */
#include "common/base/str.h"
#include "tools/launch/launch.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADERS_MAX 256 /* program headers that are read; linkers write some dozen */
#define OURS "OMIG_MAINSM" /* contained in programs that are linked with libomig.a */

/* Opens the program as execvp() does. Returns a descriptor or -1. */
static int open_program(const char *name)
{
	const char *path = getenv("PATH");
	char file[FILE_PATH_BYTES];
	int fd = -1;
	size_t n;

	if (strchr(name, '/') || !path)
		return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	for (; fd < 0 && *path; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		if ((size_t)snprintf(file, sizeof(file), "%.*s%s%s", (int)n, path, n ? "/" : "",
				     name) < sizeof(file) &&
		    access(file, X_OK) == 0)
			fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	return fd;
}

static bool has_ours(int fd, size_t n)
{
	void *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	bool found;

	if (p == MAP_FAILED)
		return true; /* unknown: nothing is reported */
	found = memmem(p, n, OURS, sizeof(OURS) - 1) != NULL;
	munmap(p, n);
	return found;
}

/* Writes the loader's path into out; "" when there is none. */
static int read_loader(int fd, const Elf64_Ehdr *h, char *out, size_t size)
{
	Elf64_Phdr p;
	ssize_t n;

	*out = '\0';
	if (h->e_phentsize != sizeof(p) || h->e_phnum > HEADERS_MAX)
		return -ERR_UNSUPPORTED;
	for (unsigned i = 0; i < h->e_phnum; i++) {
		if (pread(fd, &p, sizeof(p), (off_t)(h->e_phoff + i * sizeof(p))) != sizeof(p))
			return -ERR_PARSE;
		if (p.p_type != PT_INTERP)
			continue;
		n = pread(fd, out, size - 1, (off_t)p.p_offset);
		out[n > 0 ? n : 0] = '\0';
		return n > 0 ? 0 : -ERR_PARSE;
	}
	return 0;
}

static int check_file(int fd, const char *name, const struct stat *st, struct err *e)
{
	char loader[256];
	Elf64_Ehdr h;

	if ((st->st_mode & S_ISUID && st->st_uid != geteuid()) ||
	    (st->st_mode & S_ISGID && st->st_gid != getegid()))
		return err_set(e, ERR_UNSUPPORTED,
			       "%s runs with the rights of another user, and takes no preload",
			       name);
	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || read_loader(fd, &h, loader, sizeof(loader)))
		return 0; /* a script, or another file that the loader handles */
	if (strstr(loader, "/ld-musl"))
		return err_set(e, ERR_UNSUPPORTED,
			       "%s is linked with musl, where libomig does nothing", name);
	if (!loader[0] && !has_ours(fd, (size_t)st->st_size))
		return err_set(e, ERR_UNSUPPORTED, "%s is linked statically: link it with -lomig",
			       name);
	return 0;
}

int launch_check_program(const char *name, struct err *e)
{
	int fd = open_program(name), rc = 0;
	struct stat st;

	if (fd < 0)
		return 0; /* its start will report that */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		rc = check_file(fd, name, &st, e);
	close(fd);
	return rc;
}
