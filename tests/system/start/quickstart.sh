#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of quickstart and its scripts that install nothing.
n=0

# check NAME COMMAND...
check() {
	name=$1
	shift
	n=$((n + 1))
	if "$@" >"$TMPDIR/out" 2>&1; then echo "ok $n - $name"; else
		sed 's/^/# /' "$TMPDIR/out"
		echo "not ok $n - $name"
	fi
}

status_is() {
	want=$1
	shift
	"$@"
	[ $? = "$want" ]
}

says() {
	word=$1
	shift
	"$@" 2>&1 | grep -q -- "$word"
}

# A fake Debian: no package is installed, and no user may become root.
fake_debian() {
	mkdir -p "$TMPDIR/fake"
	printf '#!/bin/sh\nexit 1\n' >"$TMPDIR/fake/dpkg-query"
	printf '#!/bin/sh\nexit 1\n' >"$TMPDIR/fake/sudo"
	printf '#!/bin/sh\necho 1000\n' >"$TMPDIR/fake/id"
	printf '#!/bin/sh\necho "apt-get was called" >&2; exit 9\n' >"$TMPDIR/fake/apt-get"
	chmod +x "$TMPDIR"/fake/*
	# quickstart appends the system's folders, ours come first
	env PATH="$TMPDIR/fake:$PATH" ./quickstart build
}

quiet_when_refused() {
	out=$(fake_debian 2>/dev/null)
	[ "$(printf '%s\n' "$out" | wc -l)" = 1 ] && case $out in \
		'sudo apt-get install '*libevent-dev*) true ;; *) false ;; esac
}

# A Debian with all required packages, where optional packages cannot be installed.
half_a_debian() { # STATE: of graphviz and libevent-dev: "not-installed" or "installed"
	mkdir -p "$TMPDIR/half"
	printf '#!/bin/sh\ncase "$*" in *graphviz) ;; *libevent-dev) echo %s; exit ;; %s' \
		"$1" '*) echo installed ;; esac' >"$TMPDIR/half/dpkg-query"
	printf '#!/bin/sh\nexit 0\n' >"$TMPDIR/half/apt-cache"
	printf '#!/bin/sh\necho 0\n' >"$TMPDIR/half/id"
	printf '#!/bin/sh\necho "apt-get was called with $*" >&2; exit 9\n' >"$TMPDIR/half/apt-get"
	chmod +x "$TMPDIR"/half/*
	env PATH="$TMPDIR/half:$PATH" MAKE=true ./quickstart check
}

# Another system: no dpkg-query, and no compiler either.
elsewhere() {
	mkdir -p "$TMPDIR/empty" "$TMPDIR/packaging"
	cp packaging/deps.tsv "$TMPDIR/packaging"
	for tool in sh dirname sed id env getconf; do ln -sf "$(command -v $tool)" \
		"$TMPDIR/empty/$tool"; done
	sed -e 's,^PATH=.*,PATH=${TEST_PATH},' quickstart >"$TMPDIR/quickstart"
	chmod +x "$TMPDIR/quickstart"
	env -i TEST_PATH="$TMPDIR/empty" PATH="$TMPDIR/empty" "$TMPDIR/empty/sh" \
		"$TMPDIR/quickstart" build
}

says_what_is_needed() {
	out=$(elsewhere 2>&1)
	[ $? = 2 ] && case $out in *'GNU make'*libevent*OpenSSL*protobuf-c*) true ;; *) false ;; \
		esac
}

check 'help exits 0 and names all commands' says 'check    build' ./quickstart help
check 'no command is help' says 'usage: ./quickstart' ./quickstart
check 'an unknown command exits 2' status_is 2 ./quickstart frobnicate
check 'works from another folder and a pruned environment' \
	says demo env -i /bin/sh -c "cd / && '$PWD/quickstart' help"
check 'a user that may not install gets 2' status_is 2 fake_debian
check 'and gets one line to run' quiet_when_refused
check 'what tests can do without is optional' status_is 0 half_a_debian installed
check 'and is reported' says 'could not install:.*graphviz' half_a_debian installed
check 'what must be there does' status_is 2 half_a_debian not-installed
check 'other systems get a list of what is needed' says_what_is_needed
check 'with their names and reasons' says 'libevent with OpenSSL 2.1: .*(Fedora: libevent-devel)' \
	elsewhere
check 'without a version where any will do' says '^  pkg-config: finds' elsewhere
check '.ci/run calls the check command of the README' grep -q 'quickstart check' .ci/run
check 'the README has both commands' sh -c \
	'grep -q "quickstart demo" README.md && grep -q "quickstart check" README.md'
if command -v shellcheck >/dev/null 2>&1; then
	check 'scripts pass shellcheck' shellcheck -x quickstart .ci/run tests/testbed/bed \
		tests/testbed/bed-rsh \
		tools/man-fill tools/make-completion examples/demo.sh tests/system/lib.sh \
		tests/system/start/quickstart.sh tests/system/start/one-host.sh \
		tests/system/start/environment.sh tests/system/start/two-sites.sh \
		tests/system/requests/three-tools.sh
else
	n=$((n + 1))
	echo "ok $n - scripts pass shellcheck # SKIP no shellcheck here"
fi
echo "1..$n"
