/* SPDX-License-Identifier: Apache-2.0 */
/* The loader's list of objects, and the tables of each. */
#include "tracer/gate/image.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/file.h"
#include "common/base/str.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define AUXV_MAX_BYTES 4096
#define HEADERS_MAX 64 /* of a program; linkers make a dozen */
#define DYNAMIC_MAX 512
#define PEEK_MAX 256 /* places of one system call; the kernel permits 1024 */
#define DYNAMIC_STEP 64 /* entries of one read; linkers make some 30 */

/* Of the GNU C library, since it exists: debuggers read these. */
struct debug {
	int32_t version, spare;
	uint64_t map, brk;
	int32_t state; /* 0: the list is whole */
};

struct link {
	uint64_t bias, name, dynamic, next, previous;
};

int image_peek(int32_t pid, uint64_t addr, void *out, size_t n, struct err *e)
{
	struct iovec local = { out, n };
	/* NOLINTNEXTLINE: an address of another process */
	struct iovec remote = { (void *)(uintptr_t)addr, n };

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)n)
		return 0;
	if (errno == EPERM)
		return err_set(e, ERR_DENIED,
			       "the kernel does not let us read process %d: it may have made "
			       "itself undumpable, or kernel.yama.ptrace_scope must be 0",
			       (int)pid);
	return err_set(e, ERR_NOTFOUND,
		       errno == ESRCH ? "the process has ended"
				      : "its loader's tables cannot be read");
}

bool image_peek_each(int32_t pid, const uint64_t *addr, size_t n, size_t size, void *out)
{
	struct iovec remote[PEEK_MAX], local = { out, 0 };

	for (size_t at = 0; at < n; at += PEEK_MAX) {
		size_t k = n - at < PEEK_MAX ? n - at : PEEK_MAX;

		for (size_t i = 0; i < k; i++)
			/* NOLINTNEXTLINE: an address of another process */
			remote[i] = (struct iovec){ (void *)(uintptr_t)addr[at + i], size };
		local.iov_len = k * size;
		if (process_vm_readv(pid, &local, 1, remote, k, 0) != (ssize_t)local.iov_len)
			return false;
		local.iov_base = (uint8_t *)local.iov_base + local.iov_len;
	}
	return true;
}

const char *image_base_name(const struct image_object *o)
{
	return str_base_name(o->name);
}

/* The texts are cut at the front: the end of a path names the library. */
static void read_name(int32_t pid, uint64_t addr, struct image_object *o)
{
	char text[4096];
	size_t n = 0;

	/* Page by page, for the string may end right before an unmapped one. */
	while (n < sizeof(text)) {
		size_t step = 64 - (addr + n) % 64;

		if (step > sizeof(text) - n)
			step = sizeof(text) - n;
		if (image_peek(pid, addr + n, text + n, step, NULL))
			return;
		if (memchr(text + n, 0, step))
			break;
		n += step;
	}
	text[sizeof(text) - 1] = 0;
	n = strlen(text);
	str_copy(o->name, sizeof(o->name),
		 n < sizeof(o->name) ? text : text + n - sizeof(o->name) + 1);
}

static void note_extent(struct image_object *o, const Elf64_Phdr *ph, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t start = o->bias + ph[i].p_vaddr;

		if (ph[i].p_type != PT_LOAD)
			continue;
		if (!o->end || start < o->start)
			o->start = start;
		if (start + ph[i].p_memsz > o->end)
			o->end = start + ph[i].p_memsz;
	}
}

/* A library's header is at its bias. */
static void read_extent(int32_t pid, struct image_object *o)
{
	Elf64_Phdr ph[HEADERS_MAX];
	Elf64_Ehdr h;

	if (image_peek(pid, o->bias, &h, sizeof(h), NULL) ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_phentsize != sizeof(ph[0]) ||
	    h.e_phnum > HEADERS_MAX ||
	    image_peek(pid, o->bias + h.e_phoff, ph, h.e_phnum * sizeof(ph[0]), NULL))
		return;
	note_extent(o, ph, h.e_phnum);
}

/* The loader adds the bias to the addresses in most dynamic sections, and leaves those of some. */
static uint64_t absolute(const struct image_object *o, uint64_t v)
{
	return v && v < o->start ? v + o->bias : v;
}

