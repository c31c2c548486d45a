# SPDX-License-Identifier: Apache-2.0
# A test has the whole daemon around what it tests.
mainsm/start.test_uses := mainsm
