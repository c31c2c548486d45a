# SPDX-License-Identifier: Apache-2.0
# tools/term: messages, options, tables, the terminal and files of a command.
MODULES         += tools/term
tools/term.src  := columns.c moment.c outfile.c ranges.c say.c signals.c table.c term.c wholefile.c
tools/term.uses := common/base common/json common/cli
# The terminal's former state, and what a signal handler may touch.
tools/term.statics := term.c:saved term.c:is_changed term.c:waiting say.c:hush \
		      signals.c:signals_last signals.c:signals_count signals.c:signals_resize
