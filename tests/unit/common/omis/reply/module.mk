# SPDX-License-Identifier: Apache-2.0
common/omis/reply.test_uses := common/omis
