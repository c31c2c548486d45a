#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 60
# The libraries that are loaded into other programs, in programs of another C library. These start
# and end as without them, and their streams have no byte of Omig.
command -v musl-gcc >/dev/null || { echo "no musl-gcc"; exit 77; }
failed=0
check() { # NAME COMMAND...
	check_name=$1
	shift
	if "$@" >"$TMPDIR/check.out" 2>&1; then echo "ok - $check_name"; else
		sed 's/^/# /' "$TMPDIR/check.out"
		echo "not ok - $check_name"
		failed=1
	fi
}

cd "$TMPDIR" || exit 2
cat >plain.c <<'END'
#include <stdio.h>
int main(void)
{
	puts("runs");
	return 7;
}
END
cat >threads.c <<'END'
#include <pthread.h>
#include <stdio.h>
static void *thread(void *arg)
{
	return arg;
}
int main(void)
{
	pthread_t t;
	void *out;

	if (pthread_create(&t, NULL, thread, "runs") || pthread_join(t, &out))
		return 1;
	puts(out);
	return 7;
}
END
cat >forks.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int status = 0;

	if (fork() == 0)
		execl("./plain", "./plain", (char *)NULL);
	wait(&status);
	return WEXITSTATUS(status);
}
END
cat >mpi.c <<'END'
#include <stdio.h>
int MPI_Init(int *argc, char ***argv);
int MPI_Barrier(void *comm);
int MPI_Finalize(void);
int main(int argc, char **argv)
{
	if (MPI_Init(&argc, &argv) || MPI_Barrier(0) || MPI_Finalize())
		return 1;
	puts("runs");
	return 7;
}
END
# An MPI of that C library: its exit status shows the calls that reached it.
cat >fake.c <<'END'
static int calls;
int PMPI_Init(int *argc, char ***argv) { calls = 1; return 0; }
int PMPI_Barrier(void *comm) { return calls++ != 1; }
int PMPI_Finalize(void) { return calls++ != 2; }
int MPI_Init(int *argc, char ***argv) { return PMPI_Init(argc, argv); }
int MPI_Barrier(void *comm) { return PMPI_Barrier(comm); }
int MPI_Finalize(void) { return PMPI_Finalize(); }
END
musl-gcc -shared -fPIC -o libfake.so fake.c || exit 2
for p in plain threads forks; do musl-gcc -o $p $p.c || exit 2; done
musl-gcc -o mpi mpi.c -L. -lfake || exit 2

mkdir -m 700 run
export OMIG_RUNTIME_DIR="$TMPDIR/run" OMIG_MAINSM=omig1:127.0.0.1:1:systemtt00000000 \
	OMIG_LM=/bin/false OMIG_START=volume
export OMIG_EVENT_LOG="$TMPDIR/log" LD_LIBRARY_PATH=.
as_without() { # LIBRARIES PROGRAM
	LD_PRELOAD=$1 "./$2" >out 2>err
	rc=$?
	echo "status $rc"
	cat out err
	[ $rc = 7 ] && [ "$(cat out)" = runs ] && [ ! -s err ]
}
L=$TMPDIR/lib # LD_PRELOAD takes no path with blanks
mkdir "$L" && cp "$B"/lib/libomig*.so "$L"
for p in plain threads forks mpi; do
	for lib in libomig libomig-event libomig-netlogger libomig-io; do
		check "musl: $p has $lib.so and runs" as_without "$L/$lib.so" $p
	done
	check "musl: $p has all of them and runs" as_without \
		"$L/libomig.so:$L/libomig-event.so:$L/libomig-netlogger.so:$L/libomig-io.so" $p
done
does_nothing() {
	[ -z "$(ls "$OMIG_RUNTIME_DIR")" ]
}
check 'musl: libomig makes nothing there' does_nothing
exit $failed
