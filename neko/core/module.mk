# SPDX-License-Identifier: Apache-2.0
# neko/core: processes, layers and messages of an algorithm, and its configuration.
MODULES        += neko/core
neko/core.src  := delay.c layer.c msg.c net.c setup.c world.c
neko/core.uses := common/base common/container common/cli stats/draw
neko/core.headers := neko.h
neko/core.pc      := omig-neko.pc.in
neko/core.libs    := -lm
