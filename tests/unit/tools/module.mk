# SPDX-License-Identifier: Apache-2.0
# A mainsm that is lost and back between two samples.
$(B)/tests/unit/tools/test_top_gap: WRAP += $(foreach f,session_open session_close session_link session_bridge \
	omis_handler top_sample_take top_sample_stop top_show_json,-Wl,--wrap=$f)
# A mainsm that is back and refuses yet.
$(B)/tests/unit/tools/test_following_gap: WRAP += $(foreach f,session_attach session_ask_value session_ask \
	omis_request_n omis_reply_free,-Wl,--wrap=$f)
# Hosts that tell the same of their pieces, in one entry.
$(B)/tests/unit/tools/test_explain: WRAP += $(foreach f,session_open session_close session_attach_all \
	session_ask_value omis_request omis_reply_free,-Wl,--wrap=$f)
