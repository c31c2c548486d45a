# SPDX-License-Identifier: Apache-2.0
# A mainsm that is lost and back between two samples.
$(B)/tests/unit/tools/cmd/test_top_gap: \
	WRAP += $(foreach f,session_open_job session_close session_link session_bridge \
	omis_handler top_sample_take top_sample_stop top_show_json,-Wl,--wrap=$f)
# Hosts that report the same pieces in one entry.
$(B)/tests/unit/tools/cmd/test_explain: \
	WRAP += $(foreach f,session_open session_close session_attach_all \
	session_ask_value omis_request omis_reply_free,-Wl,--wrap=$f)
# A request that is read, and not sent.
$(B)/tests/unit/tools/cmd/test_slow_stdin: WRAP += -Wl,--wrap=session_open_job
