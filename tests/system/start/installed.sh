#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An installation works in any folders, also after it was moved: programs are watched, clients find
# their library.
# timeout: 120
. tests/system/lib.sh
unset MAKEFLAGS MFLAGS
build=${B#"$PWD/"} # make takes no path with blanks
build=${build%/*}

# installed NAME VARIABLE=VALUE...: into PREFIX=/usr of a folder of its own, which then moves to
# $TMPDIR/NAME
installed() {
	at=$TMPDIR/$1
	shift
	make BUILD="$build" CC="${CC:-gcc}" DESTDIR="$TMPDIR/dest" PREFIX=/usr "$@" install \
		>"$TMPDIR/make.out" 2>&1 || {
		tail "$TMPDIR/make.out"
		return 1
	}
	mv "$TMPDIR/dest/usr" "$at"
}
preload_of() { # FOLDER: the LD_PRELOAD that its omig sets names a file in FOLDER
	lib=$("$1/bin/omig" run -- sh -c "echo \$LD_PRELOAD" 2>"$TMPDIR/err")
	cat "$TMPDIR/err"
	echo "preload: $lib"
	[ -n "$lib" ] && [ ! -s "$TMPDIR/err" ] && case $(realpath "$lib") in \
		"$(realpath "$1")"/*) ;; *) false ;; esac
}
client_of() { # FOLDER: its client for Python finds its libomis
	PYTHONPATH=$1/share/omig/python PYTHONDONTWRITEBYTECODE=1 python3 -c 'import omig, os
lib = omig._library._find()._name
print(lib)
top = os.path.realpath(os.environ["PYTHONPATH"] + "/../../../")
assert os.path.realpath(lib).startswith(top), lib'
}

check 'it installs with another libdir' installed lib64 libdir=/usr/lib64
PATH=$TMPDIR/lib64/bin:$PATH # from here on the daemons are those of this installation
f=
for f in openmpi mpich; do [ -x "$(heat $f)" ] && command -v mpirun.$f >/dev/null && break; done
is_watched() {
	"$TMPDIR/lib64/bin/omig" run -- "mpirun.$f" -n 2 "$(heat $f)" $as_long_as_needed \
		>"$TMPDIR/out" 2>"$TMPDIR/err" &
	job=$!
	until_true 20 ranks_are 2
	rc=$?
	enough $job || rc=1
	rm "$TMPDIR/enough"
	cat "$TMPDIR/err"
	return $rc
}
if [ -x "$(heat $f)" ]; then check 'a program is watched by it' is_watched; else skip \
	'a program is watched by it' 'no MPI'; fi
check 'the preload of it is found' preload_of "$TMPDIR/lib64"
check 'the library of its Python client is found' client_of "$TMPDIR/lib64"
check 'it installs into folders of an architecture' installed multi \
	libdir=/usr/lib/x86_64-linux-gnu libexecdir=/usr/lib/omig-programs BIN_LINKS=
check 'without links only omig is in bin/' [ "$(ls "$TMPDIR/multi/bin")" = omig ]
check 'it runs the daemons' says '^Usage: sm ' "$TMPDIR/multi/bin/omig" sm --help
check 'the preload is found there' preload_of "$TMPDIR/multi"
check 'the library of the Python client is found there' client_of "$TMPDIR/multi"
check 'its own programs are found there' status_is 0 "$TMPDIR/multi/bin/omig" sim detector --help
# An ordinary user can read the command line of a daemon, but not the link to its file.
program_of() { # PID
	realpath "$(tr '\0' '\n' <"/proc/$1/cmdline" | head -n 1)" 2>/dev/null
}
# An installation of the library alone, in lib/ARCHITECTURE/, finds its own lm.
finds_its_lm() {
	omig stop
	until_true 10 no_leftovers || return 1
	omig env --job=alone >"$TMPDIR/env" || return 1
	(
		. "$TMPDIR/env"
		unset OMIG_LM
		LD_PRELOAD=$TMPDIR/multi/lib/x86_64-linux-gnu/libomig.so exec "mpirun.$f" -n 2 \
			"$(heat $f)" $as_long_as_needed
	) >"$TMPDIR/out" 2>"$TMPDIR/err" &
	job=$!
	until_true 20 ranks_are 2
	rc=$?
	for lm in $(leftovers); do program_of "$lm"; done |
		grep -x "$(realpath "$TMPDIR/multi/lib/omig-programs/omig/lm")" || rc=1
	enough $job
	rm "$TMPDIR/enough"
	return $rc
}
if [ -x "$(heat $f)" ]; then check 'libomig finds its lm from there' finds_its_lm; else skip \
	'libomig finds its lm' 'no MPI'; fi
ln -s multi "$TMPDIR/linked"
check 'by a symbolic link too' preload_of "$TMPDIR/linked"
taken_away() {
	mkdir -p "$TMPDIR/dest" && mv "$TMPDIR/multi" "$TMPDIR/dest/usr" &&
		make BUILD="$build" CC="${CC:-gcc}" DESTDIR="$TMPDIR/dest" PREFIX=/usr \
			libdir=/usr/lib/x86_64-linux-gnu \
			libexecdir=/usr/lib/omig-programs BIN_LINKS= uninstall &&
				! find "$TMPDIR/dest" -type f -o -type l | grep .
}
check 'uninstall leaves no file and no link' taken_away
# --- an install of one user, in $HOME or the like: documents, headers, libraries
omig stop >/dev/null 2>&1
until_true 10 no_leftovers
own=$TMPDIR/own
check 'it installs for one user, and says how to begin' says "export PATH=\"$own/bin:" make \
	BUILD="$build" CC="${CC:-gcc}" PREFIX="$own" install
PATH=$own/bin:$PATH
export PKG_CONFIG_PATH="$own/lib/pkgconfig"
unset LD_LIBRARY_PATH CPATH
documents_are_there() {
	for f in README.md LICENSE docs/*.md docs/measured/* examples/metrics/* \
		examples/neko/*.conf examples/neko/ring/ring.c examples/prometheus/* \
		examples/python/* examples/fileserver.c examples/loops.probes; do
		cmp "$f" "$own/share/doc/omig/$f" || return 1
	done
	[ -f "$own/share/doc/omig/examples/sm.conf" ]
}
check 'documents and examples come with it' documents_are_there
each_page() { # the page of a command exists, and its --help names the page
	for command in $("$own/bin/omig" --omig-commands | cut -f1); do
		page=$own/share/man/man1/omig-$command.1
		grep -q "omig.*-$command .* " "$page" && grep -q '^.SH SYNOPSIS' "$page" &&
			grep -q '^.SH DESCRIPTION' "$page" &&
			{ [ "$command" = version ] || "$own/bin/omig" help "$command" |
				grep -q "man omig-$command"; } || { echo "$page"; return 1; }
	done
	! grep -q 'OMIG [A-Z]' "$own/share/man/man1/omig.1"
}
check 'each command has a manual page' each_page
pages_are_sound() { # scdoc has an empty paragraph before each section
	for page in "$own"/share/man/man*/*; do
		mandoc -T lint -W warning "$page" | grep -v 'skipping paragraph macro'
	done >"$TMPDIR/lint"
	cat "$TMPDIR/lint"
	[ -f "$page" ] && [ ! -s "$TMPDIR/lint" ]
}
if command -v mandoc >/dev/null; then check 'no page has a warning of mandoc' \
	pages_are_sound; else skip 'no page has a warning of mandoc' 'no mandoc'; fi
each_program_and_header() { # of libraries to link with, and what an installation has in bin/
	for p in "$own"/bin/*; do
		for page in "$own"/share/man/man[18]/"${p##*/}".[18]; do
			[ -f "$page" ] || { echo "$p" && return 1; }
		done
	done
	for h in app event interaction omis; do
		[ -f "$own/include/omig/$h.h" ] && cat "$own"/share/man/man3/* |
			grep -q "^#include <omig/$h[^a-z]*h>" || { echo "$h.h" && return 1; }
	done
}
check 'each program and each header of a library has a page' each_program_and_header
links_lead_somewhere() ( # without links into the source
	cd "$own/share/doc/omig" || return 1
	for f in README.md docs/*.md docs/measured/*.md; do
		grep -o '](\([^):#]*\)[)#]' "$f" | sed 's/^](//; s/[)#]$//' |
			grep -E '\.(md|svg)$|examples/' | while read -r to; do
			[ -z "$to" ] || [ -e "$(dirname "$f")/$to" ] || echo "$f: $to"
		done
	done >"$TMPDIR/dead"
	cat "$TMPDIR/dead"
	[ ! -s "$TMPDIR/dead" ]
)
check 'they lead to each other' links_lead_somewhere
# The lines of documents between two, without their indentation
lines_of() { # FILE FROM TO
	sed -n "\\:$2:,\\:$3:p" "$1" | sed '1d;$d'
}
own_tool() (
	page=$PWD/tools/libomis/libomis.3.scd
	mkdir "$TMPDIR/tool" && cd "$TMPDIR/tool" || return 1
	lines_of "$page" '^# EXAMPLE' '^# SEE ALSO' | grep -v '^```' | sed 's/\\\\/\\/g' >tool.c
	line=$(sed -n 's/^\*\(cc tool.c .*omis)\)\*$/\1/p' "$page")
	echo "$line"
	eval "$line" && omig env >/dev/null && ./a.out
)
check 'the tool of libomis(3) is built by its line, and runs' own_tool
own_algorithm() (
	cp -r "$own/share/doc/omig/examples/neko/ring" "$TMPDIR/ring" && cd "$TMPDIR/ring" ||
		return 1
	line=$(sed -n 's/^    \(cc -fPIC -shared .*ring.c\) .*/\1/p' \
		"$own/share/doc/omig/docs/neko.md")
	echo "$line"
	eval "$line" && omig neko run ring.conf --simulate && rm ring.so && make && [ -f ring.so ]
)
check 'the algorithm of neko.md too' says '^round \(s\)' own_algorithm
each_header() (
	cd "$TMPDIR" || return 1
	for h in app event neko omis; do
		p=omig-$h
		[ $h = omis ] && p=omis
		# shellcheck disable=SC2046 # flags
		echo "#include <omig/$h.h>" | ${CC:-gcc} -x c -fsyntax-only \
			$(pkg-config --cflags $p) - || return 1
		echo "#include <omig/$h.h>" | CPATH=$(sed -n 's/^prepend-path CPATH "\(.*\)"/\1/p' \
			"$own"/share/modulefiles/omig/*) \
			${CC:-gcc} -x c -fsyntax-only - || return 1
	done
	echo '#include <netlogger.h>' | ${CC:-gcc} -x c -fsyntax-only \
		$(pkg-config --cflags omig-netlogger) -
)
check 'each header is included in the same way, by pkg-config and by the module' each_header
no_rpath() {
	for p in omis omig-app omig-event omig-netlogger; do
		pkg-config --libs $p | grep -q -- "-Wl,-rpath,$own/lib" || return 1
	done
	! grep rpath "$TMPDIR/lib64/lib64/pkgconfig/"*
}
check "folders of the system need no word of where the library is" no_rpath

missing() {
	rm -f "$TMPDIR"/lib64/libexec/omig/libomig.so "$TMPDIR"/lib64/lib64/libomig.so
	says 'not watched: neither .*/libexec/omig/libomig.so nor .*/lib/libomig.so is there' \
		"$TMPDIR/lib64/bin/omig" run -- true
}
check 'a preload that is not there: one line says where it was sought' missing
tap_end
