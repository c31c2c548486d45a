/* SPDX-License-Identifier: Apache-2.0 */
/* The strip: rank x time, coloured by the kind of work, pale where its share is small. */

const KINDS = ["compute", "message", "wait", "collective", "barrier", "one-sided", "I/O", "other"];
const COLUMNS = 600;
const SPANS = [30, 60, 120, 300, 600];
const GUTTER = 104;

class Strip {
	constructor(colours, choose) {
		this.canvas = $("strip");
		this.colours = colours;
		this.choose = choose;
		this.rows = [];
		this.columns = [];
		this.every = 1000;
		this.span = 0; /* seconds; 0: as much as there is */
		this.frozen = 0; /* time of the right edge; 0: now */
		this.cursor = null; /* {row, back}: back = columns before the last */
		this.buttons();
		this.legend();
		this.canvas.addEventListener("pointermove", (e) => this.point(e));
		this.canvas.addEventListener("pointerleave", () => this.say(""));
		this.canvas.addEventListener("click", (e) => this.click(e));
		this.canvas.addEventListener("keydown", (e) => this.key(e));
	}

	legend() {
		$("legend").replaceChildren(...KINDS.map((name) => make("span", {}, make("i"), name)),
			make("span", { className: "dim" }, "pale: small share; hatched: unknown"));
		for (const [k, i] of $("legend").querySelectorAll("i").entries())
			i.style.background = "var(--k" + k + ")";
	}

	buttons() {
		this.freezer = make("button", { type: "button", onclick: () => this.freeze() }, "freeze");
		$("strip-buttons").append(
			make("button", { type: "button", title: "a shorter time (+)",
				onclick: () => this.zoom(-1) }, "+"), " ",
			make("button", { type: "button", title: "a longer time (-)",
				onclick: () => this.zoom(1) }, "\u2212"), " ", this.freezer);
	}

	setRows(m) {
		this.rows = m.rows;
		this.columns = [];
		this.cursor = null;
	}

	/* A column is {time, cells}; gaps between times are drawn as gaps. */
	add(m) {
		for (const [time, cells] of m.columns)
			this.columns.push({ time, cells });
		if (this.columns.length > COLUMNS)
			this.columns.splice(0, this.columns.length - COLUMNS);
	}

	get end() {
		return this.frozen || (this.columns.length ? this.columns[this.columns.length - 1].time : Date.now());
	}

	get spanMs() {
		if (this.span)
			return this.span * 1000;
		const have = this.columns.length ? this.end - this.columns[0].time + this.every : 0;

		return 1000 * (SPANS.slice(1).find((s) => s * 1000 >= have) || COLUMNS * this.every / 1000);
	}

	zoom(by) {
		const now = this.spanMs / 1000;
		const at = SPANS.findIndex((s) => s >= now);

		this.span = SPANS[Math.max(0, Math.min(SPANS.length - 1, (at < 0 ? SPANS.length - 1 : at) + by))];
		this.draw();
	}

	freeze() {
		this.frozen = this.frozen ? 0 : this.end;
		this.freezer.textContent = this.frozen ? "go on" : "freeze";
		this.freezer.setAttribute("aria-pressed", String(!!this.frozen));
		this.draw();
	}

	step(by) {
		if (!this.frozen)
			this.freeze();
		const last = this.columns.length ? this.columns[this.columns.length - 1].time : this.frozen;

		this.frozen = Math.min(last, this.frozen + by * this.every);
		this.draw();
	}

	get height() {
		const n = Math.max(1, this.rows.length);

		return n <= 16 ? n * 18 : n <= 64 ? n * 7 : n <= 256 ? n * 2 : n;
	}

	/* How many lines of ranks fit. */
	static wantedRows() {
		return window.innerHeight < 700 ? 256 : 512;
	}

	/* Words of an image by kind and share; pale for small shares. */
	palette() {
		if (this.paletteOf === this.colours.version)
			return this.table;
		this.paletteOf = this.colours.version;
		this.table = KINDS.map((_, k) => Array.from({ length: 64 }, (_, s) =>
			Colours.mix(this.colours.kinds[k], this.colours.back, 0.25 + 0.75 * s / 63)));
		this.odd = Colours.mix(this.colours.bad, this.colours.back, 1);
		return this.table;
	}

	image(from, slots) {
		const rows = this.rows.length, table = this.palette();
		const image = new ImageData(slots, rows), word = new Uint32Array(image.data.buffer);

		for (const c of this.columns) {
			const slot = Math.floor((c.time - from) / this.every);

			if (slot < 0 || slot >= slots)
				continue;
			for (let r = 0; r < rows; r++) {
				const code = c.cells.charCodeAt(2 * r), isOdd = code >= 97;
				const kind = code - (isOdd ? 97 : 65), share = c.cells.charCodeAt(2 * r + 1) - 48;

				if (table[kind])
					word[r * slots + slot] = table[kind][share];
			}
		}
		return image;
	}

	draw() {
		const { g, w, h } = fit(this.canvas, this.height + 20);
		const box = { x: GUTTER, y: 0, w: w - GUTTER, h: this.height };
		const span = this.spanMs, slots = Math.max(1, Math.round(span / this.every));

		this.box = box;
		g.fillStyle = this.colours.back;
		g.fillRect(0, 0, w, h);
		g.fillStyle = this.colours.soft;
		g.fillRect(box.x, box.y, box.w, box.h);
		hatch(g, this.colours, box.x, box.y, box.w, box.h);
		if (this.rows.length && box.w > 0)
			this.drawCells(g, box, span, slots);
		this.drawLabels(g, box);
		timeAxis(g, this.colours, box, this.end, span);
		this.drawMarks(g, box);
		this.label();
	}

