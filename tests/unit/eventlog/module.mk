# SPDX-License-Identifier: Apache-2.0
eventlog.test_src := made.c
