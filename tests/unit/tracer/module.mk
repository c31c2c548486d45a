# SPDX-License-Identifier: Apache-2.0
tracer.test_needs = $(addprefix $(B)/tests/system/,entered entered-now entered-inside \
		entered-static entered-32) $(B)/lib/libomig.so
