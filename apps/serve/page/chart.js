// Residuals over iterations or seconds on a logarithmic scale, several runs over each other, redrawn as they grow.
import {Zoom} from './zoom.js';

const SVG = 'http://www.w3.org/2000/svg';
const POINTS = 600; // of a line; longer ones are drawn by the least and the largest of each stretch
const LEAST = 1e-300; // below this a logarithm means nothing, and an exact 0 has none

export function svg(name, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes))
        element.setAttribute(key, value);
    element.append(...children);
    return element;
}

// The line that stands for a run next to its name.
export function swatch(colour) {
    return svg('svg', {class: 'swatch', viewBox: '0 0 32 12', 'aria-hidden': 'true'},
               svg('line', {class: `s${colour}`, x1: 0, x2: 32, y1: 6, y2: 6}));
}

export function power(exponent) {
    return '10' + String(exponent).replace(/./g, (c) => c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(c)]);
}

// 1, 2 or 5 times a power of ten, so that about `count` of them make `range`.
function stepOf(range, count, least) {
    const raw = Math.max(range / count, least);
    const base = 10 ** Math.floor(Math.log10(raw));
    return base * [1, 2, 5, 10].find((m) => m * base >= raw * 0.999);
}

const isShown = (r) => Number.isFinite(r) && r >= 0;
const log = (r) => Math.log10(Math.max(r, LEAST));
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// What the horizontal axis counts: the least step, its name, and a number of it in words.
const UNITS = [[1e-6, 'microseconds'], [1e-3, 'milliseconds'], [1, 'seconds'], [60, 'minutes'], [3600, 'hours']];
const unitOf = (most) => UNITS.findLast(([size]) => most >= 2 * size) ?? UNITS[0];
const SCALES = {
    iterations: {least: 1, name: () => 'iterations', text: (v) => `iteration ${Math.round(v).toLocaleString('en')}`, tick: (v) => v.toLocaleString('en')},
    seconds: {least: 1e-9, name: (most) => `${unitOf(most)[1]}, with set-up`,
              text: (v, most) => `${Number((v / unitOf(most)[0]).toPrecision(4))} ${unitOf(most)[1]}`,
              tick: (v, most) => String(Number((v / unitOf(most)[0]).toPrecision(6)))},
};

function limits(runs, scale) {
    let low = Infinity, high = -Infinity, most = scale === 'seconds' ? 0 : 1;
    const widen = (r) => {
        if (isShown(r) && r > 0) {
            low = Math.min(low, log(r));
            high = Math.max(high, log(r));
        }
    };
    for (const run of runs) {
        for (const [at, r] of run.points) {
            widen(r);
            most = Math.max(most, at);
        }
        widen(run.tolerance);
        widen(run.truth);
    }
    if (low > high)
        [low, high] = [-8, 0];
    low = Math.floor(low);
    return {low, high: Math.max(Math.ceil(high), low + 1), most: most || 1};
}

// The points from one place to another, and one more on either side.
function between(points, from, to) {
    const first = Math.max(indexAt(points, from), 0), last = indexAt(points, to);
    return points.slice(first, last + 2);
}

// Where there is no number the line is cut.
function pathOf(points, x, y) {
    const stretch = Math.ceil(points.length / POINTS);
    let d = '', pen = false;
    const put = ([at, r]) => {
        d += `${pen ? 'L' : 'M'}${x(at).toFixed(1)} ${y(r).toFixed(1)}`;
        pen = true;
    };
    for (let from = 0; from < points.length; from += stretch) {
        let least = -1, largest = -1;
        for (let i = from; i < Math.min(from + stretch, points.length); i++) {
            if (!isShown(points[i][1]))
                continue;
            least = least < 0 || points[i][1] < points[least][1] ? i : least;
            largest = largest < 0 || points[i][1] > points[largest][1] ? i : largest;
        }
        if (least < 0) {
            pen = false;
            continue;
        }
        put(points[Math.min(least, largest)]);
        if (least !== largest)
            put(points[Math.max(least, largest)]);
    }
    return d;
}

