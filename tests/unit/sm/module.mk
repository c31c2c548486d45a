# SPDX-License-Identifier: Apache-2.0
sm.test_src := world.c world_top.c world_lm.c
sm.test_needs := $(B)/bin/mainsm
