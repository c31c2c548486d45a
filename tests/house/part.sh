# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Sourced by the house tests that build a part of this tree.

# part_makefile DIR: our Makefile, with the rooms only that DIR has.
part_makefile() {
	awk -v dir="$1" '!/^include [^$]*\/module\.mk$/ || (getline line <(dir "/" $2)) >= 0' \
		Makefile >"$1/Makefile"
	cp VERSION "$1"
}
