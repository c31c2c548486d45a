/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The differences between MPI libraries. One libomig serves all of them. The wrappers treat handles
 * as opaque words: a pointer or an int uses the same register. One table for each library describes
 * the handles. Tests check it against the real mpi.h.
 */
#ifndef LIBAPP_HOT_FLAVOUR_H
#define LIBAPP_HOT_FLAVOUR_H

#include "common/ring/seg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma GCC visibility push(hidden)

struct status_view {
	int source, tag;
	bool cancelled;
	int64_t bytes;
};

struct flavour {
	enum seg_flavour id;
	/* libraries to search if a program loads MPI late; ends with NULL */
	const char *const *sonames;
	unsigned handle_bytes; /* of communicators, types, requests in arrays of C */
	unsigned status_bytes;
	int any_source, proc_null, root, undefined;
	int graph, cart, dist_graph; /* of MPI_Topo_test */
	uintptr_t in_place, status_ignore, statuses_ignore;
	void (*status_read)(const void *status, struct status_view *out);
	/* Handles that are constants, or addresses found at set-up. */
	uintptr_t (*comm_world)(void);
	uintptr_t (*null_of)(unsigned kind); /* enum call_param_kind: TYPE, COMM, WIN, REQUEST */
	uintptr_t (*from_fortran)(unsigned kind, int32_t f);
	/*
	 * True for the shared request of calls that were complete when they returned: small sends,
	 * no partner.
	 */
	bool (*is_done)(uintptr_t request);
	/* Fortran's own constants: addresses of variables. lang: enum args_lang */
	bool (*f_status_is_ignored)(const void *status, int lang);
	bool (*f_is_in_place)(const void *buffer, int lang);
	void (*open)(void); /* finds the symbols that the functions above need */
};

extern const struct flavour flavour_openmpi, flavour_mpich;

/* Returns the flavour by the text of MPI_Get_library_version, or NULL. */
const struct flavour *flavour_from_version(const char *text);

/* Functions of MPI that libomig calls itself: always the PMPI_ ones. */
struct mpi {
	int (*Comm_size)(uintptr_t comm, int *size);
	int (*Comm_rank)(uintptr_t comm, int *rank);
	int (*Comm_test_inter)(uintptr_t comm, int *flag);
	int (*Comm_remote_size)(uintptr_t comm, int *size);
	int (*Comm_group)(uintptr_t comm, uintptr_t *group);
	int (*Comm_remote_group)(uintptr_t comm, uintptr_t *group);
	int (*Win_get_group)(uintptr_t win, uintptr_t *group);
	int (*Group_size)(uintptr_t group, int *size);
	int (*Group_free)(uintptr_t *group);
	int (*Group_translate_ranks)(uintptr_t from, int n, const int *ranks, uintptr_t to,
				     int *out);
	int (*Type_size)(uintptr_t type, int *size);
	int (*Type_size_x)(uintptr_t type, int64_t *size);
	int (*Topo_test)(uintptr_t comm, int *status);
	int (*Cartdim_get)(uintptr_t comm, int *ndims);
	int (*Cart_shift)(uintptr_t comm, int dimension, int by, int *source, int *dest);
	int (*Graph_neighbors_count)(uintptr_t comm, int rank, int *n);
	int (*Dist_graph_neighbors_count)(uintptr_t comm, int *in, int *out, int *weighted);
	int (*Dist_graph_neighbors)(uintptr_t comm, int in, int *sources, int *weights_in, int out,
				    int *dests, int *weights_out);
	int (*Query_thread)(int *provided);
	int (*Finalized)(int *flag);
	int (*Get_library_version)(char *text, int *n);
};
extern struct mpi mpi;

/* The flavour of this process, or NULL: then bytes and partners are unknown. */
extern const struct flavour *flavour;

/*
 * Finds all of struct mpi and the flavour. Called once, in MPI_Init. Returns false if the MPI
 * library is unknown.
 */
bool flavour_open(void);

/* The library's version text; "" before flavour_open(). */
const char *flavour_version(void);

/* True if the handle may be passed to MPI functions. Requires a flavour. */
bool handle_is_usable(unsigned kind, uintptr_t handle);

/*
 * Returns the handle of an array's element as the C word; 0 without an array. kind: enum
 * call_param_kind. Requires a flavour.
 */
static inline uintptr_t handle_at(bool is_c, const void *array, int i, unsigned kind)
{
	const uint8_t *p = array;
	uint64_t wide;
	int32_t f;

	if (!p)
		return 0;
	if (is_c && flavour->handle_bytes == 8) {
		memcpy(&wide, p + (size_t)i * 8, 8);
		return (uintptr_t)wide;
	}
	memcpy(&f, p + (size_t)i * 4, 4);
	return is_c ? (uintptr_t)(uint32_t)f : flavour->from_fortran(kind, f);
}

#pragma GCC visibility pop

#endif
