/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams (FILE) of glibc read and write by calls inside of the library, which no preloaded
 * name replaces. They take them from a table. Two entries of it are replaced here, if they are what
 * glibc exports under a name. Otherwise nothing changes, and what streams move is not seen: the
 * numbers of bytes are then uncertain.
 */
#include "libio/io.h"

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOT_READ 14 /* of glibc's struct _IO_jump_t since 2.1 */
#define SLOT_WRITE 15

typedef ssize_t move_fn(FILE *f, void *at, ssize_t n);

static move_fn *real_read, *real_write;

static ssize_t read_file(FILE *f, void *to, ssize_t n)
{
	struct io_call c;
	int fd = fileno(f);
	ssize_t got;

	io_before(&c, fd, IO_IN);
	got = real_read(f, to, n);
	io_after(&c, fd, got);
	return got;
}

/* Repeats short writes: less than n is an error. */
static ssize_t write_file(FILE *f, void *from, ssize_t n)
{
	struct io_call c;
	int fd = fileno(f);
	ssize_t got;

	io_before(&c, fd, IO_OUT);
	got = real_write(f, from, n);
	io_after(&c, fd, got);
	return got;
}

struct range {
	uintptr_t from, to;
	bool is_protected;
};

/* The loader protects whole pages. What is left of them is shared with data that is written. */
static int look_at(struct dl_phdr_info *of, size_t size, void *arg)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from, to;
	struct range *r = arg;

	(void)size;
	for (unsigned i = 0; i < of->dlpi_phnum; i++) {
		if (of->dlpi_phdr[i].p_type != PT_GNU_RELRO)
			continue;
		from = of->dlpi_addr + of->dlpi_phdr[i].p_vaddr;
		to = from + of->dlpi_phdr[i].p_memsz;
		r->is_protected |= r->from >= (from & ~(page - 1)) && r->to <= (to & ~(page - 1));
	}
	return r->is_protected;
}

static bool is_protected(uintptr_t from, uintptr_t to)
{
	struct range r = { .from = from, .to = to };

	return dl_iterate_phdr(look_at, &r) != 0;
}

/* The table is read-only; it is so again afterwards. */
static bool replace(const char *table)
{
	move_fn **slot = io_real(table);
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from, to;

	if (!slot || slot[SLOT_READ] != real_read || slot[SLOT_WRITE] != real_write)
		return false;
	from = (uintptr_t)&slot[SLOT_READ] & ~(page - 1);
	to = ((uintptr_t)&slot[SLOT_WRITE + 1] + page - 1) & ~(page - 1);
	if (!is_protected(from, to) || mprotect((void *)from, to - from, PROT_READ | PROT_WRITE))
		return false;
	slot[SLOT_READ] = read_file;
	slot[SLOT_WRITE] = write_file;
	return !mprotect((void *)from, to - from, PROT_READ);
}

bool io_stdio_begin(void)
{
	*(void **)(void *)&real_read = io_real("_IO_file_read");
	*(void **)(void *)&real_write = io_real("_IO_file_write");
	if (!real_read || !real_write)
		return false;
	return replace("_IO_file_jumps") & replace("_IO_wfile_jumps");
}
