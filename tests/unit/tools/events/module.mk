# SPDX-License-Identifier: Apache-2.0
# A mainsm that is back and refuses yet.
$(B)/tests/unit/tools/events/test_event_tail_gap: \
	WRAP += $(foreach f,session_attach session_ask_value session_ask \
	omis_request_n omis_reply_free,-Wl,--wrap=$f)
# A library of this process that is only memory.
$(B)/tests/unit/tools/events/test_monitor_out: WRAP += -Wl,--wrap=dlsym
