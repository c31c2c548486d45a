#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Foreign programs, as the distribution ships them, watched unmodified. Output and exit status are
# unchanged. Calls and bytes of each rank and function are those of an independent count
# (foreign/tally.c) in the same run. If the number of calls is not random, the counts are also those
# of another run. With Open MPI, messages and bytes are those of the library's own count.
# timeout: 300
. tests/system/lib.sh
F=$B/tests/system/foreign
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 \
	OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_orte_tmpdir_base="$TMPDIR" UCX_LOG_LEVEL=fatal UCX_HANDLE_ERRORS=none \
	OPENBLAS_NUM_THREADS=1
flavours=
for f in openmpi mpich; do
	[ -e "$F/libtally.$f.so" ] && command -v "mpirun.$f" >/dev/null && flavours="$flavours $f"
done
[ -n "$flavours" ] || skip_all 'no MPI is here, or foreign/tally.c is not built: make faults-tools'
ompi_info --parsable 2>/dev/null | grep -q '^mca:pml:monitoring:' && has_own_count=yes ||
	has_own_count=
echo 'LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$TALLY_LIBRARY exec "$@"' >"$TMPDIR/beside"

# --- runs: each in a folder of its own, which begins as a copy of $TMPDIR/in

run_in() { # FOLDER COMMAND...
	folder=$TMPDIR/$1
	shift
	rm -rf "$folder"
	cp -r "$TMPDIR/in" "$folder"
	(cd "$folder" && timeout $((60 * PATIENCE)) "$@" <stdin >out 2>err)
	echo $? >"$folder/status"
}
# The ranks of a job that have ended: "TOKEN RANK"
ended() {
	omig tree --json | grep -o '{"token":"p_[^}]*"job":"'"$1"'"' |
		sed -n 's/.*"token":"\([^"]*\)","state":"ended".*"rank":\([0-9]*\),.*/\1 \2/p'
}
all_ended() {
	[ "$(ended "$1" | wc -l)" = "$2" ]
}
# FOLDER: Omig's counts of the run: "call RANK NAME count N out B in B", optionally followed by " ns
# N"
see() {
	row='^"\(MPI_[A-Za-z_]*\)","[a-z_]*",\([0-9]*\),\([0-9]*\),[0-9]*,\([0-9]*\),\([0-9]*\)'
	until_true 10 all_ended "$1.$case_n" "$np"
	ended "$1.$case_n" | while read -r token rank; do
		omig request --json ":omig_calls_read([$token])" | sed 's/\[/\n/g' |
			sed -n "s/$row.*/call $rank \\1 count \\2 out \\4 in \\5 ns \\3/p"
	done | sort >"$TMPDIR/$1/timed"
	sed 's/ ns .*//' "$TMPDIR/$1/timed" >"$TMPDIR/$1/seen"
}
# Runs with the tally only, with Omig only, and with both and Open MPI's own count.
three_runs() {
	rm -rf "$TMPDIR/without" "$TMPDIR/watched" "$TMPDIR/both"
	own=
	[ "$f$has_own_count" = openmpiyes ] &&
		own='--mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 --mca pml_monitoring_filename own'
	export TALLY=tally TALLY_LIBRARY="$F/libtally.$f.so"
	run_in without "mpirun.$f" -n "$np" sh "$TMPDIR/beside" "$@"
	run_in watched omig run --job "watched.$case_n" --measure=volume -- "mpirun.$f" -n "$np" \
		"$@"
	# shellcheck disable=SC2086 # words
	run_in both omig run --job "both.$case_n" --measure=volume -- "mpirun.$f" -n "$np" $own sh \
		"$TMPDIR/beside" "$@"
	see watched
	see both
	for run in without both; do
		cat "$TMPDIR/$run"/tally.* 2>/dev/null | sort >"$TMPDIR/$run/tallied"
	done
}

# --- values that must be equal

