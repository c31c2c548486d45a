/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a wrapper of libomig-io beyond the call itself: off, and with a table that counts.
 * The call is a read of no descriptor, or of no bytes of a file: the shortest that there are.
 */
#include "bench/bench.h"
#include "common/ring/segmount.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS 2000 /* a batch */
#define BATCHES 301

typedef ssize_t read_fn(int fd, void *to, size_t n);

/* In place of libomig. Off: no table is ever ready. */
__attribute__((visibility("default"))) int omig_app_mounts_join(const struct mount_side *side)
{
	static struct seg_mount table[SEG_MOUNTS];

	if (getenv("BENCH_FILES_ON"))
		side->on_ready(table);
	return 0;
}

static double batch(read_fn *call, int fd)
{
	int64_t t = bench_now();
	char to[1];

	for (int i = 0; i < CALLS; i++)
		call(fd, to, 0);
	return (double)(bench_now() - t) / CALLS;
}

/* Alternating batches; the median of the differences, beside the call itself. */
static void measure(const char *name, const char *floor, int fd)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	struct bench_series added = { 0 }, bare = { 0 };
	read_fn *real = NULL, *watched = read;

	if (libc)
		*(void **)(void *)&real = dlsym(libc, "read");
	if (!real || real == watched)
		bench_fail("read() is not that of libomig-io");
	batch(watched, fd);
	for (int i = 0; i < BATCHES; i++) {
		double without = batch(real, fd);

		bench_add(&bare, without);
		bench_add(&added, batch(watched, fd) - without);
	}
	bench_print(floor, "ns", &bare, NULL);
	bench_print(name, "ns", &added, floor);
	bench_done(&bare);
	bench_done(&added);
}

int main(int argc, char **argv)
{
	int file = open(argv[0], O_RDONLY | O_CLOEXEC);

	(void)argc;
	if (getenv("BENCH_FILES_ON")) {
		measure("files.on.ns", "floor.read.file.ns", file);
		return 0;
	}
	measure("files.inactive.ns", "floor.read.ns", -1);
	setenv("BENCH_FILES_ON", "1", 1);
	execv(argv[0], argv);
	bench_fail("%s: %s", argv[0], strerror(errno));
}
