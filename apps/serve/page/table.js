// Solves as a table: sorted by any column, and saved as comma-separated values.
import {bytes, count, el, residual, seconds, setText, shownName} from './tools.js';
import {swatch} from './chart.js';

/* [member, head, as it is shown; none: a text] */
const COLUMNS = [
    ['id', 'run', String], ['method', 'method'], ['precon', 'preconditioner'], ['ended', 'ended'], ['iterations', 'iterations', count],
    ['residual', 'residual', residual], ['true_residual', 'true residual', residual], ['setup_seconds', 'set-up', seconds],
    ['solve_seconds', 'solving', seconds], ['memory_bytes', 'memory', bytes], ['file', 'matrix'],
];
const SAVED = ['id', 'file', 'method', 'precon', 'format', 'device', 'ended', 'converged', 'iterations', 'residual', 'true_residual', 'tolerance',
               'choose_seconds', 'setup_seconds', 'solve_seconds', 'memory_bytes', 'command'];

const timeOf = (run) => (run.choose_seconds ?? 0) + (run.setup_seconds ?? 0) + (run.solve_seconds ?? 0);
const isKnown = (value) => value !== null && value !== undefined && !Number.isNaN(value);

/* What is not known comes last, whichever way. */
function compare(one, other, member, descending) {
    const a = one[member], b = other[member];
    if (!isKnown(a) || !isKnown(b))
        return isKnown(b) - isKnown(a) || other.id - one.id;
    const order = typeof a === 'number' ? a - b : String(a).localeCompare(String(b), 'en', {numeric: true});
    return (descending ? -order : order) || other.id - one.id;
}

/* A text that a spreadsheet would compute is none of its formulas. */
function field(value) {
    if (!isKnown(value))
        return '';
    if (typeof value !== 'string')
        return String(value);
    return `"${(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`;
}

export class RunTable {
    constructor(table, tick) {
        Object.assign(this, {table, tick, runs: [], rows: new Map(), by: 'id', descending: true});
        this.heads = COLUMNS.map(([member, name, shown]) => {
            const button = el('button', {type: 'button', className: 'sort', title: member === 'residual' ? "the method's own" : ''}, name);
            button.addEventListener('click', () => this.sort(member));
            return el('th', {scope: 'col', className: shown && member !== 'id' ? 'n' : ''}, button);
        });
        table.tHead.rows[0].replaceChildren(...this.heads);
    }

    /* Numbers by the least first, which is the best; runs by the newest. */
    sort(member) {
        this.descending = this.by === member ? !this.descending : member === 'id';
        this.by = member;
        this.draw();
    }

    show(runs, all) {
        this.runs = runs;
        this.table.classList.toggle('one-matrix', !all);
        this.draw();
    }

    sorted() {
        return this.runs.toSorted((a, b) => compare(a, b, this.by, this.descending));
    }

    row(run) {
        const box = el('input', {type: 'checkbox', 'aria-label': `Run ${run.id} in the picture`});
        const head = el('th', {scope: 'row'}, el('label', {className: 'tick'}, box, el('span', {className: 'key'}), el('span', {}, String(run.id))));
        const cells = COLUMNS.slice(1).map(([member, , shown]) => el('td', {className: shown ? 'n' : member === 'file' ? 'file-of' : ''}));
        box.addEventListener('change', () => this.tick(String(run.id), box.checked));
        return {line: el('tr', {}, head, ...cells), box, key: head.querySelector('.key'), cells, colour: undefined};
    }

    update(row, run, fastest) {
        row.box.checked = run.colour !== undefined;
        if (row.colour !== run.colour)
            row.key.replaceChildren(...(run.colour === undefined ? [] : [swatch(run.colour)]));
        row.colour = run.colour;
        COLUMNS.slice(1).forEach(([member, , shown], k) => setText(row.cells[k], shown ? shown(run[member]) : shownName(run[member] ?? '-')));
        row.cells[COLUMNS.findIndex(([member]) => member === 'solve_seconds') - 1].classList.toggle('best', run.converged === true && timeOf(run) === fastest);
    }

    draw() {
        const body = this.table.tBodies[0], sorted = this.sorted();
        const times = this.runs.filter((run) => run.converged).map(timeOf);
        const fastest = times.length > 1 ? Math.min(...times) : null;
        sorted.forEach((run, k) => {
            if (!this.rows.has(run.id))
                this.rows.set(run.id, this.row(run));
            const row = this.rows.get(run.id);
            if (body.children[k] !== row.line)
                body.insertBefore(row.line, body.children[k] ?? null);
            this.update(row, run, fastest);
        });
        while (body.children.length > sorted.length)
            body.lastChild.remove();
        this.heads.forEach((head, k) => head.setAttribute('aria-sort', COLUMNS[k][0] !== this.by ? 'none' : this.descending ? 'descending' : 'ascending'));
    }

    csv() {
        const lines = [SAVED, ...this.sorted().map((run) => SAVED.map((member) => field(run[member])))];
        return lines.map((line) => `${line.join(',')}\r\n`).join('');
    }

    save() {
        const address = URL.createObjectURL(new Blob([this.csv()], {type: 'text/csv;charset=utf-8'}));
        el('a', {href: address, download: 'runs.csv'}).click();
        setTimeout(() => URL.revokeObjectURL(address), 10000);
    }
}
