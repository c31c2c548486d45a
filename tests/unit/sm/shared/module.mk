# SPDX-License-Identifier: Apache-2.0
sm/shared.test_objs = $(MEMDISK)
