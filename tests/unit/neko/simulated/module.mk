# SPDX-License-Identifier: Apache-2.0
neko/simulated.test_uses := neko/run