same_status() {
	cat "$TMPDIR/watched/err"
	for run in without watched both; do
		echo "$run: status $(cat "$TMPDIR/$run/status")"
	done | tee "$TMPDIR/ends"
	[ "$(grep -c 'status 0$' "$TMPDIR/ends")" = 3 ] &&
		no_word_of_ours "$TMPDIR/watched/err"
}
# $says prints the output that does not depend on time, sorted, because ranks print in random order.
same_output() {
	for run in without watched both; do
		(cd "$TMPDIR/$run" && $says | sort >said)
	done
	[ -s "$TMPDIR/without/said" ] && diff "$TMPDIR/without/said" "$TMPDIR/watched/said" &&
		diff "$TMPDIR/without/said" "$TMPDIR/both/said"
}
here='Init|Init_thread|Initialized|Finalized|Get_(address|count|processor_name|library_version)|Pack_size|Add_error_.*|Comm_(rank|size|group|test_inter|set_errhandler)'
here="$here|Comm_.*(attr|keyval)|Group_.*|Type_.*|Op_.*|Cart_(get|rank|shift)|Error_class|Test_cancelled"
# SEEN TALLIED: compares each watched call; unwatched calls neither communicate nor wait
same_counts() {
	awk '{ print $3 }' "$1" | sort -u >"$TMPDIR/names"
	if grep -vwFf "$TMPDIR/names" "$2" | grep -vE " MPI_($here) "; then
		echo 'is not watched'
		return 1
	fi
	[ -s "$1" ] && grep -wFf "$TMPDIR/names" "$2" | diff - "$1"
}
# The number of polls of a program is random.
same_counts_elsewhere() {
	for list in watched/seen without/tallied; do
		grep -Ev ' MPI_(Test|Testany|Testall|Testsome|Iprobe|Improbe) ' "$TMPDIR/$list" \
			>"$TMPDIR/$list.sure"
	done
	same_counts "$TMPDIR/watched/seen.sure" "$TMPDIR/without/tallied.sure"
}
# Its lines "E FROM TO BYTES bytes N msgs sent ..." are of messages that the program sent.
same_as_the_library() {
	cat "$TMPDIR"/both/own.*.prof | awk '$1 == "E" { n[$2] += $6; bytes[$2] += $4 }
		END { for (r in n) if (n[r]) print r, n[r], bytes[r] }' | sort >"$TMPDIR/both/own"
	awk '$3 ~ /^MPI_((I|B|S|R|Ib|Is|Ir|S)?[sS]end|Sendrecv|Sendrecv_replace)$/ { n[$2] += $5;
		bytes[$2] += $7 }
		END { for (r in n) print r, n[r], bytes[r] }' "$TMPDIR/both/seen" | sort |
			diff "$TMPDIR/both/own" -
}

# --- a case

# From here on $TMPDIR/in has the input files of a program.
begin() {
	rm -rf "$TMPDIR/in"
	mkdir "$TMPDIR/in"
	: >"$TMPDIR/in/stdin"
}
case_n=0 source=/usr/share/doc/mpich/examples
# NAME SAYS HOW PROGRAM...: on flavour $f with $np ranks. HOW: `steady`, or `chance` if the counts
# of runs differ.
foreign() {
	name="$1, $f, $np ranks" says=$2 how=$3
	shift 3
	case_n=$((case_n + 1))
	three_runs "$@"
	echo "# $name: $(awk '{ n += $5; out += $7; if (!($3 in f)) { f[$3] = 1; nf++ } } END {
		print n + 0 " calls of " nf + 0 " functions, " out + 0 " bytes out" }' \
			"$TMPDIR/both/seen")"
	check "$name: it ends as without Omig" same_status
	check "$name: its output is its own" same_output
	check "$name: calls and bytes are those of an independent count" same_counts \
		"$TMPDIR/both/seen" "$TMPDIR/both/tallied"
	[ "$how" = chance ] ||
		check "$name: and those of a run without Omig" same_counts_elsewhere
	[ -z "$own" ] ||
		check "$name: messages and bytes are those that the library counts" \
			same_as_the_library
}
# NAME PACKAGE PROGRAM
has() {
	command -v "$3" >/dev/null 2>&1 || { skip "$1" "the package $2 is not installed"; return \
		1; }
}

all_says() { cat out err; }
out_says() { cat out; }
netpipe_says() { sed -n 's/ -->.*//p' out err; } # the table, which one rank prints
lu_says() { sed -E 's/[0-9]+\.[0-9]+//g; s/ +/ /g' out; }
# The last digits of the solution depend on the order of arrival.
mumps_says() { awk '/[Tt]ime/ { next } /Solution is/ {
	for (i = 3; i <= NF; i++) $i = sprintf("%.9f", $i) } 1' out; }
