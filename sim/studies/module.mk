# SPDX-License-Identifier: Apache-2.0
# sim/studies: runs: one cluster by seed, detectors compared, growth.
MODULES          += sim/studies
sim/studies.src  := detector.c detector_compare.c growth.c growth_run.c memory_limits.c run.c \
		    why_study.c
sim/studies.uses := common/base common/cli common/time common/json common/loop common/net stats \
		common/link common/authority why why/simulated neko/core neko/algorithms neko/run \
		lm/service lm sm/hosts sm sim/world sim/disk sim/nodes sim/rogues sim/tools \
		sim/judge sim/faults
