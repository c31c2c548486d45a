/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a gate, and the program's memory as a whole, which ends with exec. */
#include "common/base/buf.h"
#include "tracer/enter_internal.h"
#include "tracer/gate/image.h"
#include "tracer/thread/maps.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AUXV_MAX_BYTES 4096
#define RANDOM_BYTES 16 /* that the kernel gives each program */

#define PAGE_BYTES UINT64_C(4096)
#define PAGES_BYTES ((GATE_BYTES + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1))
/* Below this much free memory there is the heap, or nothing: it grows upwards, and slowly. */
#define HOLE_BYTES (UINT64_C(16) << 30)
/* Distance from memory of the program, which may grow downwards until there. */
#define DISTANCE_BYTES (UINT64_C(64) << 20)

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static uint64_t find_random(const Elf64_auxv_t *aux, size_t n)
{
	for (size_t i = 0; i < n && aux[i].a_type != AT_NULL; i++)
		if (aux[i].a_type == AT_RANDOM)
			return aux[i].a_un.a_val;
	return 0;
}

int enter_read_life(int32_t pid, struct enter_life *out, struct err *e)
{
	struct buf b;
	int rc = enter_read_proc(pid, "auxv", AUXV_MAX_BYTES, &b);

	memset(out, 0, sizeof(*out));
	if (!rc)
		out->at = find_random((const Elf64_auxv_t *)(const void *)b.p,
				      b.n / sizeof(Elf64_auxv_t));
	buf_done(&b);
	_Static_assert(sizeof(out->random) == RANDOM_BYTES, "as the kernel gives");
	if (rc || !out->at)
		return err_set(e, ERR_DENIED, "the kernel does not let us read process %d",
			       (int)pid);
	return image_peek(pid, out->at, out->random, RANDOM_BYTES, e);
}

int enter_check_life(int32_t pid, const struct enter_life *of, struct err *e)
{
	struct enter_life now;

	if (enter_read_life(pid, &now, NULL) || memcmp(of, &now, sizeof(now)) != 0)
		return err_set(e, ERR_AGAIN, "the process has just started another program");
	return 0;
}

/*
 * A place below all that is mapped next to `near`, a library's code. There the kernel places what
 * the program maps, and no stack grows. 0: there is none.
 */
static uint64_t choose_place(const char *maps, uint64_t near)
{
	uint64_t end = 0, lowest = 0;
	struct maps_region r;

	while (maps_next(&maps, &r) && r.from <= near) {
		if (r.from - end >= HOLE_BYTES)
			lowest = r.from;
		end = r.to;
	}
	return lowest ? (lowest - DISTANCE_BYTES - PAGES_BYTES) & ~(PAGE_BYTES - 1) : 0;
}

static bool has_pages(const struct buf *maps, uint64_t at)
{
	struct maps_region r;

	return maps_find(maps, at, &r) && r.from == at && r.to - at == PAGES_BYTES && !r.is_file &&
	       !strcmp(r.rights, "rw-p");
}

/* A call for memory of the gate. */
static int do_syscall(struct freeze *f, const struct call_ways *ways, const struct call_syscall *c,
		      uint64_t *out, struct err *e)
{
	int64_t result = 0;
	int rc = freeze_syscall(f, ways, c, &result, e);

	if (rc)
		return rc;
	if (result < 0 && result > -4096)
		return err_set(e, result == -EEXIST ? ERR_AGAIN : ERR_SYS,
			       "the program gets no memory for it: %s", strerror((int)-result));
	*out = (uint64_t)result;
	return 0;
}

int enter_make_pages(struct freeze *f, const struct call_ways *ways, uint64_t *asked,
		     uint64_t *base, struct err *e)
{
	struct call_syscall map = { SYS_mmap,
				    { 0, PAGES_BYTES, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, ~UINT64_C(0), 0 } };
	struct buf b = BUF_INIT(MAPS_MAX_BYTES);
	bool is_done;

	if (maps_read(freeze_pid(f), &b, NULL))
		buf_clear(&b);
	is_done = *asked && b.n && has_pages(&b, *asked);
	if (!is_done)
		*asked = b.n ? choose_place(buf_str(&b), ways->syscall) : 0;
	buf_done(&b);
	if (is_done) {
		*base = *asked;
		return 0;
	}
	if (*asked) {
		map.arg[0] = *asked;
		map.arg[3] |= MAP_FIXED_NOREPLACE;
	}
	return do_syscall(f, ways, &map, base, e);
}

int enter_protect_code(struct freeze *f, const struct call_ways *ways, uint64_t base, struct err *e)
{
	const struct call_syscall protect = { SYS_mprotect,
					      { base, GATE_CODE_BYTES, PROT_READ | PROT_EXEC } };
	uint64_t nothing;

	return do_syscall(f, ways, &protect, &nothing, e);
}
