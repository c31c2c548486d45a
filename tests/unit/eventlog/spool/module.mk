# SPDX-License-Identifier: Apache-2.0
eventlog/spool.test_src := simdisk.c flow.c