// Where a text over a line is in no curve's way: at the left, at the right, or between; the left where all are taken.
function freePlace(runs, x, y, height, left, right, wide) {
    const places = [left + 8, right - wide - 8, (left + right - wide) / 2];
    const isFree = (from) => runs.every((run) => run.points.every(([i, r]) => x(i) < from - 6 || x(i) > from + wide + 6 || Math.abs(y(r) - height) > 14));
    return places.find(isFree) ?? places[0];
}

// The index of the last point at or before a place; -1: there is none.
function indexAt(points, at) {
    let low = -1, high = points.length - 1;
    while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (points[middle][0] <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* A run: {label, colour, points: [[iteration or seconds, residual], ...], tolerance, truth, running}. Places are in pixels
   of the window, so that texts have their size in a small one, too. */
export class Chart {
    constructor(place, zoomed) {
        this.place = place;
        this.runs = [];
        this.scale = 'iterations';
        this.waiting = false;
        this.pointer = null;
        new ResizeObserver(() => this.draw()).observe(place);
        place.addEventListener('pointermove', (event) => {
            this.pointer = event.clientX - place.getBoundingClientRect().left;
            this.showAt();
        });
        place.addEventListener('pointerleave', () => {
            this.pointer = null;
            this.showAt();
        });
        this.zoom = new Zoom(place, {
            least: 1e-4,
            area: () => {
                const {left, top} = place.getBoundingClientRect(), frame = this.frame ?? {left: 0, right: 1, top: 0, bottom: 1};
                return {left: left + frame.left, top: top + frame.top, width: frame.right - frame.left, height: frame.bottom - frame.top};
            },
            changed: () => {
                zoomed(this.zoom.zoomed);
                this.drawSoon();
            },
        });
    }

    show(runs, scale) {
        if (scale !== this.scale && this.zoom.zoomed)
            this.zoom.reset();
        this.runs = runs;
        this.scale = scale;
        this.drawSoon();
    }

    drawSoon() {
        if (this.waiting)
            return;
        this.waiting = true;
        requestAnimationFrame(() => {
            this.waiting = false;
            this.draw();
        });
    }

    describe() {
        const texts = this.runs.map((run) => {
            const last = run.points.at(-1);
            return run.label + (last ? `: ${last[1].toExponential(1)} after ${run.iterations} iterations` : ': no iterations yet');
        });
        return `Residuals over ${this.scale}. ${texts.join('; ')}`;
    }

    draw() {
        const width = this.place.clientWidth;
        if (!width)
            return;
        const small = width < 520;
        const height = small ? 270 : 380;
        const left = 52, right = width - 22, top = 14, bottom = height - 44;
        const kind = SCALES[this.scale], {view} = this.zoom;
        const all = limits(this.runs, this.scale);
        // of a part, residuals have the range that they take in it
        const from = view.x * all.most, to = (view.x + view.size) * all.most;
        const parts = this.runs.map((run) => ({...run, points: between(run.points, from, to)}));
        const {low, high} = this.zoom.zoomed ? limits(parts.map(({points}) => ({points})), this.scale) : all;
        const x = (at) => left + (at - from) / (to - from) * (right - left);
        const y = (r) => bottom - (clamp(log(r), all.low, all.high) - low) / (high - low) * (bottom - top);
        const isSeen = (r) => y(r) >= top - 0.5 && y(r) <= bottom + 0.5;
        const spare = this.zoom.zoomed ? 0 : 6; // for rings at the ends
        const picture = svg('svg', {viewBox: `0 0 ${width} ${height}`, height, role: 'img', 'aria-label': this.describe()});
        const curves = svg('g', {'clip-path': 'url(#chart-clip)'});

        const decades = Math.max(1, Math.ceil((high - low) / (small ? 6 : 9)));
        for (let e = high; e >= low; e -= decades) {
            const at = y(10 ** e);
            picture.append(svg('line', {class: 'grid', x1: left, x2: right, y1: at, y2: at}),
                           svg('text', {x: left - 9, y: at + 4, 'text-anchor': 'end'}, power(e)));
        }
        const step = stepOf(to - from, small ? 4 : 8, kind.least);
        for (let at = (Math.ceil(from / step - 1e-9) + 0) * step; at <= to * (1 + 1e-9); at += step)
            picture.append(svg('line', {class: 'frame-line', x1: x(at), x2: x(at), y1: bottom, y2: bottom + 5}),
                           svg('text', {x: x(at), y: bottom + 20, 'text-anchor': 'middle'}, kind.tick(at, all.most)));
        picture.append(svg('clipPath', {id: 'chart-clip'}, svg('rect', {x: left - spare, y: top - 6, width: right - left + 2 * spare, height: bottom - top + 6})),
                       svg('line', {class: 'frame-line', x1: left, x2: right, y1: bottom, y2: bottom}),
                       svg('text', {x: (left + right) / 2, y: height - 4, 'text-anchor': 'middle'}, kind.name(all.most)), curves);
        for (const goal of new Set(this.runs.map((run) => run.tolerance).filter((t) => t > 0 && isSeen(t))))
            picture.append(svg('line', {class: 'goal', x1: left, x2: right, y1: y(goal), y2: y(goal)}),
                           svg('text', {x: freePlace(parts, x, y, y(goal) - 9, left, right, 90), y: y(goal) - 6}, `asked for ${goal}`));
        for (const [k, run] of this.runs.entries()) {
            const last = run.points.at(-1);
            curves.append(svg('path', {class: `line s${run.colour}`, d: pathOf(parts[k].points, x, y)}));
            if (last && isShown(last[1]))
                curves.append(svg('circle', {class: `dot s${run.colour}${run.running ? ' live' : ''}`, cx: x(last[0]),
                                             cy: y(isShown(run.truth) ? run.truth : last[1]), r: run.running ? 5 : 4}));
        }
        this.hair = svg('g');
        picture.append(this.hair);
        this.frame = {x, y, left, right, top, bottom, from, to, most: all.most};
        this.place.replaceChildren(picture);
        this.showAt();
    }

    // What the runs have at the pointer.
    showAt() {
        if (!this.hair)
            return;
        this.hair.replaceChildren();
        const {x, y, left, right, top, bottom, from, to, most} = this.frame;
        if (this.pointer === null || this.pointer < left || this.pointer > right)
            return;
        const under = from + (this.pointer - left) / (right - left) * (to - from);
        const at = this.scale === 'iterations' ? Math.round(under) : under;
        const found = this.runs.filter((run) => run.points.length && run.points[0][0] <= at && at <= run.points.at(-1)[0])
                          .map((run) => ({run, r: run.points[indexAt(run.points, at)][1]})).filter(({r}) => isShown(r));
        this.hair.append(svg('line', {class: 'hair', x1: x(at), x2: x(at), y1: top, y2: bottom}));
        if (!found.length)
            return;
        const wide = 24 + 7.2 * Math.max(...found.map(({run}) => run.label.length + 10), 16);
        const box = x(at) + 12 + wide > right ? Math.max(x(at) - 12 - wide, left) : x(at) + 12;
        this.hair.append(svg('rect', {class: 'box', x: box, y: top, width: wide, height: 28 + 19 * found.length, rx: 8}),
                         svg('text', {x: box + 12, y: top + 19}, SCALES[this.scale].text(at, most)));
        found.forEach(({run, r}, k) => {
            if (y(r) >= top && y(r) <= bottom)
                this.hair.append(svg('circle', {class: `dot s${run.colour}`, cx: x(at), cy: y(r), r: 4}));
            this.hair.append(svg('text', {class: 'name', x: box + 12, y: top + 38 + 19 * k}, `${r.toExponential(2)}  ${run.label}`));
        });
    }
}
