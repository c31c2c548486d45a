# SPDX-License-Identifier: Apache-2.0
# neko: distributed algorithms in layers, simulated (and, with the same source, real). docs/neko.md has the words.
MODULES   += neko
neko.src  := coro.c events.c delay.c msg.c layer.c world.c sim.c simflow.c simnet.c simcut.c setup.c
neko.uses := common/base
neko.libs := -lm
