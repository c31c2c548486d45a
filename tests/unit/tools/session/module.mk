# SPDX-License-Identifier: Apache-2.0
tools/session.test_uses := common/omis/services
