/* --- the view */

const view = { from: 0, to: span, pick: -1, hover: null, wide: 0 };
const TOP = 26, MARK = 26, LOAD = 66, PAD = 14, FOOT = 24;
let gutter = 200, band = 60, color = {};

function readColors() {
	const s = getComputedStyle(document.documentElement);
	for (const c of ["paper", "ink", "soft", "grid", "card", "line", "slow", "pick", "lack", "load", "mark", "edge"])
		color[c] = s.getPropertyValue("--" + c).trim();
}

const bands = Math.max(stages.length - 1, 1);
const xOf = t => gutter + (t - view.from) / (view.to - view.from) * view.wide;
const tOf = x => view.from + (x - gutter) / view.wide * (view.to - view.from);
const yOf = stage => TOP + PAD + stage * band;
const linesEnd = () => TOP + PAD + bands * band + FOOT;
const height = () => linesEnd() + marks.length * MARK + loads.length * LOAD + 4;

function fit(c, h) {
	const dpr = window.devicePixelRatio || 1, w = c.clientWidth, ctx = c.getContext("2d");
	if (c.width !== Math.round(w * dpr) || c.height !== Math.round(h * dpr)) {
		c.style.height = h + "px";
		c.width = Math.round(w * dpr);
		c.height = Math.round(h * dpr);
	}
	ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
	ctx.clearRect(0, 0, w, h);
	return ctx;
}

/* The first index whose value is not below t. */
function lower(a, t, n = a.length) {
	let lo = 0;
	while (lo < n) {
		const mid = (lo + n) >> 1;
		if (a[mid] < t)
			lo = mid + 1;
		else
			n = mid;
	}
	return lo;
}

/* Lines that may touch the view: [first, end). */
function visible() {
	let lo = 0, hi = lines.n;
	while (lo < hi) {
		const mid = (lo + hi) >> 1;
		if (lines.at[lines.first[mid]] <= view.to)
			lo = mid + 1;
		else
			hi = mid;
	}
	return [lower(lines.latest, view.from), lo];
}

/* --- words */

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];
function duration(ns) {
	const [unit, name] = UNITS.find(u => Math.abs(ns) >= u[0]) || UNITS[3];
	return (ns / unit).toPrecision(3).replace(/e\+.*/, m => "e" + m.slice(2)) + " " + name;
}
const count = n => n.toLocaleString("en");
const figure = v => Math.abs(v) >= 1e6 || (v && Math.abs(v) < 1e-3) ? v.toExponential(2) : String(+v.toPrecision(4));

function tickStep(range, n) {
	const raw = range / n, unit = 10 ** Math.floor(Math.log10(raw)), m = raw / unit;
	return (m > 5 ? 10 : m > 2 ? 5 : m > 1 ? 2 : 1) * unit;
}

function clock(t, step) {
	const [unit, name] = UNITS.find(u => Math.max(Math.abs(view.to), step) >= u[0]) || UNITS[3];
	return (t / unit).toFixed(Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9))) + " " + name;
}

function short(ctx, text, wide) {
	if (ctx.measureText(text).width <= wide)
		return text;
	let lo = 0, hi = text.length;
	while (lo < hi) {
		const mid = (lo + hi + 1) >> 1;
		if (ctx.measureText(text.slice(0, mid) + "\u2026").width <= wide)
			lo = mid;
		else
			hi = mid - 1;
	}
	return text.slice(0, lo) + "\u2026";
}

/* --- drawing */

function segment(ctx, x0, y0, x1, y1) {
	ctx.moveTo(x0, y0);
	ctx.lineTo(x1, y1);
}

function drawAxes(ctx) {
	const h = height(), step = tickStep(view.to - view.from, Math.max(view.wide / 110, 2));
	ctx.font = "12px system-ui, sans-serif";
	ctx.lineWidth = 1;
	ctx.strokeStyle = color.grid;
	ctx.fillStyle = color.soft;
	ctx.textBaseline = "middle";
	ctx.textAlign = "center";
	ctx.beginPath();
	for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
		const x = Math.round(xOf(t)) + 0.5;
		segment(ctx, x, TOP, x, h);
		if (x > gutter + 20 && x < gutter + view.wide - 30)
			ctx.fillText(clock(t, step), x, TOP / 2);
	}
	stages.forEach((s, i) => segment(ctx, gutter, Math.round(yOf(i)) + 0.5, gutter + view.wide, Math.round(yOf(i)) + 0.5));
	ctx.stroke();
	ctx.textAlign = "left";
	ctx.fillText("time since the first event", 8, TOP / 2);
	stages.forEach((s, i) => {
		ctx.fillStyle = color.ink;
		ctx.fillText(short(ctx, s.name, gutter - 16), 8, yOf(i) - (s.missing && band > 30 ? 7 : 0));
		if (s.missing && band > 30) {
			ctx.fillStyle = color.lack;
			ctx.fillText(short(ctx, count(s.missing) + " missing", gutter - 16), 8, yOf(i) + 8);
		}
	});
}

function clip(ctx, y, h) {
	ctx.save();
	ctx.beginPath();
	ctx.rect(gutter, y, view.wide, h);
	ctx.clip();
}

