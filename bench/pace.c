/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pace.h"

#include "bench/bench.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

struct pace *pace_make(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct pace *p;

	if (fd < 0 || ftruncate(fd, sizeof(*p)))
		bench_fail("no pace");
	p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		bench_fail("no pace");
	close(fd);
	return p;
}

static void go(struct pace *p, int64_t how)
{
	__atomic_store_n(&p->go, how, __ATOMIC_RELEASE);
}

void pace_begin(struct pace *p)
{
	go(p, 1);
}

void pace_set(struct pace *p, int64_t rate)
{
	__atomic_store_n(&p->rate, rate, __ATOMIC_RELEASE);
	__atomic_add_fetch(&p->turn, 1, __ATOMIC_RELEASE);
}

void pace_end(struct pace *p)
{
	go(p, -1);
	munmap(p, sizeof(*p));
}
