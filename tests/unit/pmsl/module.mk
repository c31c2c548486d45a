# SPDX-License-Identifier: Apache-2.0
pmsl.test_src  := walk.c metrics.c
pmsl.test_uses := common/flow/engine common/flow/batch common/omis
