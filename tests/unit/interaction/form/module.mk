# SPDX-License-Identifier: Apache-2.0
interaction/form.test_src := ../made.c
