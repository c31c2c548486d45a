/* SPDX-License-Identifier: Apache-2.0 */
/* A chart of a metric: curves of few objects, quantile bands of many. Gaps stay gaps. */

const BANDS = ["least", "10 %", "median", "90 %", "most"];
const CHART_PX = 190;

/* A spreadsheet would calculate a name that begins like a formula. */
function csvCell(v) {
	const text = typeof v === "string" && /^[=+\-@\t\r]/.test(v) ? "'" + v : String(v);

	return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

class Chart {
	constructor(id, colours, close) {
		this.id = id;
		this.colours = colours;
		this.reads = [];
		this.canvas = make("canvas", { role: "img", tabIndex: 0 });
		this.title = make("h3");
		this.words = make("p", { className: "said" });
		this.keys = make("span");
		this.twin = make("div", { className: "twin", hidden: true });
		this.said = make("p", { className: "said", "aria-live": "polite" });
		this.element = make("div", { className: "chart" }, this.title, this.words, this.canvas, this.said,
			make("p", { className: "tools" }, this.keys, make("span", {},
				make("button", { type: "button", onclick: () => this.table() }, "table"), " ",
				make("button", { type: "button", onclick: () => this.csv() }, "CSV"), " ",
				make("button", { type: "button", onclick: close }, "close"))), this.twin);
		this.canvas.addEventListener("pointermove", (e) => this.point(e));
		this.canvas.addEventListener("pointerleave", () => this.setCursor(-1));
		this.canvas.addEventListener("keydown", (e) => this.key(e));
	}

	set(m) {
		if (!this.last || m.kind !== this.last.kind || m.from === 0)
			this.reads = [];
		this.last = m;
		this.reads.push(...m.reads);
		if (this.reads.length > COLUMNS)
			this.reads.splice(0, this.reads.length - COLUMNS);
	}

	/* Names of the values of a read, and where they begin in it. */
	get series() {
		return this.last.kind === "bands" ? { names: BANDS, at: 4 } : { names: this.last.names, at: 2 };
	}

	range(reads) {
		const { names, at } = this.series;
		let low = 0, high = -Infinity;

		for (const r of reads)
			for (let i = 0; i < names.length; i++)
				if (isKnown(r[at + i])) {
					low = Math.min(low, r[at + i]);
					high = Math.max(high, r[at + i]);
				}
		if (high <= low)
			high = low + 1;
		return { low, high: high + (high - low) * 0.05 };
	}

	draw(end, span) {
		const m = this.last;

		if (!m)
			return;
		this.head();
		const { g, w, h } = fit(this.canvas, CHART_PX);
		const box = { x: 52, y: 6, w: w - 60, h: h - 26 };
		const reads = this.reads.filter((r) => r[0] <= end && r[0] > end - span);
		const { low, high } = this.range(reads);
		const x = (t) => box.x + box.w * (1 - (end - t) / span);
		const y = (v) => box.y + box.h * (1 - (v - low) / (high - low));

		this.shown = { reads, x, box };
		g.clearRect(0, 0, w, h);
		this.grid(g, box, { low, high, y });
		if (m.kind === "bands")
			this.bands(g, reads, x, y);
		else
			m.names.forEach((_, i) => this.curve(g, reads, { x, y, at: 2 + i, colour: this.colours.kinds[i % 8] }));
		timeAxis(g, this.colours, box, end, span);
		this.mark(g, box);
	}

	head() {
		const m = this.last;

		this.title.textContent = m.metric + (m.unit ? "  [" + m.unit + "]" : "");
		this.words.textContent = m.ended ? "it has ended: " + m.ended
			: m.words || (m.objects ? "" : "waiting for the first interval");
		this.words.classList.toggle("bad", !!m.ended);
		this.canvas.setAttribute("aria-label", (m.words || m.metric) + ". Arrow keys move a cursor.");
		if (this.legendOf === m.kind + m.names.join())
			return;
		this.legendOf = m.kind + m.names.join();
		this.keys.replaceChildren(...(m.kind === "bands"
			? ["all between the outer lines, 80 % of " + m.objects + " objects in the band, the median as a line"]
			: m.names.map((n, i) => {
				const dot = make("i");

				dot.style.cssText = "display:inline-block;width:14px;height:3px;margin:0 4px 3px 8px";
				dot.style.background = "var(--k" + i % 8 + ")";
				return make("span", { className: "name" }, dot, n);
			})));
	}

	grid(g, box, { low, high, y }) {
		g.font = "11px system-ui, sans-serif";
		g.textAlign = "right";
		g.textBaseline = "middle";
		g.lineWidth = 1;
		for (const v of ticks(low, high, 4)) {
			g.strokeStyle = this.colours.line;
			g.beginPath();
			g.moveTo(box.x, Math.round(y(v)) + 0.5);
			g.lineTo(box.x + box.w, Math.round(y(v)) + 0.5);
			g.stroke();
			g.fillStyle = this.colours.dim;
			g.fillText(short(v), box.x - 6, y(v));
		}
	}

	/* Runs of known values: [[x, y]...], and a gap where a read is missing. */
	runs(reads, { x, y, at }) {
		const all = [];
		let run = null, last = 0;

		for (const r of reads) {
			const isGap = !isKnown(r[at]) || (last && r[0] - last > 2.5 * this.every);

			if (isGap)
				run = null;
			if (isKnown(r[at])) {
				if (!run)
					all.push(run = []);
				run.push([x(r[0]), y(r[at])]);
			}
			last = r[0];
		}
		return all;
	}

	curve(g, reads, how) {
		g.strokeStyle = g.fillStyle = how.colour;
		g.lineWidth = how.width || 1.5;
		for (const run of this.runs(reads, how)) {
			g.beginPath();
			run.forEach(([px, py], i) => i ? g.lineTo(px, py) : g.moveTo(px, py));
			g.stroke();
			if (run.length === 1)
				g.fillRect(run[0][0] - 1.5, run[0][1] - 1.5, 3, 3);
		}
	}

	bands(g, reads, x, y) {
		const of = (i) => this.runs(reads, { x, y, at: 4 + i });
		const [low, high] = [of(1), of(3)];

		g.globalAlpha = 0.3;
		g.fillStyle = this.colours.kinds[0];
		low.forEach((run, k) => {
			g.beginPath();
			run.forEach(([px, py], i) => i ? g.lineTo(px, py) : g.moveTo(px, py));
			[...(high[k] || [])].reverse().forEach(([px, py]) => g.lineTo(px, py));
			g.fill();
		});
		g.globalAlpha = 1;
		for (const i of [0, 4])
			this.curve(g, reads, { x, y, at: 4 + i, colour: this.colours.dim, width: 1 });
		this.curve(g, reads, { x, y, at: 6, colour: this.colours.kinds[0], width: 2 });
	}

	/* --- the cursor: a read in words */

	setCursor(i) {
		const r = this.shown && this.shown.reads[i];

		this.cursor = r ? r[0] : 0; /* the time: it stays at its read while others arrive */
		this.said.textContent = r ? this.say(r) : "";
		this.redraw();
	}

	say(r) {
		const { names, at } = this.series, unit = this.last.unit;
		const bound = r[1] ? ", each \u00b1 " + amount(r[1], unit) : "";

		return clock(r[0]) + ": " + (this.last.kind === "bands" && r[3] ? r[3] + " is highest; " : "") +
			names.map((n, i) => n + " " + amount(r[at + i], unit)).join(", ") + bound +
			(this.last.kind === "bands" && r[2] < this.last.objects
				? "; " + r[2] + " of " + this.last.objects + " known" : "");
	}

	mark(g, box) {
		const r = this.shown.reads.find((x) => x[0] === this.cursor);

		if (!r)
			return;
		g.strokeStyle = this.colours.text;
		g.lineWidth = 1;
		g.beginPath();
		g.moveTo(this.shown.x(r[0]), box.y);
		g.lineTo(this.shown.x(r[0]), box.y + box.h);
		g.stroke();
	}

	point(e) {
		if (!this.shown)
			return;
		const x = e.clientX - this.canvas.getBoundingClientRect().left;
		let best = -1, near = Infinity;

		this.shown.reads.forEach((r, i) => {
			const d = Math.abs(this.shown.x(r[0]) - x);

			if (d < near)
				[near, best] = [d, i];
		});
		this.setCursor(best);
	}

	key(e) {
		const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];

		if (!by || !this.shown || !this.shown.reads.length)
			return;
		e.preventDefault();
		const n = this.shown.reads.length, was = this.shown.reads.findIndex((r) => r[0] === this.cursor);
		const at = was >= 0 ? was + by : n - 1;

		this.setCursor(Math.max(0, Math.min(n - 1, at)));
	}

	/* --- the same as text */

	rows() {
		const { names, at } = this.series;

		return [["time", ...names, "bound", this.last.unit || "1"],
			...this.reads.map((r) => [new Date(r[0]).toISOString(),
				...names.map((_, i) => isKnown(r[at + i]) ? r[at + i] : ""), r[1], ""])];
	}

	table() {
		this.twin.hidden = !this.twin.hidden;
		this.twinOf = 0;
		this.redraw();
	}

	drawTwin() {
		if (this.twin.hidden || this.twinOf === this.reads.length + this.reads.at(-1)?.[0])
			return;
		this.twinOf = this.reads.length + this.reads.at(-1)?.[0];
		const { names, at } = this.series;

		this.twin.replaceChildren(make("table", {},
			make("thead", {}, make("tr", {}, ...["time", ...names, "\u00b1"].map((n) =>
				make("th", { scope: "col", className: "name" }, n)))),
			make("tbody", {}, ...this.reads.slice(-60).reverse().map((r) => make("tr", {},
				make("td", {}, clock(r[0])), ...names.map((_, i) => make("td", {}, short(r[at + i]))),
				make("td", {}, short(r[1])))))));
	}

	csv() {
		const text = this.rows().map((r) => r.map(csvCell).join(",")).join("\n") + "\n";
		const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));

		make("a", { href: url, download: this.last.metric.replace(/\W+/g, "_") + ".csv" }).click();
		setTimeout(() => URL.revokeObjectURL(url), 10000);
	}
}
