/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This library enters a running program. The code of a gate (common/gate) has loaded it, in a
 * thread that is about to call MPI. It calls omig_app_enter() once.
 */
#include "common/base/str.h"
#include "libapp/hot/app_state.h"
#include "libapp/hot/real.h"
#include "libapp/setup/setup.h"
#include "libapp/wrap.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

void omig_app_enter(struct gate *g);

/* All calls lead to the MPI library again. The state is written last, because lm-trace reads it. */
static void refuse(struct gate *g, const char *why)
{
	str_copy(g->why, sizeof(g->why), why);
	for (unsigned i = 0; i < g->nname; i++)
		__atomic_store_n(&g->target[i], g->original[i], __ATOMIC_RELEASE);
	__atomic_store_n(&g->state, GATE_FAILED, __ATOMIC_RELEASE);
}

/* Returns false if MPI does not have the function. */
static bool ask_mpi(const char *name, int *flag)
{
	int (*f)(int *) = (int (*)(int *))real_find(name, name);

	return f && f(flag) == 0;
}

/* Opens the slots of the gate. A name without a wrapper keeps its original. */
static void open_gate(struct gate *g)
{
	/* NOLINTNEXTLINE: dlopen()'s handle as a number */
	void *self = (void *)(uintptr_t)g->handle;

	for (unsigned i = 0; i < g->nname; i++) {
		void *wrapper = dlsym(self, gate_name(g, i));
		uint64_t to = wrapper ? (uint64_t)(uintptr_t)wrapper : g->original[i];

		__atomic_store_n(&g->target[i], to, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&g->state, GATE_OPEN, __ATOMIC_RELEASE);
}

static const char *enter(struct gate *g)
{
	int has_begun = 0, has_ended = 0;

	if (!gate_is_valid(g))
		return "the gate is of another version than libomig";
	if (g->pid != getpid())
		return "this is a child process of the one that was attached";
	if (setup_is_disabled())
		return "OMIG_DISABLE is set in the program's environment";
	app_state.gate = g;
	if (!ask_mpi("PMPI_Initialized", &has_begun) || !ask_mpi("PMPI_Finalized", &has_ended))
		return "its MPI library does not answer";
	if (has_ended)
		return "the program has called MPI_Finalize";
	/* before MPI_Init, its wrapper does the set-up */
	if (has_begun && !setup_entered(wrap_resolve_all))
		return "there is no memory for the segment, or the program has closed it";
	return NULL;
}

EXPORT void omig_app_enter(struct gate *g)
{
	int saved = errno;
	const char *why = enter(g);

	if (why)
		refuse(g, why);
	else
		open_gate(g);
	errno = saved;
}
