/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loaded modules of a process. Its maps show where files are mapped. The ELF headers, read from
 * the process's own memory, show the ranges of code, data and bss. Files are not opened: they may
 * have been replaced, or be different files for the lm. If headers cannot be read, or are not of
 * this machine's word size, whole pages are reported.
 */
#include "lm/host/host_linux_internal.h"

#include "common/base/array.h"
#include "common/base/file.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 65,530 mappings, the kernel's own limit, of 120 bytes */
#define MAPS_MAX_BYTES (8 * 1024 * 1024)
#define HEADERS_MAX 64 /* program headers of one file; linkers make a dozen */

struct range {
	uint64_t start, end; /* both 0 = none */
};

/* A line of maps. */
struct mapping {
	uint64_t start, end, offset;
	bool is_written, is_executed;
	const char *path; /* "" = none */
	size_t npath;
};

struct group {
	const char *path;
	size_t npath;
	uint64_t base, end;
	struct range code, data, bss;
	bool is_real; /* contains code, and no header shows that it is not an ELF file */
};

struct modules {
	struct group *v;
	size_t n, cap;
};

static const char *hex(const char *p, uint64_t *out)
{
	char *end;

	*out = p ? strtoull(p, &end, 16) : 0;
	return p && end != p ? end : NULL;
}

/* "55d0-55d1 r-xp 00001000 fe:01 1234    /path" */
static bool read_line(const char *line, size_t n, struct mapping *m)
{
	const char *p = hex(line, &m->start), *perms;

	p = p && *p == '-' ? hex(p + 1, &m->end) : NULL;
	if (!p || strnlen(p, 6) < 6)
		return false;
	perms = p + 1;
	m->is_written = perms[1] == 'w';
	m->is_executed = perms[2] == 'x';
	p = hex(p + 6, &m->offset);
	m->path = p ? memchr(p, '/', n - (size_t)(p - line)) : NULL;
	m->npath = m->path ? n - (size_t)(m->path - line) : 0;
	return p && m->end > m->start;
}

static void widen(struct range *r, const struct mapping *m)
{
	if (!r->end)
		r->start = m->start;
	r->end = m->end;
}

static bool is_more_of(const struct group *g, const struct mapping *m)
{
	return g && m->npath == g->npath && !memcmp(m->path, g->path, g->npath) && m->offset;
}

static int add_mapping(struct modules *all, const struct mapping *m)
{
	struct group *g = all->n ? &all->v[all->n - 1] : NULL;
	int rc;

	if (!m->npath) { /* without a name: the part after a file's data is its bss */
		if (g && m->is_written && g->data.end == m->start)
			widen(&g->bss, m);
		return 0;
	}
	if (!is_more_of(g, m)) {
		rc = array_grow(&all->v, &all->cap, all->n + 1, sizeof(*g), HOST_MODULES_MAX);
		if (rc)
			return rc;
		g = &all->v[all->n++];
		*g = (struct group){ .path = m->path, .npath = m->npath, .base = m->start };
	}
	g->end = m->end;
	if (m->is_executed)
		widen(&g->code, m);
	if (m->is_written)
		widen(&g->data, m);
	g->is_real |= m->is_executed;
	return 0;
}

static int read_maps(struct modules *all, const char *text, struct err *e)
{
	int rc = 0;

	while (!rc && *text) {
		size_t n = strcspn(text, "\n");
		struct mapping m;

		if (read_line(text, n, &m))
			rc = add_mapping(all, &m);
		text += n + (text[n] == '\n');
	}
	return rc == -ERR_LIMIT ? err_set(e, ERR_LIMIT, "more than %d modules", HOST_MODULES_MAX)
				: rc;
}

static bool read_at(const struct mem *f, uint64_t addr, void *out, size_t n)
{
	return linux_read_mem(f, out, n, addr) == (ssize_t)n;
}

