# SPDX-License-Identifier: Apache-2.0
common/net.test_src := certs.c harness.c
