# SPDX-License-Identifier: Apache-2.0
common/omis/services.test_uses := common/omis
