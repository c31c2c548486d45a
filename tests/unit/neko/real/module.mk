# SPDX-License-Identifier: Apache-2.0
neko/real.test_uses := neko/run
