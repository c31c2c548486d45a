# SPDX-License-Identifier: Apache-2.0
# common/audit: the audit log: a writer and a reader.
MODULES         += common/audit
common/audit.src  := audit.c audit_line.c audit_read.c
common/audit.uses := common/base common/store common/json common/omis/services common/omis/reply \
		common/route
