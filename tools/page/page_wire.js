/* SPDX-License-Identifier: Apache-2.0 */
/* The stream from omig web, and requests to it. A key opens both: it is traded for a link's token. */
"use strict";

const KEY = "omig-key";
const RETRY_MS = [500, 1000, 2000, 5000];
const SILENT_MS = 12000; /* a sample comes each second, or at least each minute with --every */

class Wire {
	constructor(on) {
		this.on = on; /* by kind of line; also "door" and "state" */
		this.key = sessionStorage.getItem(KEY);
		this.viewer = 0;
		this.tries = 0;
		this.heard = 0;
		this.silent = SILENT_MS;
		this.tabs = "BroadcastChannel" in window ? new BroadcastChannel("omig") : null;
		if (this.tabs)
			this.tabs.onmessage = (e) => this.hearTab(e.data);
		setInterval(() => this.watch(), 1000);
	}

	/* Tabs of one browser share a key. Only pages of this very address hear one another. */
	hearTab(m) {
		if (m === "key?" && this.key)
			this.tabs.postMessage({ key: this.key });
		else if (m && m.key && !this.key && !this.token) {
			this.key = m.key;
			this.open();
		}
	}

	start() {
		const m = /^#t=([0-9a-f]{64})$/.exec(location.hash);

		if (m) {
			this.token = m[1];
			history.replaceState(null, "", location.pathname);
		}
		if (this.token || this.key) {
			this.open();
			return;
		}
		if (this.tabs)
			this.tabs.postMessage("key?");
		setTimeout(() => this.key || this.on.door(""), 400);
	}

	setKey(key) {
		this.key = key;
		if (key)
			sessionStorage.setItem(KEY, key);
		else
			sessionStorage.removeItem(KEY);
	}

	ask() {
		this.stop = new AbortController();
		this.heard = performance.now(); /* a lost connection does not answer, either */
		if (this.token)
			return fetch("in", { method: "POST", signal: this.stop.signal,
				headers: { "Content-Type": "application/json" },
				body: JSON.stringify({ token: this.token }) });
		return fetch("stream", { signal: this.stop.signal,
			headers: { Authorization: "Bearer " + this.key } });
	}

	async open() {
		try {
			const r = await this.ask();

			if (!r.ok) {
				await this.refused(r);
				return;
			}
			this.token = null;
			this.tries = 0;
			this.on.state("up");
			await this.read(r.body.getReader());
			this.again("the server has ended the connection");
		} catch (e) {
			this.again("the server cannot be reached: it has ended, or the tunnel is cut");
		}
	}

	async refused(r) {
		const said = await r.json().catch(() => ({}));

		this.heard = 0;
		if (r.status === 401) {
			const old = this.token;

			this.token = null;
			if (old && this.key) { /* a used link in a tab that has a key */
				this.open();
				return;
			}
			this.setKey(null);
			this.on.door(said.error || "The server does not know this browser any more.");
		} else if (r.status === 429) {
			this.on.door(said.error); /* tabs whose connection is lost count for some time */
			setTimeout(() => this.open(), RETRY_MS.at(-1));
		} else {
			this.again(said.error || "the server answers " + r.status);
		}
	}

	again(why) {
		this.viewer = 0;
		this.heard = 0;
		this.on.state("down", why);
		setTimeout(() => this.open(), RETRY_MS[Math.min(this.tries++, RETRY_MS.length - 1)]);
	}

	async read(reader) {
		const text = new TextDecoder();
		let rest = "";

		for (;;) {
			const { done, value } = await reader.read();

			if (done)
				return;
			this.heard = performance.now();
			rest += text.decode(value, { stream: true });
			const lines = rest.split("\n");

			rest = lines.pop();
			for (const line of lines)
				this.take(JSON.parse(line));
		}
	}

	take(m) {
		if (m.t === "hello") {
			this.setKey(m.key);
			this.viewer = m.viewer;
		}
		if (m.t === "now")
			this.silent = Math.max(SILENT_MS, 5 * m.every_ms);
		if (this.on[m.t])
			this.on[m.t](m);
	}

	watch() {
		if (this.heard && performance.now() - this.heard > this.silent && this.stop) {
			this.heard = 0;
			this.stop.abort();
		}
	}

	async post(path, what) {
		const r = await fetch(path, { method: "POST",
			headers: { "Content-Type": "application/json", Authorization: "Bearer " + this.key },
			body: JSON.stringify({ viewer: this.viewer, ...what }) });
		const said = await r.json().catch(() => ({ error: "the server answers " + r.status }));

		if (!r.ok)
			throw Object.assign(new Error(said.error || "the server answers " + r.status), { status: r.status });
		return said;
	}

	async get(path) {
		const r = await fetch(path, { headers: { Authorization: "Bearer " + this.key } });

		return r.ok ? r.json() : [];
	}
}