# Without ExeUpdates: on a busy machine its limit of time ends RandomAccess.
hpcc_says() { grep \
	-E '^(Success|CommWorldProcs|HPL_N|PTRANS_residual|.*RandomAccess.*_(N|Errors)|FFT_N|MPIFFT_N)=' \
	hpccoutf.txt; }
ring_says() { sed 's/= [0-9.e-]* seconds/seconds/' out; }
melt_says() { sed -n '/^Step/,/^Loop/p' out | grep -v ^Loop; }
pw_says() { grep -vE 'CPU|cpu|WALL| at +[0-9]+: *[0-9]+|Parallel|terminated' out; }

# HPL of order 100 on two ranks; each of the other tests once
hpcc_input() {
	sed -e '5s/.*/1/;6s/.*/100/;7s/.*/1/;8s/.*/32/;10s/.*/1/;11s/.*/1/;12s/.*/2/' \
		/usr/share/doc/hpcc/examples/_hpccinf.txt
}
# Its samples with process grids for two ranks, and without the test of blacs_abort
blacs_input() {
	for file in bt bsbr comb sdrv; do
		sed -e "s/^'T' *Run AUX/'F' Run AUX/" -e \
			's/^[0-9]* *Number of grids/2 Number of grids/' \
			-e 's/^.* NPROW$/2 1 NPROW/; s/^.* NPCOL$/1 2 NPCOL/' \
			-e 's/^[0-9]* *Number of \(src.*\|dests\)$/1 Number of \1/; s/^.* \([RC]SRC\|[RC]DEST\)$/0 \1/' \
			/usr/share/scalapack/BLACS/$file.dat >"$TMPDIR/in/$file.dat"
	done
}
# The equations of a grid of 20 x 20 points
mumps_input() {
	awk 'BEGIN {
		n = 20
		for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
			k = i * n + j + 1
			a[++nz] = k " " k " 4.0"
			if (i) a[++nz] = k " " k - n " -1.0"
			if (i < n - 1) a[++nz] = k " " k + n " -1.0"
			if (j) a[++nz] = k " " k - 1 " -1.0"
			if (j < n - 1) a[++nz] = k " " k + 1 " -1.0"
		}
		print n * n; print nz
		for (i = 1; i <= nz; i++) print a[i]
		for (i = 1; i <= n * n; i++) print "1.0"
	}'
}
melt_input() {
	cat <<'IN'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
dump 1 all atom/mpiio 50 dump.mpiio
thermo 50
run 100
IN
}
silicon_input() {
	cat <<'IN'
&control calculation='scf', prefix='si', pseudo_dir='/usr/share/espresso/pseudo', outdir='.' /
&system ibrav=2, celldm(1)=10.2, nat=2, ntyp=1, ecutwfc=12.0 /
&electrons /
ATOMIC_SPECIES
Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
Si 0.00 0.00 0.00
Si 0.25 0.25 0.25
K_POINTS automatic
2 2 2 1 1 1
IN
}

conjugate_gradients() {
	cat <<'IN'
import sys, petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc
n = 40
da = PETSc.DMDA().create([n, n], stencil_width=1)
A = da.createMatrix()
(xs, xe), (ys, ye) = da.getRanges()
row, col = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
for j in range(ys, ye):
    for i in range(xs, xe):
        row.index = (i, j)
        A.setValueStencil(row, row, 4.0)
        for d in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            other = (i + d[0], j + d[1])
            if 0 <= other[0] < n and 0 <= other[1] < n:
                col.index = other
                A.setValueStencil(row, col, -1.0)
A.assemble()
b = da.createGlobalVec()
b.set(1.0)
x = b.duplicate()
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setType('cg')
ksp.getPC().setType('jacobi')
ksp.solve(b, x)
PETSc.Sys.Print('iterations', ksp.getIterationNumber(), 'norm %.6f' % x.norm())
IN
}

# --- C, with both
for f in $flavours; do
	np=2 short=$f any=-z
	[ "$f" = mpich ] && short=mpich2 any= # its -z fails by itself
	if has "NetPIPE, $f" "netpipe-$short" "NP$short"; then
		begin
		foreign NetPIPE netpipe_says steady "NP$short" -n 10 -u 65536 -o times
		begin
		foreign "NetPIPE -a${any:+ $any}" netpipe_says steady "NP$short" -a $any -n 10 -u \
			8192 -o times
	fi
