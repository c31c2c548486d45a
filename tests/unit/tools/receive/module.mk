# SPDX-License-Identifier: Apache-2.0
# A spool without room, or one that fails.
$(B)/tests/unit/tools/receive/test_conns: WRAP += -Wl,--wrap=receiver_block
