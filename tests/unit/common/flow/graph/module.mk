# SPDX-License-Identifier: Apache-2.0
common/flow/graph.test_src  := made.c values.c
common/flow/graph.test_uses := common/flow/batch
