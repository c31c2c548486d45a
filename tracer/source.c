/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/source.h"

#include "tracer/debug_file.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CALL_BYTES 7 /* of the longest call instruction to search for */

typedef char *demangle_fn(const char *name, char *out, size_t *n, int *status);

struct source {
	Dwfl *dwfl;
	Dwfl_Module *module;
	int fd;
	Elf *elf;
	GElf_Addr bias;
	demangle_fn *demangle; /* of the C++ library, if loaded; else NULL */
	struct buf *out;
};

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = tracer_no_debug_file,
	.section_address = dwfl_offline_section_address,
};

/* --- the file */

static int open_file(struct source *s, const char *path, struct err *e)
{
	struct stat st;
	int fd;

	s->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (s->fd < 0 || fstat(s->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(e, ERR_NOTFOUND, "%.200s is gone", path);
	s->dwfl = dwfl_begin(&callbacks);
	if (!s->dwfl)
		return err_nomem(e);
	fd = dup(s->fd); /* libdw closes its own */
	dwfl_report_begin(s->dwfl);
	s->module = fd < 0 ? NULL : dwfl_report_offline(s->dwfl, "file", path, fd);
	if (dwfl_report_end(s->dwfl, NULL, NULL) || !s->module)
		return err_set(e, ERR_INVALID, "%.200s is not a file with code", path);
	s->elf = dwfl_module_getelf(s->module, &s->bias);
	return s->elf ? 0 : err_set(e, ERR_INVALID, "%.200s is not a file with code", path);
}

static int check_build_id(const struct source *s, const struct source_file *f, struct err *e)
{
	const unsigned char *bits = NULL;
	GElf_Addr at;
	int n = f->build_id_bytes ? dwfl_module_build_id(s->module, &bits, &at) : 0;

	if (!f->build_id_bytes ||
	    (n >= (int)f->build_id_bytes && !memcmp(bits, f->build_id, f->build_id_bytes)))
		return 0;
	return err_set(e, ERR_NOTFOUND, "%.200s is another file now than the process has loaded",
		       f->path);
}

/* Bytes in front of that address, as the file has them. */
static bool read_before(const struct source *s, uint64_t address, uint8_t out[CALL_BYTES])
{
	size_t n;

	if (elf_getphdrnum(s->elf, &n) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(s->elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    address < ph.p_vaddr + CALL_BYTES || address - ph.p_vaddr > ph.p_filesz)
			continue;
		return pread(s->fd, out, CALL_BYTES,
			     (off_t)(ph.p_offset + (address - ph.p_vaddr) - CALL_BYTES)) ==
		       CALL_BYTES;
	}
	return false;
}

/* On other processors than x86-64 any address of the code passes. */
static bool is_behind_call(const struct source *s, uint64_t address)
{
	uint8_t b[CALL_BYTES];

	if (!read_before(s, address, b))
		return false;
#if defined(__x86_64__)
	if (b[2] == 0xe8) /* call near, relative */
		return true;
	for (unsigned at = 0; at + 2 <= CALL_BYTES; at++) /* call near, by register or memory */
		if (b[at] == 0xff && (b[at + 1] & 0x38) == 0x10)
			return true;
	return false;
#else
	return true;
#endif
}

/* --- names */

static void put_name(struct buf *out, const char *name)
{
	for (size_t i = 0; name && name[i] && i < SOURCE_NAME_MAX_BYTES; i++)
		buf_putc(out, (unsigned char)name[i] < ' ' ? '?' : (uint8_t)name[i]);
}

static void put_function(const struct source *s, const char *name)
{
	int status = -1;
	char *plain = name && s->demangle && !strncmp(name, "_Z", 2)
			      ? s->demangle(name, NULL, NULL, &status)
			      : NULL;

	put_name(s->out, plain ? plain : name);
	free(plain);
}

struct place {
	const char *file; /* NULL: not known */
	int line;
};

static void put_place(const struct source *s, uint64_t address, const char *function,
		      const struct place *p)
{
	buf_printf(s->out, "%" PRIu64 "\t", address);
	put_function(s, function);
	buf_putc(s->out, '\t');
	put_name(s->out, p->file);
	buf_printf(s->out, "\t%d\n", p->file && p->line > 0 ? p->line : 0);
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *linkage = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &a));

	return linkage ? linkage : dwarf_diename(die);
}

static struct place place_of_call(Dwarf_Die *cu, Dwarf_Die *die)
{
	Dwarf_Word file = 0, line = 0;
	struct place p = { 0 };
	Dwarf_Files *files;
	Dwarf_Attribute a;
	size_t n;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &a), &file) ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &a), &line) || line > INT32_MAX ||
	    dwarf_getsrcfiles(cu, &files, &n) || file >= n)
		return p;
	p.file = dwarf_filesrc(files, (size_t)file, NULL, NULL);
	p.line = (int)line;
	return p;
}

/*
 * Writes the inlined functions at an address, innermost first. Returns their number. *at becomes
 * the place in the function that was compiled.
 */
static unsigned put_inlined(const struct source *s, uint64_t address, struct place *at)
{
	Dwarf_Addr bias;
	Dwarf_Die *cu = dwfl_module_addrdie(s->module, address - 1 + s->bias, &bias), die;
	Dwarf_Die *scope = NULL;
	unsigned written = 0;
	int n = cu ? dwarf_getscopes(cu, address - 1 + s->bias - bias, &scope) : 0;

	if (n <= 0)
		return 0;
	die = scope[0];
	free(scope);
	scope = NULL;
	n = dwarf_getscopes_die(&die, &scope);
	for (int i = 0; i < n; i++) {
		if (dwarf_tag(&scope[i]) != DW_TAG_inlined_subroutine)
			continue;
		put_place(s, address, name_of(&scope[i]), at);
		*at = place_of_call(cu, &scope[i]);
		written++;
	}
	free(scope);
	return written;
}

static void put_address(const struct source *s, uint64_t address)
{
	uint64_t pc = address - 1 + s->bias;
	Dwfl_Line *l = dwfl_module_getsrc(s->module, pc);
	struct place at = { 0 };
	GElf_Off offset;
	GElf_Sym sym;

	if (l)
		at.file = dwfl_lineinfo(l, NULL, &at.line, NULL, NULL, NULL);
	put_inlined(s, address, &at);
	put_place(s, address, dwfl_module_addrinfo(s->module, pc, &offset, &sym, NULL, NULL, NULL),
		  &at);
}

static demangle_fn *find_demangle(void *library)
{
	union {
		void *object;
		demangle_fn *function;
	} u = { .object = library ? dlsym(library, "__cxa_demangle") : NULL };

	return u.function;
}

int source_lines(const struct source_file *f, const uint64_t *address, size_t n, struct buf *out,
		 struct err *e)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	struct source s = { .fd = -1, .out = out, .demangle = find_demangle(library) };
	int rc = open_file(&s, f->path, e);

	if (!rc)
		rc = check_build_id(&s, f, e);
	for (size_t i = 0; !rc && i < n; i++)
		if (is_behind_call(&s, address[i]))
			put_address(&s, address[i]);
	if (!rc && out->failed)
		rc = err_set(e, ERR_LIMIT, "the names of %zu places are too long", n);
	if (s.dwfl)
		dwfl_end(s.dwfl);
	if (s.fd >= 0)
		close(s.fd);
	if (library)
		dlclose(library);
	return rc;
}
