# SPDX-License-Identifier: Apache-2.0
# eventlog/inlet: bytes that a receiver gets from anywhere, made to blocks of events.
# circle: inlet.c inlet_text.c: one inlet over its files
MODULES              += eventlog/inlet
eventlog/inlet.src  := inlet.c inlet_text.c
eventlog/inlet.uses := common/base eventlog eventlog/text eventlog/send
