"use strict";
(() => {
const log = JSON.parse(document.getElementById("log").textContent);
const find = id => document.getElementById(id);
const canvas = find("lines"), whole = find("whole"), tip = find("tip"), said = find("said"), search = find("search");
const EXACT = 40000; /* steps in the view that are drawn one by one; more are shown as density */
const SLOWEST = 1500; /* lines that are drawn over a density */
const span = Math.max(log.span, 1);

/* --- what the page carries */

function bytes(text) {
	const s = atob(text), out = new Uint8Array(s.length);
	for (let i = 0; i < s.length; i++)
		out[i] = s.charCodeAt(i);
	return out;
}

function numbers(b) {
	let at = 0;
	return {
		byte: () => b[at++],
		more: () => at < b.length,
		next() {
			let v = 0, unit = 1, c;
			do {
				c = b[at++];
				v += (c & 127) * unit;
				unit *= 128;
			} while (c > 127);
			return v;
		},
	};
}

function readLines() {
	const n = log.shown, points = log.points, r = numbers(bytes(log.lines));
	const l = { n, first: new Uint32Array(n + 1), key: new Uint32Array(n), at: new Float64Array(points),
		stage: new Uint8Array(points), latest: new Float64Array(n), took: new Float64Array(n) };
	let start = 0, p = 0, keys = 0, latest = 0;
	for (let i = 0; i < n; i++) {
		start += r.next();
		const key = r.next(), count = r.next();
		l.key[i] = key ? key - 1 : keys++;
		l.first[i] = p;
		for (let k = 0, t = start; k < count; k++, p++) {
			l.stage[p] = r.byte();
			t += k ? r.next() : 0;
			l.at[p] = t;
		}
		l.took[i] = l.at[p - 1] - start;
		latest = Math.max(latest, l.at[p - 1]);
		l.latest[i] = latest;
	}
	l.first[n] = p;
	l.bySlow = Uint32Array.from({ length: n }, (_, i) => i).sort((a, b) => l.took[b] - l.took[a]);
	l.slow = n ? Math.max(log.slow, 1) : 0;
	l.slowest = n ? Math.max(l.slow, l.took[l.bySlow[Math.min(SLOWEST, n) - 1]]) : 0;
	return l;
}

function readSeries(s) {
	const r = numbers(bytes(s.t)), at = new Float64Array(s.n), v = s.v ? bytes(s.v) : null;
	let t = 0;
	for (let i = 0; i < s.n; i++)
		at[i] = t += r.next();
	const value = new Float64Array(v ? s.n : 0), view = v && new DataView(v.buffer);
	for (let i = 0; i < value.length; i++)
		value[i] = view.getFloat64(8 * i, true);
	return { name: s.name, marks: s.marks, min: s.min, max: s.max, at, value };
}

function cellsOf(level) {
	if (level.shade)
		return level.shade;
	const out = new Uint8Array(level.columns * level.rows), r = numbers(bytes(level.cells));
	for (let at = 0; r.more();) {
		const c = r.byte(), n = c & 15 || r.next();
		out.fill(c >> 4, at, at += n);
	}
	level.cells = null;
	return level.shade = out;
}

const stages = log.stages, lines = readLines(), series = log.series.map(readSeries);
const loads = series.filter(s => !s.marks), marks = series.filter(s => s.marks);

/* Where a stage is missing: between the neighbours that the line has. */
function findLacks() {
	const n = stages.length, out = stages.map(() => []), whose = new Int32Array(n).fill(-1), when = new Float64Array(n);
	const due = stages.map(s => stages.flatMap((t, k) => t.expected && t.kind === s.kind ? [k] : []));
	for (let i = 0; i < lines.n; i++) {
		const a = lines.first[i], b = lines.first[i + 1];
		for (let p = a; p < b; p++) {
			const s = lines.stage[p];
			if (whose[s] !== i)
				when[s] = lines.at[p];
			whose[s] = i;
		}
		for (const k of due[lines.stage[a]]) {
			if (whose[k] === i)
				continue;
			let up = k, down = k;
			while (up >= 0 && whose[up] !== i)
				up--;
			while (down < n && whose[down] !== i)
				down++;
			out[k].push(up < 0 ? when[down] : down === n ? when[up] :
				when[up] + (when[down] - when[up]) * (k - up) / (down - up));
		}
	}
	return out.map(t => Float64Array.from(t).sort());
}
const lacks = findLacks();