static void take_entry(struct image_object *o, const Elf64_Dyn *d)
{
	switch (d->d_tag) {
	case DT_SYMTAB:
		o->symtab = absolute(o, d->d_un.d_ptr);
		break;
	case DT_STRTAB:
		o->strtab = absolute(o, d->d_un.d_ptr);
		break;
	case DT_STRSZ:
		o->strsz = d->d_un.d_val;
		break;
	case DT_HASH:
		o->hash = absolute(o, d->d_un.d_ptr);
		break;
	case DT_RELA:
		o->rela = absolute(o, d->d_un.d_ptr);
		break;
	case DT_RELASZ:
		o->relasz = d->d_un.d_val;
		break;
	case DT_JMPREL:
		o->jmprel = absolute(o, d->d_un.d_ptr);
		break;
	case DT_PLTRELSZ:
		o->pltrelsz = d->d_un.d_val;
		break;
	default:
		break;
	}
}

/* Entries that are mapped if the first is: of its page. */
static size_t dynamic_step(uint64_t addr)
{
	size_t n = (4096 - addr % 4096) / sizeof(Elf64_Dyn);

	return !n ? 1 : n < DYNAMIC_STEP ? n : DYNAMIC_STEP;
}

static uint64_t read_dynamic(int32_t pid, struct image_object *o, int64_t want)
{
	Elf64_Dyn d[DYNAMIC_STEP];
	size_t n;

	for (size_t at = 0; at < DYNAMIC_MAX; at += n) {
		n = dynamic_step(o->dynamic + at * sizeof(d[0]));
		if (image_peek(pid, o->dynamic + at * sizeof(d[0]), d, n * sizeof(d[0]), NULL))
			break;
		for (size_t i = 0; i < n; i++) {
			if (d[i].d_tag == DT_NULL)
				return 0;
			if (want && d[i].d_tag == want)
				return d[i].d_un.d_ptr;
			take_entry(o, &d[i]);
		}
	}
	return 0;
}

/* Linkers place the strings behind the symbols; else the old hash table has their number. */
static size_t count_symbols(int32_t pid, const struct image_object *o)
{
	uint32_t hash[2] = { 0 };

	if (o->strtab > o->symtab && o->strtab - o->symtab <= IMAGE_TABLE_MAX_BYTES)
		return (size_t)(o->strtab - o->symtab) / sizeof(Elf64_Sym);
	if (o->hash && !image_peek(pid, o->hash, hash, sizeof(hash), NULL) &&
	    hash[1] <= IMAGE_TABLE_MAX_BYTES / sizeof(Elf64_Sym))
		return hash[1];
	return 0;
}

static int read_symbols(int32_t pid, struct image_object *o, struct err *e)
{
	o->nsymbol = o->symtab && o->strtab && o->strsz <= IMAGE_TABLE_MAX_BYTES
			     ? count_symbols(pid, o)
			     : 0;
	if (!o->nsymbol)
		return 0;
	o->symbols = malloc(o->nsymbol * sizeof(Elf64_Sym));
	o->strings = malloc((size_t)o->strsz + 1);
	if (!o->symbols || !o->strings)
		return err_nomem(e);
	o->strings[o->strsz] = 0;
	if (image_peek(pid, o->symtab, o->symbols, o->nsymbol * sizeof(Elf64_Sym), NULL) ||
	    image_peek(pid, o->strtab, o->strings, (size_t)o->strsz, NULL))
		o->nsymbol = 0;
	return 0;
}

static int read_object(struct image *m, uint64_t at, const struct link *l, struct err *e)
{
	bool is_program = !m->nobject;
	struct image_object *o;

	if (array_grow(&m->object, &m->object_cap, m->nobject + 1, sizeof(*m->object),
		       IMAGE_OBJECTS_MAX))
		return err_nomem(e);
	o = &m->object[m->nobject++];
	if (!is_program) {
		*o = (struct image_object){ .bias = l->bias, .dynamic = l->dynamic };
		read_extent(m->pid, o);
		read_name(m->pid, l->name, o);
	}
	o->link = at;
	if (!o->end)
		return 0; /* without a header in memory there is nothing to see */
	read_dynamic(m->pid, o, 0);
	return read_symbols(m->pid, o, e);
}

