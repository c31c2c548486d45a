# SPDX-License-Identifier: Apache-2.0
# For tests/system/t11*.sh: an lm that only holds segments, and both mpiruns.
# $B: the build folder, $TMPDIR: this test's own.
. tests/system/words.sh
T=$B/tests/libapp
PATIENCE=${PATIENCE:-4}
OMIG_RUNTIME_DIR=$TMPDIR/run
OMIG_MAINSM=omig1:127.0.0.1:1:systemtt00000000
OMIG_LM=/bin/false
export OMIG_RUNTIME_DIR OMIG_MAINSM OMIG_LM
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_base_warn_component_unused=0 OMP_NUM_THREADS=1
mkdir -p -m 700 "$OMIG_RUNTIME_DIR"
socket=$OMIG_RUNTIME_DIR/lm-$(uname -n)-systemtt.sock
failed=0
flavours=
for f in openmpi mpich; do
	if command -v mpirun.$f >/dev/null && test -x "$T/calls.$f"; then flavours="$flavours $f"; \
		fi
done
test -n "$flavours" || { echo "no MPI here"; exit 77; }

ok() { echo "ok - $1"; }
not_ok() { echo "not ok - $1"; failed=1; }
# NAME COMMAND...: one line of TAP
check() {
	check_name=$1
	shift
	if "$@" >"$TMPDIR/check.out" 2>&1; then ok "$check_name"; else
		sed 's/^/# /' "$TMPDIR/check.out" | head -n 40
		not_ok "$check_name"
	fi
}

# Registrations are held until `stop_lm OUT`, which writes the contents of all segments to OUT.
start_lm() {
	rm -f "$TMPDIR/lm.in" "$TMPDIR/lm.out"
	mkfifo "$TMPDIR/lm.in"
	"$T/segdump" --listen "$socket" <"$TMPDIR/lm.in" >"$TMPDIR/lm.out" 2>"$TMPDIR/lm.err" &
	lm=$!
	exec 9>"$TMPDIR/lm.in"
	until grep -q ready "$TMPDIR/lm.out" 2>/dev/null; do kill -0 $lm || return 1; done
}
stop_lm() {
	exec 9>&-
	wait $lm
	mv "$TMPDIR/lm.out" "$1"
	rm -f "$socket"
}

# FLAVOUR RANKS COMMAND...: without libapp / with it preloaded in the ranks only
bare() {
	mpi=$1 np=$2
	shift 2
	timeout -k 5 $((50 * PATIENCE)) mpirun.$mpi -np "$np" "$@"
}
watched() {
	mpi=$1 np=$2
	shift 2
	timeout -k 5 $((50 * PATIENCE)) mpirun.$mpi -np "$np" env \
		LD_PRELOAD="$B/lib/libomig.so${PRELOAD:+:$PRELOAD}" "$@"
}

# "call RANK NAME count N out B in B", sorted
calls_of() { sed -n 's/^\(call [0-9].* in [0-9]*\).*/\1/p' "$@" | sort; }