function pathOf(ctx, i) {
	const end = lines.first[i + 1];
	let p = lines.first[i];
	ctx.moveTo(xOf(lines.at[p]), yOf(lines.stage[p]));
	if (p + 1 === end)
		ctx.lineTo(xOf(lines.at[p]) + 0.5, yOf(lines.stage[p]));
	for (p++; p < end; p++)
		ctx.lineTo(xOf(lines.at[p]), yOf(lines.stage[p]));
}

function drawPaths(ctx, list, style, alpha, width) {
	ctx.strokeStyle = style;
	ctx.globalAlpha = alpha;
	ctx.lineWidth = width;
	ctx.lineJoin = "round";
	for (let k = 0; k < list.length; k += 500) {
		ctx.beginPath();
		for (let i = k; i < Math.min(k + 500, list.length); i++)
			pathOf(ctx, list[i]);
		ctx.stroke();
	}
	ctx.globalAlpha = 1;
}

const paint = document.createElement("canvas");
function rgb(text) {
	return [1, 3, 5].map(i => parseInt(text.slice(i, i + 2), 16));
}

function drawDensity(ctx) {
	const want = view.wide * span / (view.to - view.from);
	const level = log.levels.find(l => l.columns >= want * 0.7) || log.levels[log.levels.length - 1];
	const cells = cellsOf(level), cols = level.columns, c0 = Math.max(0, Math.floor(view.from / span * cols));
	const c1 = Math.min(cols, Math.ceil(view.to / span * cols)), n = Math.max(c1 - c0, 1), [r, g, b] = rgb(color.line);
	paint.width = n;
	paint.height = level.rows;
	const pc = paint.getContext("2d"), image = pc.createImageData(n, level.rows), px = image.data;
	for (let y = 0, o = 0; y < level.rows; y++)
		for (let x = c0; x < c0 + n; x++, o += 4) {
			const s = cells[y * cols + x];
			px[o] = r;
			px[o + 1] = g;
			px[o + 2] = b;
			px[o + 3] = s && 14 + s * 16;
		}
	pc.putImageData(image, 0, 0);
	ctx.imageSmoothingEnabled = true;
	const x0 = xOf(c0 / cols * span), x1 = xOf((c0 + n) / cols * span);
	ctx.drawImage(paint, x0, yOf(0), x1 - x0, bands * band);
}

const slowWord = document.querySelector(".legend .s");
function drawLines(ctx) {
	const [a, b] = visible(), steps = lines.first[b] - lines.first[a], exact = steps <= EXACT || !log.levels.length;
	const bar = exact ? lines.slow : lines.slowest, usual = [], slow = [];
	for (let i = a; i < b; i++) {
		const last = lines.at[lines.first[i + 1] - 1];
		if (last >= view.from)
			lines.took[i] >= bar ? slow.push(i) : exact && usual.push(i);
	}
	clip(ctx, TOP, linesEnd() - TOP);
	if (exact)
		drawPaths(ctx, usual, color.line, Math.min(0.85, Math.max(0.15, 300 / (usual.length + 1))), 1.1);
	else
		drawDensity(ctx);
	drawPaths(ctx, slow, color.slow, Math.min(0.9, Math.max(0.25, 120 / (slow.length + 1))), 1.1);
	drawLacks(ctx);
	if (view.pick >= 0)
		drawPick(ctx);
	ctx.restore();
	slowWord.textContent = exact ? "slowest 5 %" : "slowest " + count(Math.min(SLOWEST, lines.n));
	document.body.dataset.mode = exact ? "lines" : "density";
	document.body.dataset.drawn = usual.length + slow.length;
}

/* One mark a pixel, however many there are. */
function perPixel(at, draw) {
	for (let i = lower(at, view.from); i < at.length && at[i] <= view.to;) {
		const x = Math.round(xOf(at[i]));
		draw(x);
		i = Math.max(i + 1, lower(at, tOf(x + 1)));
	}
}

/* Crosses while they can be told apart, then ticks. */
function drawLacks(ctx) {
	ctx.strokeStyle = color.lack;
	lacks.forEach((at, k) => {
		const n = lower(at, view.to) - lower(at, view.from), r = n > view.wide / 16 ? 0 : 3.5;
		ctx.lineWidth = r ? 1.5 : 1;
		ctx.globalAlpha = r ? 1 : 0.6;
		ctx.beginPath();
		perPixel(at, x => {
			if (!r)
				return segment(ctx, x + 0.5, yOf(k) - 3, x + 0.5, yOf(k) + 3);
			segment(ctx, x - r, yOf(k) - r, x + r, yOf(k) + r);
			segment(ctx, x - r, yOf(k) + r, x + r, yOf(k) - r);
		});
		ctx.stroke();
	});
	ctx.globalAlpha = 1;
}

function drawPick(ctx) {
	const i = view.pick;
	drawPaths(ctx, [i], color.paper, 0.9, 6);
	drawPaths(ctx, [i], color.pick, 1, 2.5);
	ctx.fillStyle = color.pick;
	for (let p = lines.first[i]; p < lines.first[i + 1]; p++) {
		ctx.beginPath();
		ctx.arc(xOf(lines.at[p]), yOf(lines.stage[p]), 4, 0, 7);
		ctx.fill();
	}
}

