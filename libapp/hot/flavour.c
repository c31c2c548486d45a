/* SPDX-License-Identifier: Apache-2.0 */
#include "libapp/hot/flavour.h"

#include "common/base/array.h"
#include "libapp/hot/real.h"

#include <string.h>

#define VERSION_TEXT_BYTES 8192 /* MPI_MAX_LIBRARY_VERSION_STRING of MPICH; Open MPI has 256 */

const struct flavour *flavour;
struct mpi mpi;
static char text[VERSION_TEXT_BYTES];

const char *flavour_version(void)
{
	return text;
}

const struct flavour *flavour_from_version(const char *version)
{
	static const char *const mpich_like[] = { "MPICH", "MVAPICH", "Intel(R) MPI",
						  "CRAY MPICH" };

	if (strncmp(version, "Open MPI v4", 11) == 0)
		return &flavour_openmpi;
	for (size_t i = 0; i < ARRAY_LEN(mpich_like); i++)
		if (strncmp(version, mpich_like[i], strlen(mpich_like[i])) == 0)
			return &flavour_mpich;
	return NULL;
}

#define FN(name)                                          \
	{                                                 \
		"PMPI_" #name, offsetof(struct mpi, name) \
	}

static const struct {
	const char *name;
	size_t offset;
} function[] = {
	FN(Comm_size),
	FN(Comm_rank),
	FN(Comm_test_inter),
	FN(Comm_remote_size),
	FN(Comm_group),
	FN(Comm_remote_group),
	FN(Win_get_group),
	FN(Group_size),
	FN(Group_free),
	FN(Group_translate_ranks),
	FN(Type_size),
	FN(Type_size_x),
	FN(Topo_test),
	FN(Cartdim_get),
	FN(Cart_shift),
	FN(Graph_neighbors_count),
	FN(Dist_graph_neighbors_count),
	FN(Dist_graph_neighbors),
	FN(Query_thread),
	FN(Finalized),
	FN(Get_library_version),
};

bool flavour_open(void)
{
	int n = 0;

	for (size_t i = 0; i < ARRAY_LEN(function); i++) {
		void *p = real_find(function[i].name, function[i].name);

		if (!p)
			return false;
		memcpy((char *)&mpi + function[i].offset, &p, sizeof(p));
	}
	if (mpi.Get_library_version(text, &n) != 0)
		return false;
	flavour = flavour_from_version(text);
	if (flavour)
		flavour->open();
	if (flavour && !flavour->comm_world())
		flavour = NULL;
	return flavour != NULL;
}

bool handle_is_usable(unsigned kind, uintptr_t handle)
{
	if (flavour->handle_bytes == 4)
		handle = (uint32_t)handle;
	return handle && handle != flavour->null_of(kind);
}
