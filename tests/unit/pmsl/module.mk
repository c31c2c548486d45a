# SPDX-License-Identifier: Apache-2.0
pmsl.test_src := walk.c metrics.c
