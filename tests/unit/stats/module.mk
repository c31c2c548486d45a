# SPDX-License-Identifier: Apache-2.0
stats.test_src := strd.c
