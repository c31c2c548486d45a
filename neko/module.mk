# SPDX-License-Identifier: Apache-2.0
# neko: distributed algorithms in layers, simulated (and, with the same source, real). docs/neko.md has the words.
MODULES   += neko
neko.src  := coro.c events.c delay.c delaytrace.c msg.c layer.c world.c sim.c simflow.c simstack.c simnet.c simcut.c medium.c medium_csma.c medium_fddi.c simmedium.c setup.c run.c run_nets.c run_real.c merge.c run_delays.c crew_local.c real.c realnet.c realstream.c realtalk.c reallog.c quickclock.c realwire.c fd.c fd_deadline.c chen.c stat_fd.c statset.c measure.c apps.c stubborn.c broadcast.c broadcast_measure.c raft.c raft_measure.c
neko.headers := neko.h
neko.pc   := omig-neko.pc.in
neko.uses := common/base proto stats
neko.libs := -lm
