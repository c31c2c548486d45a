# SPDX-License-Identifier: Apache-2.0
# A test reads fields of vertices by their names.
eventlog/app.test_uses := eventlog/text
