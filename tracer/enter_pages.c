/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a gate, and the program's memory as a whole, which ends with exec. */
#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/str.h"
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
	uint8_t now[RANDOM_BYTES];

	if (image_peek(pid, of->at, now, sizeof(now), NULL) || memcmp(of->random, now, sizeof(now)))
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

bool enter_has_pages(int32_t pid, uint64_t at)
{
	struct buf b = BUF_INIT(MAPS_MAX_BYTES);
	struct maps_region code, data;
	bool has = at && !maps_read(pid, &b, NULL) && maps_find(&b, at, &code) &&
		   maps_find(&b, at + GATE_CODE_BYTES, &data) && code.from == at &&
		   code.to == data.from && data.to - at == PAGES_BYTES && !code.is_file &&
		   !data.is_file && str_eq(code.rights, "r-xp") && str_eq(data.rights, "rw-p");

	buf_done(&b);
	return has;
}

uint64_t enter_find_place(int32_t pid, uint64_t near)
{
	struct buf b = BUF_INIT(MAPS_MAX_BYTES);
	uint64_t at = maps_read(pid, &b, NULL) ? 0 : choose_place(buf_str(&b), near);

	buf_done(&b);
	return at;
}

/* Calls for memory of the gate. */
static int do_syscalls(struct freeze *f, const struct call_ways *ways, struct call_syscall *c,
		       size_t n, struct err *e)
{
	int rc = freeze_syscalls(f, ways, c, n, e);

	for (size_t i = 0; !rc && i < n; i++)
		if (c[i].result < 0 && c[i].result > -4096)
			rc = err_set(e, c[i].result == -EEXIST ? ERR_AGAIN : ERR_SYS,
				     "the program gets no memory for it: %s",
				     strerror((int)-c[i].result));
	return rc;
}

/* Neither call touches memory of the program, should it map some there meanwhile. */
static int make_at(struct freeze *f, const struct call_ways *ways, uint64_t at, uint64_t *base,
		   struct err *e)
{
	const uint64_t how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, no_file = ~0ull;
	struct call_syscall c[] = {
		{ .number = SYS_mmap,
		  .arg = { at, GATE_CODE_BYTES, PROT_READ | PROT_EXEC, how, no_file } },
		{ .number = SYS_mmap,
		  .arg = { at + GATE_CODE_BYTES, PAGES_BYTES - GATE_CODE_BYTES,
			   PROT_READ | PROT_WRITE, how, no_file } },
	};
	int rc = freeze_enqueue(f, ways, c, ARRAY_LEN(c), e);

	if (rc != -ERR_UNSUPPORTED)
		return rc;
	rc = do_syscalls(f, ways, c, ARRAY_LEN(c), e);
	if (!rc)
		*base = at;
	return rc;
}

/* Where the kernel chooses. */
static int make_anywhere(struct freeze *f, const struct call_ways *ways, uint64_t *base,
			 struct err *e)
{
	struct call_syscall c = { .number = SYS_mmap,
				  .arg = { 0, PAGES_BYTES, PROT_READ | PROT_EXEC,
					   MAP_PRIVATE | MAP_ANONYMOUS, ~0ull } };
	uint64_t at;
	int rc = do_syscalls(f, ways, &c, 1, e);

	if (rc)
		return rc;
	at = (uint64_t)c.result;
	c = (struct call_syscall){ .number = SYS_mprotect,
				   .arg = { at + GATE_CODE_BYTES, PAGES_BYTES - GATE_CODE_BYTES,
					    PROT_READ | PROT_WRITE } };
	rc = do_syscalls(f, ways, &c, 1, e);
	if (!rc)
		*base = at;
	return rc;
}

int enter_make_pages(struct freeze *f, const struct call_ways *ways, uint64_t at, uint64_t *base,
		     struct err *e)
{
	return at ? make_at(f, ways, at, base, e) : make_anywhere(f, ways, base, e);
}
