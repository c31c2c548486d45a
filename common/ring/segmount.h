/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part of the segment (seg.h): reads and writes by file system. libomig-io counts them, and libomig
 * has the segment. This file also has the interface between both.
 */
#ifndef COMMON_RING_SEGMOUNT_H
#define COMMON_RING_SEGMOUNT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Mounts that one process uses; more than a container has. The last row, whose key is set from the
 * start, has calls for which there was no room.
 */
#define SEG_MOUNTS 32

/* Keys of files on no mount. */
enum { SEG_MOUNT_PIPE = 1, SEG_MOUNT_SOCKET, SEG_MOUNT_OTHER };

/* id: that of the mount in /proc/PID/mountinfo; 0 if the kernel does not report it. */
#define SEG_MOUNT_KEY(id, major, minor)                                                            \
	(UINT64_C(1) << 63 | (uint64_t)((id)&0x7fffffff) << 32 | (uint64_t)((major)&0xfff) << 20 | \
	 (uint64_t)((minor)&0xfffff))

struct seg_moved {
	uint64_t calls, bytes;
};

/*
 * Calls that have moved bytes of files on one mount. All threads and signal handlers add to a row,
 * so each sum is atomic. key is written once; the sums only increase.
 */
struct seg_mount {
	uint64_t key; /* 0 = free */
	struct seg_moved in, out;
	/* of these, calls that the kernel's accounting of a process omits */
	struct seg_moved silent_in, silent_out;
};
static_assert(sizeof(struct seg_mount) == 72, "layout");

/* Returns the row of the key, which is claimed if it is new. Wait-free, signal-safe. */
static inline struct seg_mount *seg_mount_find(struct seg_mount *table, uint64_t key)
{
	for (unsigned i = 0; i < SEG_MOUNTS - 1 && key != SEG_MOUNT_OTHER; i++) {
		uint64_t now = __atomic_load_n(&table[i].key, __ATOMIC_RELAXED);

		if (now == key)
			return &table[i];
		if (!now && (__atomic_compare_exchange_n(&table[i].key, &now, key, false,
							 __ATOMIC_RELEASE, __ATOMIC_RELAXED) ||
			     now == key))
			return &table[i];
	}
	return &table[SEG_MOUNTS - 1];
}

/* Counts a call that has moved bytes. Wait-free, signal-safe. */
static inline void seg_moved_add(struct seg_moved *m, uint64_t bytes)
{
	__atomic_fetch_add(&m->calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&m->bytes, bytes, __ATOMIC_RELAXED);
}

/* --- the interface. A change needs a new MOUNT_LINK_VERSION. */

#define MOUNT_LINK_VERSION 1

struct mount_side {
	unsigned version; /* MOUNT_LINK_VERSION */
	/*
	 * Gets the segment's table, which is valid until the process ends. Called from MPI_Init or
	 * from omig_app_mounts_join().
	 */
	void (*on_ready)(struct seg_mount *table);
};

/*
 * Returns 0, or -1 if another library has joined already, or has another version. Sets up a process
 * without MPI, and a child process of a process without MPI. Preserves errno.
 */
int omig_app_mounts_join(const struct mount_side *side);

#endif
