// Residuals over iterations on a logarithmic scale, several runs over each other, redrawn as they grow.
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

// 1, 2 or 5 times a power of ten, so that about `count` of them make `range`; whole numbers.
function stepOf(range, count) {
    const raw = Math.max(range / count, 1);
    const base = 10 ** Math.floor(Math.log10(raw));
    return base * [1, 2, 5, 10].find((m) => m * base >= raw * 0.999);
}

const isShown = (r) => Number.isFinite(r) && r >= 0;
const log = (r) => Math.log10(Math.max(r, LEAST));

function limits(runs) {
    let low = Infinity, high = -Infinity, most = 1;
    const widen = (r) => {
        if (isShown(r) && r > 0) {
            low = Math.min(low, log(r));
            high = Math.max(high, log(r));
        }
    };
    for (const run of runs) {
        for (const [iteration, r] of run.points) {
            widen(r);
            most = Math.max(most, iteration);
        }
        widen(run.tolerance);
        widen(run.truth);
    }
    if (low > high)
        [low, high] = [-8, 0];
    low = Math.floor(low);
    return {low, high: Math.max(Math.ceil(high), low + 1), most};
}

// Where there is no number the line is cut.
function pathOf(points, x, y) {
    const stretch = Math.ceil(points.length / POINTS);
    let d = '', pen = false;
    const put = ([iteration, r]) => {
        d += `${pen ? 'L' : 'M'}${x(iteration).toFixed(1)} ${y(r).toFixed(1)}`;
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

// The last point at or before an iteration.
function pointAt(points, iteration) {
    let low = 0, high = points.length - 1;
    while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (points[middle][0] <= iteration)
            low = middle;
        else
            high = middle - 1;
    }
    return points[low];
}

/* A run: {label, colour, points: [[iteration, residual], ...], tolerance, truth, running}. Places are in pixels of the
   window, so that texts have their size in a small one, too. */
export class Chart {
    constructor(place) {
        this.place = place;
        this.runs = [];
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
    }

    show(runs) {
        this.runs = runs;
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
            return run.label + (last ? `: ${last[1].toExponential(1)} after ${last[0]} iterations` : ': no iterations yet');
        });
        return `Residuals over iterations. ${texts.join('; ')}`;
    }

    draw() {
        const width = this.place.clientWidth;
        if (!width)
            return;
        const small = width < 520;
        const height = small ? 270 : 380;
        const left = 52, right = width - 22, top = 14, bottom = height - 44;
        const {low, high, most} = limits(this.runs);
        const x = (i) => left + i / most * (right - left);
        const y = (r) => bottom - (Math.min(Math.max(log(r), low), high) - low) / (high - low) * (bottom - top);
        const picture = svg('svg', {viewBox: `0 0 ${width} ${height}`, height, role: 'img', 'aria-label': this.describe()});

        const decades = Math.max(1, Math.ceil((high - low) / (small ? 6 : 9)));
        for (let e = high; e >= low; e -= decades) {
            const at = y(10 ** e);
            picture.append(svg('line', {class: 'grid', x1: left, x2: right, y1: at, y2: at}),
                           svg('text', {x: left - 9, y: at + 4, 'text-anchor': 'end'}, power(e)));
        }
        const step = stepOf(most, small ? 4 : 8);
        for (let i = 0; i <= most; i += step)
            picture.append(svg('line', {class: 'frame-line', x1: x(i), x2: x(i), y1: bottom, y2: bottom + 5}),
                           svg('text', {x: x(i), y: bottom + 20, 'text-anchor': 'middle'}, i.toLocaleString('en')));
        picture.append(svg('line', {class: 'frame-line', x1: left, x2: right, y1: bottom, y2: bottom}),
                       svg('text', {x: (left + right) / 2, y: height - 4, 'text-anchor': 'middle'}, 'iterations'));
        for (const goal of new Set(this.runs.map((run) => run.tolerance).filter((t) => t > 0)))
            picture.append(svg('line', {class: 'goal', x1: left, x2: right, y1: y(goal), y2: y(goal)}),
                           svg('text', {x: freePlace(this.runs, x, y, y(goal) - 9, left, right, 90), y: y(goal) - 6}, `asked for ${goal}`));
        for (const run of this.runs) {
            const last = run.points.at(-1);
            picture.append(svg('path', {class: `line s${run.colour}`, d: pathOf(run.points, x, y)}));
            if (last && isShown(last[1]))
                picture.append(svg('circle', {class: `dot s${run.colour}`, cx: x(last[0]),
                                              cy: y(isShown(run.truth) ? run.truth : last[1]), r: run.running ? 5 : 4}));
        }
        this.hair = svg('g');
        picture.append(this.hair);
        this.scale = {x, y, left, right, top, bottom, most};
        this.place.replaceChildren(picture);
        this.showAt();
    }

    // What the runs have at the pointer.
    showAt() {
        if (!this.hair)
            return;
        this.hair.replaceChildren();
        const {x, y, left, right, top, bottom, most} = this.scale;
        if (this.pointer === null || this.pointer < left || this.pointer > right)
            return;
        const iteration = Math.round((this.pointer - left) / (right - left) * most);
        const found = this.runs.filter((run) => run.points.length && run.points[0][0] <= iteration &&
                                                iteration <= run.points.at(-1)[0])
                          .map((run) => ({run, r: pointAt(run.points, iteration)[1]})).filter(({r}) => isShown(r));
        this.hair.append(svg('line', {class: 'hair', x1: x(iteration), x2: x(iteration), y1: top, y2: bottom}));
        if (!found.length)
            return;
        const wide = 24 + 7.2 * Math.max(...found.map(({run}) => run.label.length + 10), 16);
        const at = x(iteration) + 12 + wide > right ? Math.max(x(iteration) - 12 - wide, left) : x(iteration) + 12;
        this.hair.append(svg('rect', {class: 'box', x: at, y: top, width: wide, height: 28 + 19 * found.length, rx: 8}),
                         svg('text', {x: at + 12, y: top + 19}, `iteration ${iteration.toLocaleString('en')}`));
        found.forEach(({run, r}, k) => {
            this.hair.append(svg('circle', {class: `dot s${run.colour}`, cx: x(iteration), cy: y(r), r: 4}),
                             svg('text', {class: 'name', x: at + 12, y: top + 38 + 19 * k}, `${r.toExponential(2)}  ${run.label}`));
        });
    }
}
