# SPDX-License-Identifier: Apache-2.0
common/route.test_src := world.c
common/route.test_uses := common/omis
