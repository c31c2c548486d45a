# SPDX-License-Identifier: Apache-2.0
common/omis/text.test_uses := common/omis
