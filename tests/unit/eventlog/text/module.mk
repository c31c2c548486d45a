# SPDX-License-Identifier: Apache-2.0
eventlog/text.test_src := ../made.c