/* The program itself, by what the kernel has given its loader. */
static int read_program(struct image *m, const Elf64_auxv_t *aux, size_t n, struct err *e)
{
	struct image_object *o = &m->object[0];
	uint64_t at = 0, count = 0, size = 0;
	Elf64_Phdr ph[HEADERS_MAX];
	int rc;

	for (size_t i = 0; i < n && aux[i].a_type != AT_NULL; i++) {
		if (aux[i].a_type == AT_PHDR)
			at = aux[i].a_un.a_val;
		else if (aux[i].a_type == AT_PHNUM)
			count = aux[i].a_un.a_val;
		else if (aux[i].a_type == AT_PHENT)
			size = aux[i].a_un.a_val;
		else if (aux[i].a_type == AT_SECURE && aux[i].a_un.a_val)
			return err_set(
				e, ERR_DENIED,
				"it runs with the rights of another user or with capabilities: "
				"run a copy without them");
	}
	if (!at || !count || count > HEADERS_MAX || size != sizeof(ph[0]))
		return err_set(e, ERR_UNSUPPORTED, "this is not a 64-bit program");
	rc = image_peek(m->pid, at, ph, (size_t)count * sizeof(ph[0]), e);
	if (rc)
		return rc;
	for (size_t i = 0; i < count; i++)
		if (ph[i].p_type == PT_PHDR)
			o->bias = at - ph[i].p_vaddr;
	for (size_t i = 0; i < count; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			o->dynamic = o->bias + ph[i].p_vaddr;
	note_extent(o, ph, (size_t)count);
	m->debug = o->dynamic ? read_dynamic(m->pid, o, DT_DEBUG) : 0;
	return m->debug ? 0
			: err_set(e, ERR_UNSUPPORTED,
				  "the program is static, or its loader is not ready: link it "
				  "dynamically, or with -lomig");
}

static int read_list(struct image *m, struct err *e)
{
	struct debug d;
	struct link l;
	int rc = image_peek(m->pid, m->debug, &d, sizeof(d), e);

	if (rc)
		return rc;
	if (d.state || !d.map)
		return err_set(e, ERR_AGAIN, "the program is loading a library");
	for (uint64_t at = d.map; at; at = l.next) {
		if (m->nobject == IMAGE_OBJECTS_MAX)
			return err_set(e, ERR_LIMIT, "it has more than %d libraries",
				       IMAGE_OBJECTS_MAX);
		rc = image_peek(m->pid, at, &l, sizeof(l), e);
		if (!rc)
			rc = read_object(m, at, &l, e);
		if (rc)
			return rc;
	}
	return 0;
}

int image_read_objects(struct image *m, struct err *e)
{
	struct buf b = BUF_INIT(AUXV_MAX_BYTES);
	char path[32];
	int rc;

	if (array_grow(&m->object, &m->object_cap, 1, sizeof(*m->object), IMAGE_OBJECTS_MAX))
		return err_nomem(e);
	m->object[0] = (struct image_object){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)m->pid);
	rc = file_read_at(AT_FDCWD, path, AUXV_MAX_BYTES, &b, e);
	if (rc)
		err_set(e, ERR_DENIED, "the kernel does not let us read process %d", (int)m->pid);
	else
		rc = read_program(m, (const Elf64_auxv_t *)(const void *)b.p,
				  b.n / sizeof(Elf64_auxv_t), e);
	buf_done(&b);
	if (rc)
		return rc == -ERR_NOTFOUND || rc == -ERR_UNSUPPORTED ? rc : -(int)e->code;
	return read_list(m, e);
}

static bool is_list(const struct image *m, const struct link *l)
{
	for (size_t i = 0; i < m->nobject; i++) {
		uint64_t next = i + 1 < m->nobject ? m->object[i + 1].link : 0;

		if (l[i].next != next || (i && l[i].dynamic != m->object[i].dynamic))
			return false;
	}
	return true;
}

/* In few system calls, since the program may be stopped meanwhile. */
bool image_is_current(const struct image *m)
{
	struct link *l = calloc(m->nobject, sizeof(*l));
	uint64_t *at = calloc(m->nobject, sizeof(*at));
	struct debug d;
	bool is_same = false;

	if (l && at && m->nobject && !image_peek(m->pid, m->debug, &d, sizeof(d), NULL)) {
		for (size_t i = 0; i < m->nobject; i++)
			at[i] = m->object[i].link;
		is_same = !d.state && d.map == at[0] &&
			  image_peek_each(m->pid, at, m->nobject, sizeof(*l), l) && is_list(m, l);
	}
	free(at);
	free(l);
	return is_same;
}
