/* SPDX-License-Identifier: Apache-2.0 */
/* Files with code: for call sites, and for the lm, which finds their places in the source. */
#include "common/base/str.h"
#include "libapp/hot/app_state.h"
#include "libapp/hot/site.h"
#include "libapp/setup/setup.h"

#include <link.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* NT_GNU_BUILD_ID of elf.h, and its owner with the 0 */
#define NOTE_TYPE 3
#define NOTE_OWNER "GNU"

static struct seg_module *module_at(unsigned i)
{
	return (struct seg_module *)(void *)(app_state.base + app_state.plan.module_offset) + i;
}

static const uint8_t *address_of(const struct dl_phdr_info *info, uint64_t vaddr)
{
	return (const uint8_t *)(uintptr_t)(info->dlpi_addr + vaddr);
}

static void take_build_id(struct seg_module *m, const uint8_t *p, size_t n)
{
	ElfW(Nhdr) h;
	size_t at = sizeof(h) + sizeof(NOTE_OWNER);

	memcpy(&h, p, sizeof(h));
	if (h.n_type != NOTE_TYPE || h.n_namesz != sizeof(NOTE_OWNER) || h.n_descsz > n - at ||
	    memcmp(p + sizeof(h), NOTE_OWNER, sizeof(NOTE_OWNER)) != 0)
		return;
	m->build_id_bytes = h.n_descsz < SEG_BUILD_ID_BYTES ? h.n_descsz : SEG_BUILD_ID_BYTES;
	memcpy(m->build_id, p + at, m->build_id_bytes);
}

/* Linkers put the note of the build id in a separate segment, or first. */
static void find_build_id(struct seg_module *m, const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum && !m->build_id_bytes; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t at = 0;

		while (ph->p_type == PT_NOTE && at < ph->p_memsz &&
		       ph->p_memsz - at > sizeof(ElfW(Nhdr)) + sizeof(NOTE_OWNER)) {
			const uint8_t *p = address_of(info, ph->p_vaddr + at);
			ElfW(Nhdr) h;

			memcpy(&h, p, sizeof(h));
			if (h.n_namesz > ph->p_memsz || h.n_descsz > ph->p_memsz)
				break;
			take_build_id(m, p, ph->p_memsz - at);
			at += sizeof(h) + (h.n_namesz + 3u) / 4 * 4 + (h.n_descsz + 3u) / 4 * 4;
		}
	}
}

/* Finds the loaded code; false: there is none. */
static bool find_code(struct seg_module *m, const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		if (!m->start || start < m->start)
			m->start = start;
		if (start + ph->p_memsz > m->end)
			m->end = start + ph->p_memsz;
	}
	return m->end > m->start;
}

/* The program itself has no name here; the kernel's page has no path. */
static bool find_path(struct seg_module *m, const struct dl_phdr_info *info)
{
	ssize_t n;

	if (info->dlpi_name && info->dlpi_name[0])
		return info->dlpi_name[0] == '/' &&
		       str_copy(m->path, sizeof(m->path), info->dlpi_name);
	n = readlink("/proc/self/exe", m->path, sizeof(m->path) - 1);
	return n > 0 && (size_t)n < sizeof(m->path) - 1;
}

static void note_text(const struct seg_module *m)
{
	unsigned i = site_ntext;

	for (; i && site_text[i - 1].start > m->start; i--)
		site_text[i] = site_text[i - 1];
	site_text[i] = (struct site_text){ (uintptr_t)m->start, (uintptr_t)m->end };
	site_ntext++;
}

static int on_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	unsigned *n = arg;
	struct seg_module m = { .bias = info->dlpi_addr };

	if (*n == SEG_MODULES)
		return 1;
	if (!find_code(&m, info) || !find_path(&m, info))
		return 0;
	find_build_id(&m, info);
	*module_at(*n) = m;
	note_text(&m);
	++*n;
	return 0;
}

void modules_note(void)
{
	unsigned n = 0;

	if (!site_ntext)
		dl_iterate_phdr(on_object, &n);
}
