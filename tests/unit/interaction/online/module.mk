# SPDX-License-Identifier: Apache-2.0
interaction/online.test_src := ../made.c hosts.c

# On line = off line, for many more interactions than a unit test draws.
check-online: $(B)/tests/unit/interaction/online/test_online
	CK_DEFAULT_TIMEOUT=3600 OMIG_TEST_INTERACTIONS=$(or $(INTERACTIONS),100000) $<
.PHONY: check-online
