# SPDX-License-Identifier: Apache-2.0
common/flow/engine.test_src  := ../graph/made.c ../graph/values.c world.c
common/flow/engine.test_uses := proto common/flow/batch
