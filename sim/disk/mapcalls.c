/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/disk/mapcalls.h"

#include "common/container/map.h"
#include "common/loop/loop.h"
#include "sim/world/clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A mapping made by a daemon, which writes into it. */
struct mapped {
	void *p;
	size_t n;
	int prot, fd;
	const struct loop *by;
};

static struct map all; /* all mappings, by address */
static bool is_watching;

void *__real_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at);
void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at);
int __real_munmap(void *p, size_t n);
int __wrap_munmap(void *p, size_t n);

static void note(void *p, size_t n, int prot, int fd)
{
	const struct loop *whole = simclock_loop(), *by = whole ? loop_running(whole) : NULL;
	struct mapped *m = is_watching && by != whole ? malloc(sizeof(*m)) : NULL;

	if (!m)
		return;
	*m = (struct mapped){
		.p = p, .n = n, .prot = prot, .fd = fcntl(fd, F_DUPFD_CLOEXEC, 3), .by = by
	};
	if (m->fd < 0 || map_put(&all, (uintptr_t)p, m, NULL)) {
		close(m->fd);
		free(m);
	}
}

static void forget(struct mapped *m)
{
	map_del(&all, (uintptr_t)m->p);
	close(m->fd);
	free(m);
}

void mapcalls_watch(bool on)
{
	for (struct map_iter i = { 0 }; map_next(&all, &i);)
		forget(i.value);
	map_done(&all);
	map_init(&all);
	is_watching = on;
}

/* six: the C library's mmap() has six parameters. */
void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
	void *got = __real_mmap(p, n, prot, flags, fd, at);

	if (got == MAP_FAILED || fd < 0 || !(flags & MAP_SHARED) || !(prot & PROT_WRITE))
		return got;
	note(got, n, prot, fd);
	return got;
}

int __wrap_munmap(void *p, size_t n)
{
	struct mapped *m = is_watching ? map_find(&all, (uintptr_t)p) : NULL;

	if (m)
		forget(m);
	return __real_munmap(p, n);
}

void mapcalls_kill(const struct loop *part)
{
	for (struct map_iter i = { 0 }; map_next(&all, &i);) {
		struct mapped *m = i.value;

		if (m->by != part)
			continue;
		__real_mmap(m->p, m->n, m->prot, MAP_PRIVATE | MAP_FIXED, m->fd, 0);
		forget(m);
	}
}
