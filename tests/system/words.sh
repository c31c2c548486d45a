# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Checks of the output of programs, for system tests of all kinds.

# no_word_of_ours FILE...: programs wrote nothing of ours into them. Backtraces have paths, of this
# tree, of $TMPDIR and of $B.
no_word_of_ours() {
	! cat "$@" | without "$(pwd -P)/" | without "$TMPDIR/" | without "${B:-.}/" |
		grep -iE 'omig|mainsm'
}
# without TEXT: a filter
without() {
	text=$1 awk '{ while (i = index($0, ENVIRON["text"])) $0 = substr($0, 1, i - 1) substr($0,
		i + length(ENVIRON["text"])); print }'
}
