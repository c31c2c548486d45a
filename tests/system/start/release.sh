#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files of a release stand in for programs that a system does not have, and never for other input.
# The bill of materials names each library that is linked. `make distcheck` builds a whole release.
. tests/system/lib.sh
generate=$PWD/mk/generate sbom=$PWD/packaging/sbom source=$PWD
cd "$TMPDIR" || exit 1
echo 'page one' >in
make_page() { # PROGRAM
	"$generate" "$1" in saved 'sed s/page/PAGE/ <in >out' out
}
has() { # FILE TEXT
	[ "$(cat "$1")" = "$2" ]
}
fails_with() { # TEXT COMMAND...
	text=$1
	shift
	! "$@" 2>err && grep -q "$text" err
}
check 'a program that is there writes the file' make_page sed
check 'with its content' has out 'PAGE one'
mkdir dist
mv saved/out.* dist
rm out
check 'without the program, the file of the release is taken' make_page no-such-program
check 'with the same content' has out 'PAGE one'
echo 'page two' >in
check 'not for other input' fails_with \
	'no-such-program is not installed, and dist/out\..* is missing' make_page no-such-program
make_page sed && echo 'page three' >in && make_page sed
check 'a new input replaces the copy of an old one' sh -c '[ "$(ls saved | wc -l)" = 1 ]'

if ! command -v python3 >/dev/null 2>&1 || ! command -v readelf >/dev/null 2>&1; then
	skip 'the bill of materials' 'no python3 or readelf'
	tap_end
	exit
fi
bill() { # FILE
	(cd "$source" && SOURCE_DATE_EPOCH=1 "$sbom" 1.2.3 "$B") >"$1"
}
check 'the bill of materials is printed' bill one
bill two
check 'twice, it is the same' cmp one two
check 'it has the libraries of the daemons, with licences' python3 -c '
import json
b = json.load(open("one"))
p = {x["name"]: x for x in b["packages"]}
assert b["spdxVersion"] == "SPDX-2.3" and p["omig"]["versionInfo"] == "1.2.3"
assert b["creationInfo"]["created"] == "1970-01-01T00:00:01Z"
assert p["OpenSSL"]["licenseDeclared"] == "Apache-2.0" and "bin/lm" in p["OpenSSL"]["comment"]
assert len({x["SPDXID"] for x in b["packages"]}) == len(b["packages"]) > 8
linked = [r for r in b["relationships"] if r["relationshipType"] == "DYNAMIC_LINK"]
assert len(linked) >= 6, linked'
mkdir -p other/packaging
grep -v '^SQLite' "$source/packaging/deps.tsv" >other/packaging/deps.tsv
check 'a library that the list does not have is refused' fails_with 'needs libsqlite3.so' \
	sh -c 'cd other && "$0" 1.2.3 "$1"' "$sbom" "$B"
mkdir empty
check 'so is a folder without programs' fails_with 'has no programs' sh -c \
	'cd "$0" && "$1" 1.2.3 "$2"' "$source" "$sbom" "$TMPDIR/empty"
tap_end
