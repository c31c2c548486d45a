# SPDX-License-Identifier: Apache-2.0
eventlog/sort.test_src := ../made.c
