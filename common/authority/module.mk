# SPDX-License-Identifier: Apache-2.0
# common/authority: what makes a daemon the root of a monitor of its own: the certificate
# authority's files, tokens, issued certificates, enrolment of others.
MODULES              += common/authority
common/authority.src  := fields.c state.c tokens.c certs.c enrol_service.c
common/authority.uses := common/base common/loop proto common/net common/daemon
