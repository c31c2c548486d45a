/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/cmd/neko_delays.h"

#include "tools/term/say.h"

#define WRITE_BYTES 65536

int neko_delays_open(struct neko_delays *d, const char *path, const struct run *r)
{
	int status = path ? outfile_open(&d->file, path) : CMD_OK;

	if (!path || status != CMD_OK)
		return status;
	d->run = r;
	d->text = BUF_INIT(4 * WRITE_BYTES);
	buf_puts(&d->text, "# omig neko delays 1\n# network from to sent delay\n");
	return CMD_OK;
}

void neko_delays_add(struct neko_delays *d, const struct neko_delay *v)
{
	if (v->delay == NEKO_DELAY_UNKNOWN)
		return;
	buf_printf(&d->text, "%s %u %u %.9f ", run_net_name(d->run, v->net), v->from, v->to,
		   (double)v->sent_at / 1e9);
	if (v->delay == NEKO_DELAY_LOST)
		buf_puts(&d->text, "lost\n");
	else
		buf_printf(&d->text, "%.9f\n", (double)v->delay / 1e9);
	if (d->status == CMD_OK)
		d->status = outfile_put(&d->file, &d->text, WRITE_BYTES);
	else
		buf_clear(&d->text);
}

int neko_delays_finish(struct neko_delays *d)
{
	if (!d->run)
		return CMD_OK;
	if (d->status == CMD_OK)
		d->status = outfile_put(&d->file, &d->text, 0);
	return d->status == CMD_OK ? outfile_finish(&d->file) : d->status;
}

void neko_delays_done(struct neko_delays *d)
{
	outfile_close(&d->file);
	buf_done(&d->text);
}
