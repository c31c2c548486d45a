/* SPDX-License-Identifier: Apache-2.0 */
#include "libapp/setup/function_area.h"

#include "libapp/setup/function.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <sys/auxv.h>
#include <sys/mman.h>

/* a jump reaches 2 GiB; the program itself may be some hundred MiB */
#define AREA_FIRST_GAP (UINT64_C(1) << 20)
#define AREA_LAST_GAP (UINT64_C(1) << 30)
#define CPUID_XSAVE_ON (1u << 27)
#define SAVE_ALIGN_BYTES 64

static void *area[SEG_FUNCTION_AREAS];

/*
 * The bytes of the processor's state. Tiles are its last parts and are not saved, so the size of
 * the whole state is enough.
 */
static uint32_t save_bytes(void)
{
	uint32_t a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & CPUID_XSAVE_ON) ||
	    !__get_cpuid_count(0xd, 0, &a, &b, &c, &d))
		return 0;
	return b + SAVE_ALIGN_BYTES;
}

static void *map_at(uintptr_t at)
{
	void *p = mmap((void *)at, SEG_FUNCTION_AREA_BYTES, PROT_READ | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if ((uintptr_t)p == at)
		return p;
	munmap(p, SEG_FUNCTION_AREA_BYTES);
	return NULL;
}

/* Takes free memory below an address, as near as there is some. */
static void *map_near(uintptr_t near)
{
	void *p = NULL;

	near &= ~(uintptr_t)(SEG_FUNCTION_AREA_BYTES - 1);
	for (uint64_t gap = AREA_FIRST_GAP; !p && gap <= AREA_LAST_GAP && gap < near; gap *= 2)
		p = map_at(near - gap);
	return p;
}

/* A child process has its parent's areas and their contents. */
void functions_offer(function_slow_fn *slow)
{
	struct seg_own *w = &app_header()->w;

	function_slow = slow;
	function_save_bytes = save_bytes();
	if (!function_save_bytes || app_state.ticks != TICKS_TSC)
		return;
	if (!area[0])
		area[0] = map_near((uintptr_t)getauxval(AT_PHDR));
	if (!area[1])
		area[1] = map_near((uintptr_t)function_enter_code);
	for (unsigned i = 0; i < SEG_FUNCTION_AREAS; i++)
		w->function_area[i] = (uintptr_t)area[i];
	w->function_enter = (uintptr_t)function_enter_code;
	w->function_exit = (uintptr_t)function_exit_code;
}

#else

void functions_offer(function_slow_fn *slow)
{
}

#endif
