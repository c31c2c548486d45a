# SPDX-License-Identifier: Apache-2.0
common/ring.test_src := made.c
