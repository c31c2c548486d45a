# SPDX-License-Identifier: Apache-2.0
# common/axis: scales and ticks of pictures, on a page or in a terminal.
MODULES          += common/axis
common/axis.src  := axis.c
common/axis.uses := common/base
