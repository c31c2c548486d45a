#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The symbols of libomig.so: it exports every call of the table under every name that compilers use,
# and needs no symbol of MPI.
. tests/libapp/lib.sh

so=$B/lib/libomig.so
nm -D --defined-only "$so" | awk '{ print $3 }' | sort >"$TMPDIR/has"
awk '!/^#/ && NF { print $1 }' common/ring/calls.def >"$TMPDIR/calls"
names() {
	while read -r call; do
		lower=$(echo "mpi_$call" | tr '[:upper:]' '[:lower:]') \
			upper=$(echo "MPI_$call" | tr '[:lower:]' '[:upper:]')
		printf '%s\n' "MPI_$call" "${lower}_" "$lower" "${lower}__" "$upper" "${lower}_f08_"
		# Open MPI 4 has other names for persistent collectives.
		case $call in S[er]*nd_init|[BRSP]*send_init|*[Rr]ecv_init) ;; *_init)
			printf '%s\n' "MPIX_$call" "mpix${lower#mpi}_" "mpix${lower#mpi}" \
				"mpix${lower#mpi}__" "MPIX_${upper#MPI_}" "mpix${lower#mpi}_f08_" ;;
		esac
	done <"$TMPDIR/calls" | sort -u
}
no_undefined_mpi() { ! nm -D --undefined-only "$so" | grep -iE ' p?mpi_'; }
no_library() { ! readelf -d "$so" | grep NEEDED | grep -vE \
	'libc\.so|libdl|libpthread|ld-linux|libgcc'; }
all_names() {
	names >"$TMPDIR/want"
	missing=$(comm -23 "$TMPDIR/want" "$TMPDIR/has")
	test -z "$missing" || { echo "$missing"; return 1; }
}
# The f08 names with descriptors: those that a library has for calls of the table.
ts_names() {
	for lib in /usr/lib/*/libmpichfort.so.12; do
		test -e "$lib" || continue
		while read -r call; do
			echo "mpi_${call}_f08ts_" | tr '[:upper:]' '[:lower:]'
		done <"$TMPDIR/calls" | sort >"$TMPDIR/ours"
		nm -D --defined-only "$lib" | awk '{ print $3 }' | sort |
			comm -12 - "$TMPDIR/ours" >"$TMPDIR/theirs"
		missing=$(comm -23 "$TMPDIR/theirs" "$TMPDIR/has")
		test -z "$missing" || { echo "$missing"; return 1; }
	done
}
# Calls that a library has and the table has not: only those that neither communicate, wait, nor
# touch files.
left_out() {
	for lib in /usr/lib/*/libmpi.so.40 /usr/lib/*/libmpich.so.12; do
		test -e "$lib" || continue
		nm -D --defined-only "$lib" |
			awk \
			'$3 ~ /^MPI_(I?[Ss]end|I?[rR]ecv|.*wait|.*test|.*probe|I?(b|B)cast|.*[Gg]ather|.*[sS]catter|.*[rR]educe|.*[Aa]lltoall|.*[sS]can$|.*[Bb]arrier|Put|Get$|.*ccumulate|Win_(lock|unlock|flush|fence|post|start)|File_.*(read|write)|P(send|recv|ready|arrived)|.*_init$)/ { print $3 }'
	done | grep \
		-vE '_c$|Isendrecv|cancelled|Op_|Topo_test|_test_|Comm_test|Attr|attr|Type_|Session|MPIX|^MPI_T_|File_(get|set)_|Status' \
		| sort -u |
		sed 's/^MPI_//' | while read -r call; do grep -qx "$call" "$TMPDIR/calls" ||
			echo "$call"; done >"$TMPDIR/left"
	test ! -s "$TMPDIR/left" || { cat "$TMPDIR/left"; return 1; }
}
inits() { for c in Send Bsend Ssend Rsend Recv Psend Precv Allreduce Neighbor_alltoallw; do grep \
	-qx "${c}_init" "$TMPDIR/calls" || return 1; done; }
stays() { readelf -d "$so" | grep -q NODELETE; }
static_tls() { readelf -d "$so" | grep -q STATIC_TLS; }
page_of_its_own() { nm "$so" | grep -q ' [bB] hook_word' &&
	test $((0x$(nm "$so" | awk '$3 == "hook_word" { print $1 }') % 4096)) = 0; }

check "no symbol of MPI is left open" no_undefined_mpi
check "no library but libc is needed" no_library
check "every call under the names of C and Fortran" all_names
check "every call under the descriptor names of mpi_f08" ts_names
check "no communicating call of an installed MPI is left out" left_out
check "persistent calls are in the table" inits
check "it stays loaded" stays
check "thread-local storage is static" static_tls
check "the hook words have pages of their own" page_of_its_own
twin_names() {
	spare=$(nm --defined-only --extern-only "$B/lib/libomig.a" | awk \
		'NF == 3 && $2 != "w" { print $3 }' | grep -vE '^(MPIX?_|mpix?_|omig_app_)')
	test -z "$spare" || { echo "$spare"; return 1; }
}
check "the static twin has no name that a program may want" twin_names
exit $failed
