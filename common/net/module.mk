# SPDX-License-Identifier: Apache-2.0
# common/net: message channels over TLS and through memory; certificates. No other room has OpenSSL.
# circle: chan.c ctx.c: a channel counts in its context, which ends it
# circle: mem.c mem_net.c: one network in memory over two files
# circle: tls_chan.c tls_dial.c tls_listen.c tls_shake.c: one kind of channel over its files
MODULES         += common/net
common/net.src  := identity.c serials.c pki_cert.c pki_key.c pki_ca.c pki_creds.c chan.c admit.c \
		   ctx.c verify.c bio.c own.c sock.c sources.c resolve.c tls_words.c tls_ctx.c \
		   tls_chan.c tls_shake.c tls_dial.c \
		   tls_listen.c mem.c mem_net.c
common/net.uses := common/base common/container common/loop proto
common/net.pkgs := openssl
