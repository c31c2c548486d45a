# SPDX-License-Identifier: Apache-2.0
neko/algorithms.test_uses := neko/run
