# SPDX-License-Identifier: Apache-2.0
common/authority.test_objs = $(MEMDISK)
