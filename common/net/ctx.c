/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static nsec_t real_wall(void *arg)
{
	return clock_wall();
}

static void on_check(void *arg)
{
	struct net_ctx *ctx = arg;

	loop_timer_arm(ctx->check_timer, ctx->check_period);
	net_ctx_check(ctx);
}

static void destroy(struct net_ctx *ctx)
{
	loop_timer_free(ctx->check_timer);
	serial_set_free(ctx->revoked);
	if (ctx->ops->done)
		ctx->ops->done(ctx);
	free(ctx);
}

int ctx_new(struct loop *l, const struct net_ctx_ops *ops, const struct net_conf *conf,
	    struct net_ctx **out, struct err *e)
{
	struct net_ctx *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return err_nomem(e);
	ctx->ops = ops;
	ctx->loop = l;
	ctx->wall_now = conf->wall_now ? conf->wall_now : real_wall;
	ctx->wall_arg = conf->wall_arg;
	ctx->check_period = conf->check_period > 0 ? conf->check_period : REVOKE_CHECK_NS;
	list_init(&ctx->chans);
	list_init(&ctx->at);
	list_init(&ctx->listeners);
	ctx->revoked = serial_set_new();
	ctx->check_timer = loop_timer_new(l, on_check, ctx);
	if (!ctx->revoked || !ctx->check_timer) {
		destroy(ctx);
		return err_nomem(e);
	}
	loop_timer_arm(ctx->check_timer, ctx->check_period);
	*out = ctx;
	return 0;
}

void ctx_use(struct net_ctx *ctx)
{
	ctx->users++;
}

void ctx_unuse(struct net_ctx *ctx)
{
	if (!--ctx->users && ctx->freed)
		destroy(ctx);
}

void net_ctx_free(struct net_ctx *ctx)
{
	if (!ctx)
		return;
	assert(list_is_empty(&ctx->chans));
	loop_timer_free(ctx->check_timer);
	ctx->check_timer = NULL;
	ctx->freed = true;
	if (!ctx->users)
		destroy(ctx);
}

int net_ctx_reload(struct net_ctx *ctx, const struct pki_creds *creds, struct err *e)
{
	struct creds_parsed p;
	struct identity self;
	char pin[PKI_PIN_BYTES];
	int rc = creds_parse(&p, creds, e);

	if (rc)
		return rc;
	rc = creds_check(&p, NULL, ctx_wall(ctx), &self, e);
	if (!rc)
		rc = x509_pin(pin, p.ca, e);
	if (!rc)
		rc = ctx->ops->reload(ctx, &p, e);
	creds_parsed_done(&p);
	if (rc)
		return rc;
	ctx->has_self = true;
	ctx->self = self;
	memcpy(ctx->pin, pin, sizeof(pin));
	return 0;
}

const struct identity *net_ctx_self(const struct net_ctx *ctx)
{
	return ctx->has_self ? &ctx->self : NULL;
}

const char *net_ctx_pin(const struct net_ctx *ctx)
{
	return ctx->pin;
}

int net_ctx_revoke(struct net_ctx *ctx, const uint8_t serial[SERIAL_BYTES])
{
	return serial_set_add(ctx->revoked, serial);
}

bool net_ctx_is_revoked(const struct net_ctx *ctx, const uint8_t serial[SERIAL_BYTES])
{
	return serial_set_has(ctx->revoked, serial);
}

void net_ctx_check(struct net_ctx *ctx)
{
	list_each_safe (item, &ctx->chans) {
		struct chan *c = list_entry(item, struct chan, at);
		struct verdict v = { 0 };

		if (c->has_peer && ctx_admits(ctx, &c->peer, &v))
			chan_fail_later(c, &v.why);
	}
}

static int dial_enrol(struct net_ctx *ctx, const struct net_target *to,
		      const struct chan_handler *h, struct chan **out, struct err *e)
{
	const struct net_expect mainsm = { .roles = ROLE_BIT(ROLE_MAINSM), .pin = to->expect->pin };
	struct net_target target = *to;

	if (!mainsm.pin || !pki_pin_is_valid(mainsm.pin))
		return err_set(e, ERR_INVALID,
			       "the connection string holds no valid pin: copy it again");
	target.expect = &mainsm;
	return ctx->ops->dial(ctx, &target, h, out, e);
}

int net_dial(struct net_ctx *ctx, const struct net_target *to, const struct chan_handler *h,
	     struct chan **out, struct err *e)
{
	const char *pin = to->expect->pin;

	if (to->enrols)
		return dial_enrol(ctx, to, h, out, e);
	if (!ctx->has_self)
		return err_set(e, ERR_INVALID, "there is no certificate to show yet: enrol first");
	if (pin && *ctx->pin && strcmp(pin, ctx->pin))
		return err_set(
			e, ERR_DENIED,
			"our certificate is from the monitor %.8s, not from %.8s: enrol with a "
			"connection string of that one",
			ctx->pin, pin);
	return ctx->ops->dial(ctx, to, h, out, e);
}

int net_listen(struct net_ctx *ctx, const struct net_listen_conf *conf, const struct net_accept *a,
	       struct net_listener **out, struct err *e)
{
	if (!ctx->has_self)
		return err_set(e, ERR_INVALID, "there is no certificate to show yet: enrol first");
	return ctx->ops->listen(ctx, conf, a, out, e);
}

uint16_t net_listener_port(const struct net_listener *l)
{
	return l->ops->port(l);
}

void net_listener_get_stats(const struct net_listener *l, struct net_listener_stats *out)
{
	l->ops->stats(l, out);
}

void net_listener_close(struct net_listener *l)
{
	if (l)
		l->ops->close(l);
}

void net_listener_penalise(struct net_listener *l, const struct chan *c)
{
	l->ops->penalise(l, c);
}
