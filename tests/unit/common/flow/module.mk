# SPDX-License-Identifier: Apache-2.0
common/flow.test_src := made.c world.c values.c
common/flow.test_uses := proto
