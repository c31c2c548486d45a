# SPDX-License-Identifier: Apache-2.0
pmsl/plan.test_uses := pmsl
