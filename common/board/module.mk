# SPDX-License-Identifier: Apache-2.0
# common/board: a file that all processes of a command share, and write their events into.
MODULES                += common/board
common/board.src       := board.c filters.c
common/board.uses      := common/base
# What runs inside of programs: no allocation, no lock, no system call.
common/board.hot       := board.o
common/board.hot_allow := common/board/hot.allow
