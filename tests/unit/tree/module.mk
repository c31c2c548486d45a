# SPDX-License-Identifier: Apache-2.0
tree.test_src := ../common/flow/graph/made.c
