# SPDX-License-Identifier: Apache-2.0
# why: search for the causes of lost time in an MPI program (docs/why.md). Pure: blocks of figures
# and their times are arguments.
MODULES  += why
why.src  := block.c cause.c chain.c change.c eprocess.c finding.c partners.c place.c search.c \
		sequence.c symptom.c tested.c track.c view.c
why.uses := common/base stats
why.libs := -lm
