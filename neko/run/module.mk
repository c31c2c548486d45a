# SPDX-License-Identifier: Apache-2.0
# neko/run: a run from its configuration, simulated or real, and its results.
MODULES       += neko/run
neko/run.src  := apps.c crew_local.c merge.c run.c run_delays.c run_nets.c run_real.c
neko/run.uses := common/base common/cli proto neko/core neko/stat neko/simulated neko/real \
		neko/algorithms
