/* SPDX-License-Identifier: Apache-2.0 */
/* Elements, numbers and canvases. All text of others becomes text, never markup. */

const $ = (id) => document.getElementById(id);

function make(tag, props, ...inside) {
	const e = document.createElement(tag);

	for (const [name, value] of Object.entries(props || {})) {
		if (name.startsWith("on"))
			e.addEventListener(name.slice(2), value);
		else if (name in e && name !== "list" && name !== "style")
			e[name] = value;
		else
			e.setAttribute(name, value);
	}
	e.append(...inside);
	return e;
}

const isKnown = (v) => v !== null && v !== undefined && Number.isFinite(v);

/* 1234567 is "1.23M"; unknown is "-". Small values have no letter: m would be read as minutes. */
function short(v, digits = 3) {
	if (!isKnown(v))
		return "-";
	const size = Math.abs(v);

	for (const [unit, mark] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
		if (size >= unit * 0.9995)
			return (v / unit).toPrecision(digits) + mark;
	if (size === 0)
		return "0";
	if (size >= 1e-4)
		return String(Number(v.toPrecision(digits)));
	return v.toExponential(1);
}

/* A value with its unit: "8.73 ms", "8.73 ms/s", "1.23M B/s". */
function amount(v, unit) {
	const time = /^s(\/.*)?$/.exec(unit), size = Math.abs(v);

	if (!isKnown(v))
		return "-";
	if (!time || size === 0)
		return short(v) + (unit ? " " + unit : "");
	const [one, mark] = [[1, "s"], [1e-3, "ms"], [1e-6, "us"]].find(([s]) => size >= s * 0.9995) || [1e-9, "ns"];

	return Number((v / one).toPrecision(3)) + " " + mark + (time[1] || "");
}

/* A time: "8.73 ms", "12.3 s", "2 min 5 s", "3 h 20 min". */
function seconds(v) {
	if (!isKnown(v) || v < 90)
		return amount(v, "s");
	return v < 5400 ? ago(v * 1000) : Math.floor(v / 3600) + " h " + Math.floor(v / 60) % 60 + " min";
}

const percent = (v) => isKnown(v) ? v.toFixed(v < 9.95 ? 1 : 0) : "-";

function ago(ms) {
	const s = Math.max(0, Math.round(ms / 1000));

	return s < 90 ? s + " s" : Math.floor(s / 60) + " min " + s % 60 + " s";
}

const clock = (ms) => new Date(ms).toLocaleTimeString([], { hour12: false });

/* Colours of the style sheet, as they are now. */
class Colours {
	constructor() {
		this.read();
		for (const q of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"])
			matchMedia(q).addEventListener("change", () => this.read());
	}

	read() {
		const style = getComputedStyle(document.documentElement);

		for (const name of ["back", "text", "dim", "line", "soft", "hatch", "mark", "bad"])
			this[name] = style.getPropertyValue("--" + name).trim();
		this.kinds = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => style.getPropertyValue("--k" + k).trim());
		this.version = (this.version || 0) + 1;
	}

	static rgb(hex) {
		const h = hex.length === 4 ? hex.replace(/[0-9a-f]/gi, "$&$&") : hex;

		return [1, 3, 5].map((i) => parseInt(h.slice(i, i + 2), 16));
	}

	/* A part `share` of colour a on colour b, as a word of an image. */
	static mix(a, b, share) {
		const [x, y] = [Colours.rgb(a), Colours.rgb(b)];
		const c = x.map((v, i) => Math.round(v * share + y[i] * (1 - share)));

		return (255 << 24 | c[2] << 16 | c[1] << 8 | c[0]) >>> 0;
	}
}

/* Fits a canvas to its place and to the screen's pixels. Returns its context in CSS pixels. */
function fit(canvas, height) {
	const scale = window.devicePixelRatio || 1;
	const w = Math.max(1, Math.min(canvas.clientWidth, 8000));

	canvas.style.height = height + "px";
	if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(height * scale)) {
		canvas.width = Math.round(w * scale);
		canvas.height = Math.round(height * scale);
	}
	const g = canvas.getContext("2d");

	g.setTransform(scale, 0, 0, scale, 0, 0);
	return { g, w, h: height };
}

function hatch(g, colours, x, y, w, h) {
	g.save();
	g.beginPath();
	g.rect(x, y, w, h);
	g.clip();
	g.strokeStyle = colours.hatch;
	g.lineWidth = 1;
	g.beginPath();
	for (let i = x - h; i < x + w; i += 7) {
		g.moveTo(i, y + h);
		g.lineTo(i + h, y);
	}
	g.stroke();
	g.restore();
}

/* Steps of 1, 2 or 5 times a power of ten: about n of them. */
function ticks(from, to, n) {
	const raw = (to - from) / Math.max(1, n);
	const power = 10 ** Math.floor(Math.log10(raw));
	const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw);
	const all = [];

	for (let v = Math.ceil(from / step) * step; v <= to + step * 1e-6; v += step)
		all.push(Math.abs(v) < step * 1e-6 ? 0 : v);
	return all;
}

/* Labels of an axis of time that ends `end`, over span_ms. */
function timeAxis(g, colours, box, end, span) {
	const steps = [5, 10, 20, 30, 60, 120, 300].map((s) => s * 1000);
	const step = steps.find((s) => box.w * s / span >= 62) || 600000;

	g.fillStyle = colours.dim;
	g.font = "11px system-ui, sans-serif";
	g.textBaseline = "top";
	for (let back = 0; back <= span; back += step) {
		const x = box.x + box.w - box.w * back / span;

		g.textAlign = back === 0 ? "right" : x < box.x + 20 ? "left" : "center";
		g.fillText(back === 0 ? clock(end) : "-" + ago(back).replace(" min 0 s", " min"), x,
			box.y + box.h + 4);
	}
}
