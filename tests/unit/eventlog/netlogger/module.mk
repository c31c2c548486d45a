# SPDX-License-Identifier: Apache-2.0
eventlog/netlogger.test_src := old_api.c logged.c
