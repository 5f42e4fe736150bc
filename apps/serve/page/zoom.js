// Zoom into a picture: the wheel about the pointer, dragging, a double click for all of it; or keys.
const STEP = 1.35, LINE = 16; // of a key; pixels of a wheel's line
const SCROLLING = 300; // ms after the page was scrolled in which the wheel goes on doing that
let scrolled = -Infinity;
addEventListener('scroll', () => { scrolled = performance.now(); }, {passive: true});

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/* A view is the part that is seen, from (x, y), `size` of the whole along each side: all is {x: 0, y: 0, size: 1}. `area`
   is the rectangle of the window that shows it. */
export class Zoom {
    constructor(place, {least, area = () => place.getBoundingClientRect(), changed}) {
        Object.assign(this, {place, least, area, changed, view: {x: 0, y: 0, size: 1}, held: null});
        place.tabIndex = 0;
        place.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
        place.addEventListener('dblclick', () => this.reset());
        place.addEventListener('keydown', (event) => this.key(event));
        place.addEventListener('pointerdown', (event) => this.hold(event));
        place.addEventListener('pointermove', (event) => this.drag(event));
        for (const end of ['pointerup', 'pointercancel'])
            place.addEventListener(end, () => this.let());
    }

    get zoomed() {
        return this.view.size < 1;
    }

    set(x, y, size) {
        const within = clamp(size, this.least, 1);
        this.view = {size: within, x: clamp(x, 0, 1 - within), y: clamp(y, 0, 1 - within)};
        this.place.classList.toggle('zoomed', this.zoomed);
        this.changed(this.view);
    }

    reset() {
        this.set(0, 0, 1);
    }

    /* About a place of the window: what is there stays there. */
    scale(factor, clientX, clientY) {
        const {x, y, size} = this.view, area = this.area();
        const across = clamp((clientX - area.left) / area.width, 0, 1), down = clamp((clientY - area.top) / area.height, 0, 1);
        const next = clamp(size * factor, this.least, 1);
        this.set(x + across * (size - next), y + down * (size - next), next);
    }

    wheel(event) {
        const down = event.deltaY * (event.deltaMode ? LINE : 1);
        if ((down > 0 && !this.zoomed) || (!event.ctrlKey && performance.now() - scrolled < SCROLLING))
            return; // the page's
        event.preventDefault();
        this.scale(Math.exp(clamp(down, -240, 240) / 400), event.clientX, event.clientY);
    }

    key(event) {
        const {x, y, size} = this.view, area = this.area(), by = size / 8;
        const moves = {ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by]};
        const factor = {'+': 1 / STEP, '=': 1 / STEP, '-': STEP}[event.key];
        if (event.ctrlKey || event.altKey || event.metaKey || event.target !== this.place)
            return;
        if (factor)
            this.scale(factor, area.left + area.width / 2, area.top + area.height / 2);
        else if (moves[event.key] && this.zoomed)
            this.set(x + moves[event.key][0], y + moves[event.key][1], size);
        else if ((event.key === '0' || event.key === 'Escape') && this.zoomed)
            this.reset();
        else
            return;
        event.preventDefault();
    }

    hold(event) {
        if (event.button !== 0 || !this.zoomed)
            return;
        this.held = {clientX: event.clientX, clientY: event.clientY, view: this.view};
        this.place.setPointerCapture(event.pointerId);
        this.place.classList.add('held');
    }

    drag(event) {
        if (!this.held)
            return;
        const {clientX, clientY, view} = this.held, area = this.area();
        this.set(view.x - (event.clientX - clientX) / area.width * view.size, view.y - (event.clientY - clientY) / area.height * view.size, view.size);
    }

    let() {
        this.held = null;
        this.place.classList.remove('held');
    }
}
