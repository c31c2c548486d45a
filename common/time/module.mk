# SPDX-License-Identifier: Apache-2.0
# common/time: the system's time: mainsm's clock as each daemon knows it, with a bound.
MODULES         += common/time
common/time.src  := timebase.c
common/time.uses := common/base
