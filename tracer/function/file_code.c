/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/function/file_code.h"

#include <gelf.h>

/* n is 0 unless segment i is loaded, is executable where that is wanted, and is in the file. */
static bool segment(Dwfl_Module *m, size_t i, uint32_t rights, struct file_code *out)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(m, &bias);
	size_t size = 0, count = 0;
	const char *raw = elf ? elf_rawfile(elf, &size) : NULL;
	GElf_Phdr ph;

	*out = (struct file_code){ 0 };
	if (!raw || elf_getphdrnum(elf, &count) < 0 || i >= count)
		return false;
	if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
	    (ph.p_flags & rights) != rights || ph.p_offset > size ||
	    ph.p_filesz > size - ph.p_offset)
		return true;
	out->at = ph.p_vaddr + bias;
	out->n = ph.p_filesz;
	out->bytes = (const uint8_t *)raw + ph.p_offset;
	return true;
}

bool file_code_segment(Dwfl_Module *m, size_t i, struct file_code *out)
{
	return segment(m, i, PF_X, out);
}

struct file_code file_code_at(Dwfl_Module *m, uint64_t at)
{
	struct file_code s;

	for (size_t i = 0; segment(m, i, 0, &s); i++)
		if (s.n && at >= s.at && at - s.at < s.n)
			return (struct file_code){ at, s.n - (size_t)(at - s.at),
						   s.bytes + (at - s.at) };
	return (struct file_code){ 0 };
}
