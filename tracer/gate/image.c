/* SPDX-License-Identifier: Apache-2.0 */
/* The names of MPI functions, and the slots that lead to them. */
#include "tracer/gate/image.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/ring/calls.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define ROOT_BYTES 64 /* the longest function has 34 characters */

/* Roots of the calls that libomig watches, in lower case: "send". */
static int list_roots(struct smap *roots)
{
	for (unsigned i = 0; i < call_count; i++) {
		char root[ROOT_BYTES];

		str_copy(root, sizeof(root), call_table[i].name + strlen("MPI_"));
		root[0] = (char)tolower((unsigned char)root[0]);
		if (smap_put(roots, root, (void *)&call_table[i], NULL))
			return -ERR_NOMEM;
	}
	return 0;
}

/* Spellings of compilers and modules, the longest first. */
static void cut_ending(char *root)
{
	static const char *const ending[] = {
		"_f08ts_large_", "_f08_large_", "_f08ts_", "_f08_", "__", "_c", "_"
	};
	size_t n = strlen(root);

	for (size_t i = 0; i < ARRAY_LEN(ending); i++) {
		size_t k = strlen(ending[i]);

		if (n > k && str_eq(root + n - k, ending[i])) {
			root[n - k] = 0;
			return;
		}
	}
}

/* MPI_Send, mpi_send_, MPI_SEND, mpi_send_f08ts_, MPIX_Bcast_init, MPI_Send_c ... */
static bool is_watched(const struct smap *roots, const char *name)
{
	char root[ROOT_BYTES];
	const char *p = name;

	if (strncasecmp(p, "mpi", 3) != 0)
		return false;
	p += 3 + (p[3] == 'x' || p[3] == 'X');
	if (*p != '_' || strlen(p) >= sizeof(root))
		return false;
	str_copy(root, sizeof(root), p + 1);
	for (char *c = root; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (smap_find(roots, root))
		return true;
	cut_ending(root);
	return smap_find(roots, root);
}

static bool find_symbol(const struct image_object *o, size_t i, Elf64_Sym *out, const char **name)
{
	if (i >= o->nsymbol)
		return false;
	memcpy(out, o->symbols + i * sizeof(*out), sizeof(*out));
	if (out->st_name >= o->strsz)
		return false;
	*name = o->strings + out->st_name;
	return true;
}

static bool is_definition(const Elf64_Sym *s)
{
	return s->st_shndx != SHN_UNDEF && s->st_value && ELF64_ST_TYPE(s->st_info) == STT_FUNC &&
	       ELF64_ST_BIND(s->st_info) != STB_LOCAL;
}

/* The first definition is the one that the program has. */
static int define(struct image *m, const char *name, uint64_t address)
{
	struct image_name *n = &m->name[m->nname];

	if (smap_find(&m->by_name, name) || m->nname == GATE_NAMES_MAX)
		return 0;
	*n = (struct image_name){ name, address };
	if (smap_put(&m->by_name, name, n, NULL))
		return -ERR_NOMEM;
	m->nname++;
	return 0;
}

static void define_libc(struct image *m, const char *name, uint64_t address)
{
	if (!m->dlopen && str_eq(name, "dlopen"))
		m->dlopen = address;
	else if (!m->dlsym && str_eq(name, "dlsym"))
		m->dlsym = address;
	else if (!m->dlerror && str_eq(name, "dlerror"))
		m->dlerror = address;
	else if (!m->errno_location && str_eq(name, "__errno_location"))
		m->errno_location = address;
}

static bool is_libc(const struct image_object *o)
{
	return str_has_prefix(image_base_name(o), "libc.so.6") ||
	       str_has_prefix(image_base_name(o), "libdl.so.2");
}

static bool is_ours(const struct image_object *o)
{
	return str_has_prefix(image_base_name(o), "libomig.so");
}

/* Inside of MPI libraries calls of MPI belong to the calls of the program. */
static bool is_of_mpi(const struct image_object *o)
{
	static const char *const prefix[] = { "libmpi", "libpmpi", "libmpich",
					      "mca_",	"libmca_", "libopen-" };

	for (size_t i = 0; i < ARRAY_LEN(prefix); i++)
		if (str_has_prefix(image_base_name(o), prefix[i]))
			return true;
	return false;
}

static int read_names(struct image *m, const struct smap *roots)
{
	int rc = 0;

	for (size_t k = 0; k < m->nobject; k++) {
		const struct image_object *o = &m->object[k];

		m->has_libomig = m->has_libomig || is_ours(o);
		for (size_t i = 0; !rc && i < o->nsymbol && !is_ours(o); i++) {
			const char *name;
			Elf64_Sym s;

			if (!find_symbol(o, i, &s, &name) || !is_definition(&s))
				continue;
			if (is_libc(o))
				define_libc(m, name, o->bias + s.st_value);
			else if (is_watched(roots, name))
				rc = define(m, name, o->bias + s.st_value);
		}
	}
	return rc;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct image_name *)a)->text, ((const struct image_name *)b)->text);
}

