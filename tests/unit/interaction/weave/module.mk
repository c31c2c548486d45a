# SPDX-License-Identifier: Apache-2.0
interaction/weave.test_uses := interaction/set
interaction/weave.test_src := woven.c
