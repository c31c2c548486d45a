# SPDX-License-Identifier: Apache-2.0
# The reader of event logs reads what is announced.
libapp/vertex.test_uses := eventlog
