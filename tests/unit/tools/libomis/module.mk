# SPDX-License-Identifier: Apache-2.0
tools/libomis.test_src  := fake_mainsm.c
