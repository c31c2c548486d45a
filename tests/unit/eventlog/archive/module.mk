# SPDX-License-Identifier: Apache-2.0
eventlog/archive.test_src := ../made.c stored.c each_database.c questions.c server.c