static int sort_names(struct image *m)
{
	int rc = 0;

	qsort(m->name, m->nname, sizeof(m->name[0]), compare);
	for (size_t i = 0; !rc && i < m->nname; i++)
		rc = smap_put(&m->by_name, m->name[i].text, &m->name[i], NULL);
	return rc;
}

/*
 * True for the gate, which has the slot in its list. Also for the program itself: a linker may give
 * a function an entry there. That entry calls through a slot of its own.
 */
static bool leads_to_slot(const struct image *m, uint64_t value)
{
	return (m->gate && value >= m->gate && value - m->gate < GATE_CODE_BYTES) ||
	       (value >= m->object[0].start && value < m->object[0].end);
}

/*
 * A slot leads to the function, or has not been used yet and leads to its own object. Any other is
 * of another tool, and stays as it is.
 */
static void add_slot(struct image *m, const struct image_object *o, const Elf64_Rela *r)
{
	const struct image_name *n;
	struct image_slot slot = { .address = o->bias + r->r_offset };
	uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
	const char *name;
	Elf64_Sym s;
	bool is_lazy;

	if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) ||
	    r->r_addend || slot.address % sizeof(uint64_t) ||
	    !find_symbol(o, ELF64_R_SYM(r->r_info), &s, &name) ||
	    !(n = smap_find(&m->by_name, name)) ||
	    image_peek(m->pid, slot.address, &slot.value, sizeof(slot.value), NULL))
		return;
	is_lazy = type == R_X86_64_JUMP_SLOT && slot.value >= o->start && slot.value < o->end;
	slot.name = (uint32_t)(n - m->name);
	if (slot.value != n->address && !is_lazy && leads_to_slot(m, slot.value))
		return;
	if ((slot.value != n->address && !is_lazy) || m->nslot == GATE_SLOTS_MAX)
		m->nskipped++;
	else
		m->slot[m->nslot++] = slot;
}

static int read_relocations(struct image *m, const struct image_object *o, uint64_t at,
			    uint64_t bytes)
{
	Elf64_Rela *r;

	if (!at || bytes < sizeof(*r) || bytes > IMAGE_TABLE_MAX_BYTES)
		return 0;
	r = malloc((size_t)bytes);
	if (!r)
		return -ERR_NOMEM;
	if (!image_peek(m->pid, at, r, (size_t)bytes, NULL))
		for (size_t i = 0; i < bytes / sizeof(*r); i++)
			add_slot(m, o, &r[i]);
	free(r);
	return 0;
}

static int read_slots(struct image *m)
{
	int rc = 0;

	for (size_t k = 0; !rc && k < m->nobject; k++) {
		const struct image_object *o = &m->object[k];

		if (is_ours(o) || is_libc(o) || is_of_mpi(o))
			continue;
		rc = read_relocations(m, o, o->jmprel, o->pltrelsz);
		if (!rc)
			rc = read_relocations(m, o, o->rela, o->relasz);
	}
	return rc;
}

static int check(const struct image *m, struct err *e)
{
	if (!m->errno_location)
		return err_set(e, ERR_UNSUPPORTED,
			       "its C library is not that of GNU: link it with "
			       "-lomig");
	if (!m->dlopen || !m->dlsym)
		return err_set(e, ERR_UNSUPPORTED, "it has no dlopen()");
	if (!m->nname)
		return err_set(e, ERR_UNSUPPORTED,
			       "it has no MPI library that is dynamic: link it "
			       "dynamically, or with -lomig");
	return 0;
}

int image_read(int32_t pid, uint64_t gate, struct image **out, struct err *e)
{
	struct image *m = calloc(1, sizeof(*m));
	struct smap roots;
	int rc;

	if (!m)
		return err_nomem(e);
	m->pid = pid;
	m->gate = gate;
	smap_init(&m->by_name);
	smap_init(&roots);
	rc = list_roots(&roots);
	if (!rc)
		rc = image_read_objects(m, e);
	if (!rc && (read_names(m, &roots) || sort_names(m) || read_slots(m)))
		rc = err_nomem(e);
	smap_done(&roots);
	if (!rc)
		rc = check(m, e);
	if (rc)
		image_free(m);
	else
		*out = m;
	return rc;
}

void image_free(struct image *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nobject; i++) {
		free(m->object[i].symbols);
		free(m->object[i].strings);
	}
	smap_done(&m->by_name);
	free(m->object);
	free(m);
}
