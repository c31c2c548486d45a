# SPDX-License-Identifier: Apache-2.0
# common/authority: the root of a monitor: its certificate authority, tokens, issued certificates
# and enrolment.
MODULES              += common/authority
common/authority.src  := state.c tokens.c certs.c enrol_service.c
common/authority.uses := common/base common/store common/loop proto common/net common/link \
		common/daemon
