/* SPDX-License-Identifier: Apache-2.0 */
/* Objects whose program headers claim notes in unmapped memory. */
#ifndef TESTS_LIBAPP_ODD_OBJECTS_H
#define TESTS_LIBAPP_ODD_OBJECTS_H

#include <link.h>

#define NOTE(at, n)                                                                               \
	{                                                                                         \
		.p_type = PT_NOTE, .p_flags = PF_R, .p_vaddr = (at), .p_memsz = (n), .p_align = 4 \
	}

static int show_odd_objects(int (*fn)(struct dl_phdr_info *, size_t, void *), void *arg)
{
	const ElfW(Phdr) segments[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = 0x1000, .p_memsz = 0x1000 },
		NOTE(0x2000, 0x40),
		NOTE(0x1fe0, 0x40),
		NOTE(0x1800, (size_t)-8),
	};
	struct dl_phdr_info o = { .dlpi_name = "", .dlpi_phdr = segments, .dlpi_phnum = 4 };

	return fn(&o, sizeof(o), arg);
}

#endif
