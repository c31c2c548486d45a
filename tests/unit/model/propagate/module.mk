# SPDX-License-Identifier: Apache-2.0
model/propagate.test_uses := stats/draw
