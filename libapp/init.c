/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrappers of the calls that begin watching or change it; their Fortran forms have other arguments
 * than C's.
 */
#include "libapp/hot/app_state.h"
#include "libapp/setup/setup.h"
#include "libapp/vertex/vertex.h"
#include "libapp/wrap.h"

static int resolve_init(void *argc, void *argv);
static int resolve_init_thread(void *argc, void *argv, int required, void *provided);
static int resolve_pcontrol(int level, void *more);

static struct {
	int (*init)(void *argc, void *argv);
	int (*init_thread)(void *argc, void *argv, int required, void *provided);
	int (*pcontrol)(int level, void *more);
} real = { resolve_init, resolve_init_thread, resolve_pcontrol };

static int resolve_init(void *argc, void *argv)
{
	wrap_look("MPI_Init", "PMPI_Init", (void **)&real.init);
	return REAL(init) == resolve_init ? REAL_MISSING : REAL(init)(argc, argv);
}

static int resolve_init_thread(void *argc, void *argv, int required, void *provided)
{
	wrap_look("MPI_Init_thread", "PMPI_Init_thread", (void **)&real.init_thread);
	return REAL(init_thread) == resolve_init_thread
		       ? REAL_MISSING
		       : REAL(init_thread)(argc, argv, required, provided);
}

static int resolve_pcontrol(int level, void *more)
{
	wrap_look("MPI_Pcontrol", "PMPI_Pcontrol", (void **)&real.pcontrol);
	return REAL(pcontrol) == resolve_pcontrol ? REAL_MISSING : REAL(pcontrol)(level, more);
}

int MPI_Init(void *argc, void *argv);
EXPORT int MPI_Init(void *argc, void *argv)
{
	int rc = REAL(init)(argc, argv);

	if (!rc)
		setup_run(wrap_resolve_all);
	return rc;
}

int MPI_Init_thread(void *argc, void *argv, int required, void *provided);
EXPORT int MPI_Init_thread(void *argc, void *argv, int required, void *provided)
{
	int rc = REAL(init_thread)(argc, argv, required, provided);

	if (!rc)
		setup_run(wrap_resolve_all);
	return rc;
}

/* 0 silences all hooks of this process, 1 enables them; 2 is a flush, with no effect here. */
static void pcontrol(int level)
{
	if (!app_state.base)
		return;
	if (level == 1)
		__atomic_store_n(&app_header()->w.speaks_since, ticks_now(app_state.ticks),
				 __ATOMIC_RELEASE);
	if (level == 0)
		vertex_miss();
	if (level == 0 || level == 1)
		segment_hooks(level != 0);
	__atomic_store_n(&app_header()->w.pcontrol, (uint32_t)level, __ATOMIC_RELAXED);
}

/* Variadic in mpi.h; no library defines more than one further argument. */
int MPI_Pcontrol(int level, void *more);
EXPORT int MPI_Pcontrol(int level, void *more)
{
	struct hook h;
	bool watched;
	int rc;

	watched = hook_enter(&h, CALL_ID_Pcontrol, hook_frame());
	if (watched)
		hook_watch(&h, hook_thread.now, HOOK_CALL(CALL_ID_Pcontrol, 0, h.seen),
			   hook_frame());
	pcontrol(level);
	if (!watched)
		return REAL(pcontrol)(level, more);
	h.word &= HOOK_TIME;
	hook_begin(&h);
	rc = REAL(pcontrol)(level, more);
	hook_leave(&h, rc);
	return rc;
}

/* --- Fortran */

typedef void f_init_fn(void *ierr);
typedef void f_init_thread_fn(void *required, void *provided, void *ierr);
typedef void f_pcontrol_fn(void *level, void *more);

static void f_init(const char *name, const char *profiling, void *ierr)
{
	f_init_fn *f = (f_init_fn *)real_find(name, profiling);
	int none = 0;

	if (!f) {
		f_missing(ierr);
		return;
	}
	/* without ierror, our own variable shows the result: set-up follows a success only */
	f(ierr ? ierr : &none);
	if (f_result(ierr ? ierr : &none) == 0)
		setup_run(wrap_resolve_all);
}

static void f_init_thread(const char *name, const char *profiling, void *required, void *provided,
			  void *ierr)
{
	f_init_thread_fn *f = (f_init_thread_fn *)real_find(name, profiling);
	int none = 0;

	if (!f) {
		f_missing(ierr);
		return;
	}
	f(required, provided, ierr ? ierr : &none);
	if (f_result(ierr ? ierr : &none) == 0)
		setup_run(wrap_resolve_all);
}

static void f_pcontrol(const char *name, const char *profiling, void *level, void *more)
{
	f_pcontrol_fn *f = (f_pcontrol_fn *)real_find(name, profiling);

	pcontrol((int)f_int(level));
	if (f)
		f(level, more);
}

/* Defines the four spellings of Fortran compilers. */
#define F_ALIAS(lower, upper, sig)                                    \
	void lower sig;                                               \
	EXPORT void lower sig __attribute__((alias(#lower "_")));     \
	void lower##__ sig;                                           \
	EXPORT void lower##__ sig __attribute__((alias(#lower "_"))); \
	void upper sig;                                               \
	EXPORT void upper sig __attribute__((alias(#lower "_")))

void mpi_init_(void *ierr);
EXPORT void mpi_init_(void *ierr)
{
	f_init("mpi_init_", "pmpi_init_", ierr);
}
F_ALIAS(mpi_init, MPI_INIT, (void *ierr));

void mpi_init_f08_(void *ierr);
EXPORT void mpi_init_f08_(void *ierr)
{
	f_init("mpi_init_f08_", "pmpi_init_f08_", ierr);
}

void mpi_init_thread_(void *required, void *provided, void *ierr);
EXPORT void mpi_init_thread_(void *required, void *provided, void *ierr)
{
	f_init_thread("mpi_init_thread_", "pmpi_init_thread_", required, provided, ierr);
}
F_ALIAS(mpi_init_thread, MPI_INIT_THREAD, (void *required, void *provided, void *ierr));

void mpi_init_thread_f08_(void *required, void *provided, void *ierr);
EXPORT void mpi_init_thread_f08_(void *required, void *provided, void *ierr)
{
	f_init_thread("mpi_init_thread_f08_", "pmpi_init_thread_f08_", required, provided, ierr);
}

void mpi_pcontrol_(void *level, void *more);
EXPORT void mpi_pcontrol_(void *level, void *more)
{
	f_pcontrol("mpi_pcontrol_", "pmpi_pcontrol_", level, more);
}
F_ALIAS(mpi_pcontrol, MPI_PCONTROL, (void *level, void *more));

void mpi_pcontrol_f08_(void *level, void *more);
EXPORT void mpi_pcontrol_f08_(void *level, void *more)
{
	f_pcontrol("mpi_pcontrol_f08_", "pmpi_pcontrol_f08_", level, more);
}
