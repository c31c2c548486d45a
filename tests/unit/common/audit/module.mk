# SPDX-License-Identifier: Apache-2.0
common/audit.test_uses := common/omis
