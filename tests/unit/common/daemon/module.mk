# SPDX-License-Identifier: Apache-2.0
common/daemon.test_src := testd.c
