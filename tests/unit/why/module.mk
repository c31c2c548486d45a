# SPDX-License-Identifier: Apache-2.0
why.test_uses := stats/draw why/simulated
