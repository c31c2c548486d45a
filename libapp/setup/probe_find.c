/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "libapp/setup/probe.h"
#include "libapp/setup/setup.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#define NOTE_OWNER "OMIG"

struct found {
	struct omig_probes *module;
	const char *file; /* "" for the program itself */
};

static struct found found[SEG_PROBE_MODULES];
static unsigned nfound, nlost;

static void note_module(struct omig_probes *m, const char *file)
{
	if (m->version != OMIG_PROBE_ABI || !m->probe || !m->word || !m->count ||
	    (uintptr_t)m->word % OMIG_PROBE_PAGE)
		return;
	if (nfound < SEG_PROBE_MODULES)
		found[nfound++] = (struct found){ m, file };
	else
		nlost++;
}

/* Reads one note of at most n bytes. Returns its size, or 0 if it is invalid. */
static size_t read_note(const uint8_t *p, size_t n, size_t align, const char *file)
{
	ElfW(Nhdr) h;
	int64_t distance;
	size_t desc, size;

	if (n < sizeof(h))
		return 0;
	memcpy(&h, p, sizeof(h));
	if (h.n_namesz > n || h.n_descsz > n)
		return 0;
	desc = (sizeof(h) + h.n_namesz + align - 1) / align * align;
	size = (desc + h.n_descsz + align - 1) / align * align;
	if (desc + h.n_descsz > n)
		return 0;
	if (h.n_type == OMIG_PROBE_ABI && h.n_namesz == sizeof(NOTE_OWNER) &&
	    h.n_descsz == sizeof(distance) &&
	    !memcmp(p + sizeof(h), NOTE_OWNER, sizeof(NOTE_OWNER))) {
		memcpy(&distance, p + desc, sizeof(distance));
		note_module((struct omig_probes *)((uintptr_t)(p + desc) + (uintptr_t)distance),
			    file);
	}
	return size < n ? size : n;
}

/*
 * Memory described by a header exists only if it was loaded: a stripped or odd object may describe
 * more.
 */
static bool is_loaded(const struct dl_phdr_info *info, const ElfW(Phdr) * note)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_R && note->p_vaddr >= ph->p_vaddr &&
		    note->p_vaddr - ph->p_vaddr <= ph->p_memsz &&
		    note->p_memsz <= ph->p_memsz - (note->p_vaddr - ph->p_vaddr))
			return true;
	}
	return false;
}

static int on_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const uint8_t *p = (const uint8_t *)(uintptr_t)(info->dlpi_addr + ph->p_vaddr);
		size_t n = ph->p_memsz, used;

		if (ph->p_type != PT_NOTE || !is_loaded(info, ph))
			continue;
		for (; n; p += used, n -= used) {
			used = read_note(p, n, ph->p_align == 8 ? 8 : 4, info->dlpi_name);
			if (!used)
				break;
		}
	}
	return 0;
}

/* An invalid probe remains unknown. */
static void write_probe(unsigned number, const struct omig_probe *p)
{
	struct seg_probe *to =
		(struct seg_probe *)(void *)(app_state.base + app_state.plan.probe_offset) + number;
	struct probe_known known = { .npar = (uint8_t)p->nparam };

	if (!p->name || !p->type || p->nparam < 1 || p->nparam > SEG_PROBE_PARAMS ||
	    strlen(p->name) >= sizeof(to->name))
		return;
	for (unsigned i = 0; i < p->nparam; i++) {
		if (p->type[i] >= SEG_TYPES)
			return;
		known.floats |= (uint32_t)SEG_IS_FLOAT(p->type[i]) << i;
	}
	memcpy(to->type, p->type, p->nparam);
	to->nparam = p->nparam;
	str_copy(to->name, sizeof(to->name), p->name);
	probe_known[number] = known;
}

/* hit is set before the first word can differ from 0. */
static bool enter(unsigned m)
{
	struct omig_probes *o = found[m].module;

	for (unsigned i = 0; i < o->count && i < SEG_PROBES_EACH; i++)
		write_probe(m * SEG_PROBES_EACH + i, &o->probe[i]);
	o->first = m * SEG_PROBES_EACH;
	o->hit = probe_hit;
	return mmap(o->word, SEG_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		    app_state.fd,
		    (off_t)(app_state.plan.probe_word_offset + m * SEG_PAGE_BYTES)) != MAP_FAILED;
}

/* Pins a module: its pages are mapped over later, so it must never be unloaded. */
static void pin(const char *file)
{
	if (*file && !dlopen(file, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE))
		dlerror();
}

static bool look(void)
{
	nfound = nlost = 0;
	dl_iterate_phdr(on_object, NULL);
	return nfound > 0;
}

void probes_renew(void)
{
	for (unsigned m = 0; m < nfound; m++)
		if (!enter(m))
			setup_say("probes cannot be switched on", errno);
	app_header()->w.probe_modules_lost = nlost;
}

void probes_find(void)
{
	look();
	for (unsigned m = 0; m < nfound; m++)
		pin(found[m].file);
	probes_renew();
	if (nlost)
		setup_say("too many libraries with probes", 0);
}

/* Makes the next probe set up this process. The pages of the probes are private and zero. */
void probes_wake(void)
{
	for (unsigned m = 0; m < nfound; m++)
		for (unsigned i = 0; i < found[m].module->count && i < SEG_PROBES_EACH; i++)
			found[m].module->word[i] = PROBE_COME;
}

/* A program with probes need not call MPI_Init: it is watched from its start on. */
static void __attribute__((constructor)) come_to_life(void)
{
	int saved = errno;

	if (setup_is_named()) {
		setup_note_stderr();
		if (look())
			setup_without_mpi();
	}
	errno = saved;
}

unsigned *probe_page(unsigned m)
{
	return m < nfound ? found[m].module->word : NULL;
}
