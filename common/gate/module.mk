# SPDX-License-Identifier: Apache-2.0
# common/gate: the memory through which libomig enters a program that runs unwatched.
MODULES          += common/gate
common/gate.src  := gate.c
common/gate.uses := common/base