done
# --- Fortran, with both
for f in $flavours; do
	np=2
	tests=$(echo /usr/lib/*/scalapack/"$f"-tests)
	if has "ScaLAPACK, $f" scalapack-mpi-test "$tests/xFbtest"; then
		begin
		blacs_input
		foreign 'tests of the BLACS' out_says steady "$tests/xFbtest"
		begin
		cp /usr/share/scalapack/LU.dat "$TMPDIR/in"
		foreign 'LU factorization of ScaLAPACK' lu_says steady "$tests/xdlu"
	fi
	if ! command -v "mpif90.$f" >/dev/null; then
		skip "pi in Fortran, $f" 'no Fortran compiler of this MPI'
	elif [ ! -e $source/f90/pi3f90.f90 ]; then
		skip "pi in Fortran, $f" 'the package mpich-doc is not installed'
	else
		for program in f77/fpi.f f90/pi3f90.f90; do
			begin
			"mpif90.$f" -w -o "$TMPDIR/in/pi" $source/$program
			printf '%10d\n' 100 1000 10000 0 >"$TMPDIR/in/stdin"
			foreign "pi, ${program#*/}" all_says steady ./pi
		done
	fi
done
# --- with Open MPI only
case $flavours in *openmpi*) f=openmpi ;; *) tap_end; exit 0 ;; esac
np=2
if [ -e $source/ircpi.c ]; then
	begin
	mpicc.openmpi -w -o "$TMPDIR/in/pi" $source/ircpi.c -lm
	printf '%d\n' 100 1000 0 >"$TMPDIR/in/stdin"
	foreign 'pi by one-sided calls' all_says steady ./pi # with MPICH 4.0.2 it hangs by itself
else
	skip 'pi by one-sided calls' 'the package mpich-doc is not installed'
fi
if has 'HPC Challenge' hpcc hpcc; then
	begin
	hpcc_input >"$TMPDIR/in/hpccinf.txt"
	foreign 'HPC Challenge' hpcc_says chance hpcc
fi
if /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then
	begin
	foreign 'ring test of mpi4py' ring_says steady /usr/bin/python3 -m mpi4py.bench ringtest \
		-n 1000 -l 50
else
	skip 'ring test of mpi4py' 'the package python3-mpi4py is not installed'
fi
if has 'MUMPS' mumps-test /usr/lib/mumps/dsimpletest; then
	np=4
	begin
	mumps_input >"$TMPDIR/in/stdin"
	foreign 'MUMPS (Fortran)' mumps_says chance /usr/lib/mumps/dsimpletest
fi
np=2
# --- too large to be installed for this test alone
if has 'LAMMPS' lammps lmp; then
	begin
	melt_input >"$TMPDIR/in/in.melt"
	foreign LAMMPS melt_says steady lmp -in in.melt -log none
	awk '$1 == "Comm" { own = $3 " to " $7 }
		$3 ~ /^MPI_(Send|Irecv|Wait|Sendrecv)$/ { s[$2] += $NF / 1e9 }
		END {
			printf "# its own account: Comm %s s in a rank; its sends, receives ", own
			printf "and waits as seen: %.4f and %.4f s\n", s[0], s[1] }' \
		"$TMPDIR/watched/out" "$TMPDIR/watched/timed"
fi
if command -v pw.x >/dev/null && [ -e /usr/share/espresso/pseudo/Si.pz-vbc.UPF ]; then
	begin
	silicon_input >"$TMPDIR/in/si.in"
	foreign 'Quantum ESPRESSO (Fortran)' pw_says steady pw.x -in si.in
else
	skip 'Quantum ESPRESSO' \
		'the packages quantum-espresso and quantum-espresso-data are not installed'
fi
petsc=$(echo /usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages)
if [ -e "$petsc" ]; then
	np=4
	begin
	conjugate_gradients >"$TMPDIR/in/cg.py"
	export PYTHONPATH="$petsc"
	for way in basic window; do # persistent requests; one-sided
		foreign "PETSc, $way" all_says steady /usr/bin/python3 cg.py -sf_type $way
	done
else
	skip PETSc 'the package python3-petsc4py is not installed'
fi
tap_end