/* Data from the process: never followed beyond its own mappings. */
static void use_headers(struct group *g, uint64_t bias, const Elf64_Phdr *h, size_t n)
{
	struct range code = { 0 }, data = { 0 }, bss = { 0 };

	for (size_t i = 0; i < n; i++) {
		uint64_t at = bias + h[i].p_vaddr;

		if (h[i].p_type != PT_LOAD || at < g->base || h[i].p_memsz < h[i].p_filesz ||
		    h[i].p_memsz > UINT64_MAX - at)
			continue;
		if (h[i].p_flags & PF_X) {
			code.start = code.end ? code.start : at;
			code.end = at + h[i].p_memsz;
		} else if (h[i].p_flags & PF_W) {
			data.start = data.end ? data.start : at;
			data.end = at + h[i].p_filesz;
			bss = (struct range){ at + h[i].p_filesz, at + h[i].p_memsz };
		}
	}
	if (!code.end)
		return;
	g->code = code;
	g->data = data;
	g->bss = bss;
}

static void refine(struct group *g, const struct mem *from, uint64_t page_size)
{
	Elf64_Phdr h[HEADERS_MAX];
	Elf64_Ehdr f;
	uint64_t bias = 0;

	if (!read_at(from, g->base, &f, sizeof(f)))
		return;
	g->is_real &= !memcmp(f.e_ident, ELFMAG, SELFMAG);
	if (!g->is_real || f.e_ident[EI_CLASS] != ELFCLASS64 || f.e_phnum > HEADERS_MAX ||
	    f.e_phentsize != sizeof(*h) || f.e_phoff > g->end - g->base ||
	    !read_at(from, g->base + f.e_phoff, h, f.e_phnum * sizeof(*h)))
		return;
	for (size_t i = 0; f.e_type == ET_DYN && i < f.e_phnum; i++)
		if (h[i].p_type == PT_LOAD) {
			bias = g->base - (h[i].p_vaddr & ~(page_size - 1));
			break;
		}
	use_headers(g, bias, h, f.e_phnum);
}

static struct host_module module_of(const struct group *g)
{
	return (struct host_module){ .path = g->path,
				     .npath = g->npath,
				     .code_start = g->code.start,
				     .code_len = g->code.end - g->code.start,
				     .data_start = g->data.start,
				     .data_len = g->data.end - g->data.start,
				     .bss_start = g->bss.start,
				     .bss_len = g->bss.end - g->bss.start };
}

static void report(struct host_proc *p, const struct modules *all, host_on_module_fn fn, void *arg)
{
	struct host_linux *h = (struct host_linux *)p->host;
	char path[64], exe[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "proc/%d/exe", (int)p->pid);
	n = readlinkat(h->root, path, exe, sizeof(exe));
	for (int others = 0; others < 2; others++)
		for (size_t i = 0; i < all->n; i++) {
			const struct group *g = &all->v[i];
			struct host_module m = module_of(g);
			bool is_exe =
				n > 0 && g->npath == (size_t)n && !memcmp(g->path, exe, g->npath);

			if (g->is_real && is_exe == !others)
				fn(arg, &m);
		}
}

static int look(struct host_proc *p, struct modules *all, const char *text, struct err *e)
{
	struct host_linux *h = (struct host_linux *)p->host;
	struct mem f;
	int rc = read_maps(all, text, e);

	if (rc || linux_open_mem(p, false, &f, NULL))
		return rc;
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].is_real)
			refine(&all->v[i], &f, (uint64_t)h->page_size);
	close(f.fd);
	return 0;
}

int linux_modules(struct host_proc *p, host_on_module_fn fn, void *arg, struct err *e)
{
	struct host_linux *h = (struct host_linux *)p->host;
	struct buf text = BUF_INIT(MAPS_MAX_BYTES);
	struct modules all = { 0 };
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "proc/%d/maps", (int)p->pid);
	rc = file_read_at(h->root, path, MAPS_MAX_BYTES, &text, e);
	if (rc == -ERR_SYS && (errno == EACCES || errno == EPERM))
		rc = err_set(e, ERR_DENIED, "the program hides its memory from other processes");
	if (!rc)
		rc = look(p, &all, buf_str(&text), e);
	if (!rc && linux_proc_signal(p, 0, NULL))
		rc = err_set(e, ERR_NOTFOUND, "the process has ended");
	if (!rc)
		report(p, &all, fn, arg);
	free(all.v);
	buf_done(&text);
	return rc;
}