	drawCells(g, box, span, slots) {
		const under = this.under || (this.under = document.createElement("canvas"));

		under.width = slots;
		under.height = this.rows.length;
		under.getContext("2d").putImageData(this.image(this.end - span + this.every / 2, slots), 0, 0);
		g.imageSmoothingEnabled = false;
		g.drawImage(under, box.x, box.y, box.w, box.h);
	}

	/* A host's name beside its rows, and lines between hosts; ranks where there is room. */
	drawLabels(g, box) {
		const high = box.h / Math.max(1, this.rows.length);
		let at = 0;

		g.font = "11px system-ui, sans-serif";
		g.textBaseline = "middle";
		while (at < this.rows.length) {
			let next = at + 1;

			while (next < this.rows.length && this.rows[next][2] === this.rows[at][2])
				next++;
			this.drawHost(g, box, { at, next, high });
			at = next;
		}
	}

	drawHost(g, box, { at, next, high }) {
		const y = at * high, room = (next - at) * high;

		g.strokeStyle = this.colours.back;
		g.lineWidth = 1;
		if (at && room > 4) {
			g.beginPath();
			g.moveTo(box.x, y);
			g.lineTo(box.x + box.w, y);
			g.stroke();
		}
		g.fillStyle = this.colours.dim;
		g.textAlign = "left";
		if (room >= 11)
			g.fillText(this.cut(g, this.rows[at][2], 74), 0, y + Math.min(room / 2, high >= 12 ? high / 2 : 20));
		g.textAlign = "right";
		for (let r = at; r < next; r += Math.max(1, Math.ceil(12 / high)))
			g.fillText(this.rows[r][1] < 0 ? "-" : String(this.rows[r][1]), GUTTER - 6, (r + 0.5) * high);
	}

	cut(g, text, room) {
		if (g.measureText(text).width <= room)
			return text;
		while (text.length > 1 && g.measureText(text + "\u2026").width > room)
			text = text.slice(0, -1);
		return text + "\u2026";
	}

	drawMarks(g, box) {
		const high = box.h / Math.max(1, this.rows.length);

		g.strokeStyle = this.colours.mark;
		g.lineWidth = 2;
		const row = this.rows.findIndex((r) => r[0] === this.chosen);

		if (row >= 0)
			g.strokeRect(box.x + 1, row * high + 1, box.w - 2, Math.max(3, high - 2));
		if (this.cursor) {
			const wide = box.w * this.every / this.spanMs;
			const x = box.x + box.w - (this.cursor.back + 1) * wide;

			g.strokeStyle = this.colours.text;
			g.strokeRect(x, this.cursor.row * high, Math.max(4, wide), Math.max(4, high));
		}
	}

	label() {
		const now = performance.now();

		if (this.labelled && now - this.labelled < 5000)
			return;
		this.labelled = now;
		this.canvas.setAttribute("aria-label", "What each of " + this.rows.length +
			" lines of ranks did in the last " + ago(this.spanMs) + ". " + $("answer").textContent +
			". Arrow keys move a cursor; Enter chooses the rank.");
	}

	/* In words: a cell at a row, so many columns before the right edge. */
	cell(row, back) {
		const r = this.rows[row], t = this.end - back * this.every;
		const c = this.columns.findLast((x) => Math.abs(x.time - t) <= this.every / 2);

		if (!r)
			return "";
		const name = (r[1] < 0 ? "process" : "rank " + r[1]) +
			(r[3] > 1 ? " and " + (r[3] - 1) + " more" : "") + " on " + r[2];

		if (!c)
			return name + ", " + ago(this.end - t) + " before: nothing is known";
		const code = c.cells.charCodeAt(2 * row), kind = (code >= 97 ? code - 97 : code - 65);
		const share = (c.cells.charCodeAt(2 * row + 1) - 48) / 63 * 100;

		return name + ", " + clock(c.time) + ": " + (KINDS[kind]
			? KINDS[kind] + " takes most of the time, about " + Math.round(share) + " %" +
				(code >= 97 ? "; one of them computes much more" : "")
			: "unknown");
	}

	say(text) {
		$("strip-said").textContent = text;
	}

	place(e) {
		const at = this.canvas.getBoundingClientRect(), x = e.clientX - at.left, y = e.clientY - at.top;

		if (!this.box || !this.rows.length || y > this.box.h)
			return null;
		return { row: Math.min(this.rows.length - 1, Math.floor(y / this.box.h * this.rows.length)),
			back: x < this.box.x ? 0 :
				Math.floor((this.box.x + this.box.w - x) / this.box.w * this.spanMs / this.every) };
	}

	point(e) {
		const p = this.place(e);

		this.say(p ? this.cell(p.row, p.back) : "");
	}

	click(e) {
		const p = this.place(e);

		if (p && this.rows[p.row])
			this.choose(this.rows[p.row][0]);
	}

	key(e) {
		const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, 1], ArrowRight: [0, -1] }[e.key];

		if (!move && e.key !== "Enter")
			return;
		e.preventDefault();
		if (e.key === "Enter") {
			if (this.cursor && this.rows[this.cursor.row])
				this.choose(this.rows[this.cursor.row][0]);
			return;
		}
		const c = this.cursor || { row: 0, back: 0 };
		const most = Math.round(this.spanMs / this.every) - 1;

		if (this.cursor) {
			c.row = Math.max(0, Math.min(this.rows.length - 1, c.row + move[0]));
			c.back = Math.max(0, Math.min(most, c.back + move[1]));
		}
		this.cursor = c;
		this.say(this.cell(c.row, c.back));
		this.draw();
	}
}
