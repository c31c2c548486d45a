# SPDX-License-Identifier: Apache-2.0
# sim/studies: runs: one cluster by seed, detectors compared, growth.
MODULES          += sim/studies
sim/studies.src  := detector.c detector_compare.c growth.c growth_run.c memory_limits.c run.c
sim/studies.uses := common/base common/time common/json common/loop common/net stats \
		common/link common/authority neko/core neko/algorithms neko/run lm/service lm \
		sm/hosts sm sim/world sim/disk sim/nodes sim/rogues sim/tools sim/judge sim/faults
