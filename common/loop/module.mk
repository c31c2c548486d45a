# SPDX-License-Identifier: Apache-2.0
# common/loop: readiness, timers, signals, deferred calls; with a real clock or a virtual one.
# circle: fd.c loop.c part.c pollfd.c timer.c: one loop and what it polls
MODULES          += common/loop
common/loop.src  := loop.c timer.c fd.c signal.c pollfd.c part.c
common/loop.uses := common/base common/container
common/loop.pkgs := libevent_core
