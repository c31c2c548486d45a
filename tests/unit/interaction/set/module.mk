# SPDX-License-Identifier: Apache-2.0
interaction/set.test_src := ../made.c
