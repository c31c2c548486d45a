# SPDX-License-Identifier: Apache-2.0
interaction.test_src := made.c