function rowName(ctx, name, y, style) {
	ctx.fillStyle = style;
	ctx.textAlign = "left";
	ctx.fillText(short(ctx, name, gutter - 16), 8, y);
}

function drawMarks(ctx) {
	marks.forEach((s, k) => {
		const y = linesEnd() + k * MARK;
		rowName(ctx, s.name, y + MARK / 2, color.ink);
		clip(ctx, y, MARK);
		ctx.fillStyle = color.mark;
		perPixel(s.at, x => ctx.fillRect(x - 1, y + 4, 2, MARK - 8));
		ctx.restore();
	});
}

function drawLoads(ctx) {
	loads.forEach((s, k) => {
		const top = linesEnd() + marks.length * MARK + k * LOAD + 6, h = LOAD - 14;
		const lo = s.min >= 0 && s.min < s.max * 0.7 ? 0 : s.min, range = s.max - lo || 1;
		const y = v => top + h - (v - lo) / range * h;
		rowName(ctx, s.name, top + h / 2, color.ink);
		ctx.fillStyle = color.soft;
		ctx.textAlign = "right";
		ctx.fillText(figure(s.max), gutter - 6, top + 5);
		ctx.fillText(figure(lo), gutter - 6, top + h - 4);
		clip(ctx, top - 4, LOAD - 4);
		drawLoad(ctx, s, y, top + h);
		ctx.restore();
	});
}

/* What lies in one pixel is drawn from its least to its most. */
function drawLoad(ctx, s, y, floor) {
	const i0 = Math.max(0, lower(s.at, view.from) - 1), i1 = Math.min(s.at.length, lower(s.at, view.to) + 1);
	const path = [];
	for (let i = i0; i < i1;) {
		const x = Math.round(xOf(s.at[i]) * 2) / 2;
		let min = s.value[i], max = min, last = min;
		for (i++; i < i1 && xOf(s.at[i]) < x + 0.5; i++) {
			last = s.value[i];
			min = Math.min(min, last);
			max = Math.max(max, last);
		}
		path.push([x, min], [x, max], [x, last]);
	}
	if (!path.length)
		return;
	const trace = () => path.forEach((p, i) => i ? ctx.lineTo(p[0], y(p[1])) : ctx.moveTo(p[0], y(p[1])));
	ctx.beginPath();
	trace();
	ctx.lineTo(path[path.length - 1][0], floor);
	ctx.lineTo(path[0][0], floor);
	ctx.fillStyle = color.load;
	ctx.globalAlpha = 0.15;
	ctx.fill();
	ctx.globalAlpha = 1;
	ctx.beginPath();
	trace();
	ctx.strokeStyle = color.load;
	ctx.lineWidth = 1.3;
	ctx.stroke();
}

/* --- all of the time, above */

const crowd = new Uint32Array(1024);
for (let p = 0; p < lines.at.length; p++)
	crowd[Math.min(1023, Math.floor(lines.at[p] / span * 1024))]++;

function drawWhole() {
	const h = 40, ctx = fit(whole, h), most = crowd.reduce((a, b) => Math.max(a, b), 1), w = view.wide;
	ctx.fillStyle = color.line;
	ctx.globalAlpha = 0.55;
	crowd.forEach((n, i) => {
		const t = n / most * (h - 8);
		ctx.fillRect(gutter + i / 1024 * w, h - 2 - t, w / 1024 + 0.4, t);
	});
	ctx.globalAlpha = 1;
	const x0 = gutter + view.from / span * w, x1 = Math.max(gutter + view.to / span * w, x0 + 2);
	ctx.fillStyle = color.ink;
	ctx.globalAlpha = 0.1;
	ctx.fillRect(gutter, 0, x0 - gutter, h);
	ctx.fillRect(x1, 0, gutter + w - x1, h);
	ctx.globalAlpha = 1;
	ctx.strokeStyle = color.ink;
	ctx.strokeRect(x0 + 0.5, 1, Math.max(x1 - x0 - 1, 1), h - 2);
	ctx.font = "12px system-ui, sans-serif";
	ctx.textBaseline = "middle";
	rowName(ctx, "events over all " + duration(log.span), h / 2, color.soft);
}

let isDue = false;
function draw() {
	isDue = false;
	gutter = Math.min(230, Math.max(120, canvas.clientWidth * 0.2));
	view.wide = Math.max(canvas.clientWidth - gutter - 10, 50);
	const room = window.innerHeight * 0.62 / bands;
	band = Math.round(Math.min(Math.max(room, 26), stages.length > 2 ? 76 : 160));
	const ctx = fit(canvas, height());
	drawAxes(ctx);
	drawLines(ctx);
	drawMarks(ctx);
	drawLoads(ctx);
	drawWhole();
	document.body.dataset.view = Math.round(view.from) + " " + Math.round(view.to);
}
function redraw() {
	if (!isDue)
		requestAnimationFrame(draw);
	isDue = true;
}
