// Jobs: begun, followed while they run, shown as a list, and their curves over each other.
import {api, askSure, byId, copyText, count, el, on, query, residual, say, seconds, setText, several, shownName, state, emit} from './tools.js';
import {Chart, swatch} from './chart.js';
import {RunTable} from './table.js';
import {Clock} from './clock.js';
import {recordOf} from './record.js';

const COLOURS = 6, SHOWN = 12, BY_THEMSELVES = 4; // solves that are in the picture without being asked for
const streams = new Map();  // id -> EventSource
const curves = new Map();   // id -> {points, whole, clock}
const results = new Map();  // id -> promise of the whole record
const cards = new Map();    // id -> card
const slots = new Map();    // id -> colour, for those in the picture
const mine = new Set();     // begun from this page: their records are opened when they end
let chart = null, table = null, ticked = {}, all = false, scale = 'iterations';

const isActive = (job) => job.state === 'queued' || job.state === 'running';
const number = (id) => Number(id);
const inOrder = () => [...state.jobs.values()].sort((a, b) => number(b.id) - number(a.id));

export const newest = (kind, file) => inOrder().find((job) => job.kind === kind && job.file === file);

export function resultOf(id) {
    if (!results.has(id))
        results.set(id, api(`/api/jobs/${id}`).then((record) => record.result ?? null));
    results.get(id).catch(() => results.delete(id));
    return results.get(id).catch(() => null);
}

export async function begin(job) {
    const {id} = await api('/api/jobs', {method: 'POST', body: job});
    mine.add(String(id));
    await refreshJobs();
    drawNow();
    const known = state.jobs.get(String(id));
    if (known && !isActive(known))
        announce(known, 'queued'); // it was faster than the answer
    else
        say(`Job ${id}: ${known?.state === 'queued' ? 'waits for its turn' : 'has begun'}.`);
    return id;
}

async function drop(path) {
    try {
        await api(path, {method: 'DELETE'});
        await refreshJobs();
    } catch (problem) {
        say(problem.message);
    }
}

const cancel = (id) => drop(`/api/jobs/${id}`);

async function forget(id) {
    if (await askSure(`Forget job ${id}?`, 'Its record, its x and its report are removed from the folder.', 'Forget it'))
        await drop(`/api/jobs/${id}?forget=1`);
}

/* --- following --------------------------------------------------------------------------------*/

function curveOf(id) {
    if (!curves.has(id))
        curves.set(id, {points: [], whole: false, spec: '', clock: new Clock()});
    return curves.get(id);
}

/* Another attempt of the same solve starts its curve again. */
function take(id, line) {
    const job = state.jobs.get(id), curve = curveOf(id), spec = `${line.method}+${line.precon}`;
    if (job)
        job.progress = line;
    curve.clock.take(line);
    if (!Number.isFinite(line.residual) || !Number.isFinite(line.iteration) || curve.whole)
        return;
    if (curve.points.length && line.iteration <= curve.points.at(-1)[0]) {
        if (spec === curve.spec)
            return;
        curve.points = [];
    }
    curve.spec = spec;
    curve.points.push([line.iteration, line.residual]);
}

function unfollow(id) {
    streams.get(id)?.close();
    streams.delete(id);
}

function follow(id) {
    if (streams.has(id))
        return;
    const stream = new EventSource(`/api/jobs/${id}/events`);
    const read = (act) => (event) => {
        try {
            act(JSON.parse(event.data));
        } catch {
            return; // a line that was cut: the next one has more
        }
        draw();
    };
    streams.set(id, stream);
    stream.addEventListener('progress', read((line) => take(id, line)));
    stream.addEventListener('error', () => {
        if (stream.readyState === EventSource.CLOSED)
            unfollow(id); // refused; the list will show whether to try again
    });
    stream.addEventListener('end', () => {
        unfollow(id);
        refreshJobs().catch(() => {});
    });
}

/* A browser has few connections for one server, and tabs share them: those that are not seen let go. */
function followAll() {
    for (const job of state.jobs.values()) {
        if (job.state === 'running' && document.visibilityState === 'visible')
            follow(job.id);
        else
            unfollow(job.id);
    }
}

async function loadCurve(job) {
    const curve = curveOf(job.id);
    if (curve.whole || isActive(job))
        return;
    curve.whole = true; // asked for once
    const result = await resultOf(job.id);
    const history = (result?.systems?.[0] ?? result)?.history;
    if (Array.isArray(history) && history.length)
        curve.points = history.map((r, i) => [i, r]);
    draw();
}

/* When its iterations were, of a job that ended before it was followed: its log still says so. */
async function loadClock(job) {
    const curve = curveOf(job.id);
    if (isActive(job) || curve.clock.whole)
        return;
    curve.clock.whole = true; // asked for once
    try {
        const answer = await fetch(`/api/jobs/${job.id}/events`);
        for (const [, line] of (await answer.text()).matchAll(/^event: progress\ndata: (.*)$/gm))
            curve.clock.take(JSON.parse(line));
    } catch {
        return; // its ends are known, and what is between is not far from even
    }
    draw();
}

/* The points of a run as the picture has them. */
function pointsOf(job) {
    const curve = curveOf(job.id);
    if (scale === 'iterations')
        return curve.points;
    loadClock(job);
    return curve.clock.timed(curve.points, job.summary);
}

function announce(job, before) {
    if (before && before !== job.state && !isActive(job))
        say(`Job ${job.id}, ${job.kind} of ${shownName(job.file)}: ${ending(job) || 'done'}`);
}

let asked = 0, answered = 0;
export async function refreshJobs() {
    const turn = ++asked;
    const {jobs} = await api('/api/jobs');
    if (turn < answered)
        return; // overtaken by a later answer
    answered = turn;
    const before = state.jobs;
    state.jobs = new Map(jobs.map((job) => [String(job.id), {...job, id: String(job.id)}]));
    for (const job of state.jobs.values()) {
        const old = before.get(job.id);
        if (old && isActive(job) && (old.progress?.seconds ?? 0) > (job.progress?.seconds ?? 0))
            job.progress = old.progress; // the stream is ahead of the list
        announce(job, old?.state);
    }
    followAll();
    emit('jobs');
    draw();
}

/* --- words ------------------------------------------------------------------------------------*/

const specName = (spec) => spec && spec !== 'auto' ? spec : '';

function methodOf(job) {
    return job.summary?.method || (job.text ? 'own text' : specName(job.method)) || job.progress?.method || 'auto';
}

function preconOf(job) {
    return job.summary?.precon || specName(job.precon) || job.progress?.precon || 'auto';
}

function titleOf(job) {
    const what = {solve: `${methodOf(job)} + ${preconOf(job)}`, doctor: 'Doctor', plan: 'Plan', tune: 'Tune', report: 'Report'};
    return what[job.kind] ?? job.kind;
}

function stateOf(job) {
    if (job.state !== 'done')
        return [{queued: 'waits', running: 'runs', failed: 'failed', cancelled: 'cancelled'}[job.state] ?? job.state,
                {running: 'running', failed: 'bad', cancelled: 'warn'}[job.state] ?? ''];
    if (job.kind === 'solve' && job.summary && job.summary.converged === false)
        return [job.summary.reason === 'accepted' ? 'accepted' : 'not converged', job.summary.reason === 'accepted' ? 'good' : 'warn'];
    return [job.kind === 'solve' ? 'converged' : 'done', 'good'];
}

function ending(job) {
    const s = job.summary ?? {};
    if (job.state === 'failed' || job.state === 'cancelled')
        return job.message || job.state;
    if (job.kind === 'solve' && s.reason)
        return `${s.reason} after ${several(s.iterations, 'iteration')}, true residual ${residual(s.true_residual)}` +
               (s.detail && !s.converged ? `\n${s.detail}` : '') +
               (s.converged && Number.isFinite(s.rank) ? `\nA has rank ${count(s.rank)}, as its factors show: x is one of many` : '') + (job.message ? `\n${job.message}` : '');
    if (job.kind === 'doctor' && Number.isFinite(s.errors))
        return `${several(s.errors, 'error')}, ${several(s.warnings ?? 0, 'warning')}`;
    if (job.kind === 'tune' && s.format)
        return `format ${s.format}`;
    return job.message || '';
}

const PHASES = {read: 'reading the file', check: 'checking', tune: 'choosing a storage format', setup: 'making the preconditioner', iterate: 'iterating', finish: 'finishing'};

function underWay(job) {
    const p = job.progress;
    if (job.state === 'queued')
        return 'waits for its turn';
    if (!p)
        return 'has begun';
    const parts = [PHASES[p.phase] ?? p.phase ?? 'running'];
    if (p.phase === 'iterate' && Number.isFinite(p.iteration))
        parts.push(`iteration ${count(p.iteration)}`, `the method's residual ${residual(p.residual)}`);
    if (Number.isFinite(p.left))
        parts.push(`about ${seconds(p.left)} left`);
    return parts.join(', ');
}

const lineOf = (job) => isActive(job) ? underWay(job) : ending(job);

function whenOf(job) {
    const at = job.started ?? job.created;
    const when = Number.isFinite(at) ? new Date(at * 1000).toLocaleTimeString([], {hour: '2-digit', minute: '2-digit', hourCycle: 'h23'}) : '';
    return [when, Number.isFinite(job.seconds) && !isActive(job) ? seconds(job.seconds) : ''].filter(Boolean).join(' · ');
}

/* How much is done, from 0 to 1, where it is known. */
function shareOf(job) {
    const p = job.progress;
    if (!p || job.state === 'queued')
        return null;
    if (Number.isFinite(p.left) && p.seconds + p.left > 0)
        return p.seconds / (p.seconds + p.left);
    return null;
}

function tick(id, yes) {
    ticked[id] = yes;
    sessionStorage.setItem('spry-ticked', JSON.stringify(ticked));
    draw();
}

/* --- the list ---------------------------------------------------------------------------------*/

function makeCard(job) {
    const id = job.id;
    const card = {
        title: el('h3', {id: `job-${id}`}), pill: el('span', {className: 'state'}), when: el('span', {className: 'when'}), line: el('p', {className: 'line-of'}),
        bar: el('progress', {max: 1, 'aria-labelledby': `job-${id}`}), code: el('code', {tabIndex: 0}),
        cancel: el('button', {type: 'button', className: 'small', 'aria-label': `Cancel job ${id}`}, 'Cancel'),
        tick: el('input', {type: 'checkbox'}),
        x: el('a', {className: 'button small', href: `/api/jobs/${id}/x`, download: '', 'aria-label': `Download x of job ${id}`}, 'Download x'),
        report: el('a', {className: 'button small', href: `/api/jobs/${id}/report`, target: '_blank', rel: 'noopener'}, 'Open the report'),
        log: el('a', {className: 'button small', href: `/api/jobs/${id}/log`, target: '_blank', rel: 'noopener', 'aria-label': `Log of job ${id}`}, 'Log'),
        forget: el('button', {type: 'button', className: 'quiet', 'aria-label': `Forget job ${id}`}, 'Forget'),
        details: el('details', {className: 'record'}, el('summary', {}, 'All that was found')),
    };
    const copy = el('button', {type: 'button', className: 'quiet', 'aria-label': `Copy the command of job ${id}`}, 'Copy');
    card.ticking = el('label', {className: 'tick'}, card.tick, 'in the picture');
    copy.addEventListener('click', () => copyText(card.code.textContent, card.code));
    card.cancel.addEventListener('click', () => cancel(id));
    card.forget.addEventListener('click', () => forget(id));
    card.tick.addEventListener('change', () => tick(id, card.tick.checked));
    card.details.addEventListener('toggle', () => fillDetails(id, card));
    card.item = el('li', {className: 'job'},
                   el('div', {className: 'job-top'}, card.title, card.pill, card.when), card.line, card.bar,
                   el('div', {className: 'command'}, card.code, copy),
                   el('div', {className: 'actions'}, card.cancel, card.ticking, card.x, card.report, card.log, card.forget), card.details);
    card.item.dataset.id = id;
    return card;
}

async function fillDetails(id, card) {
    if (!card.details.open || card.filled)
        return;
    card.filled = true;
    const result = await resultOf(id);
    card.details.append(result ? recordOf(result) : el('p', {className: 'soft'}, 'The job left no record; its log may say why.'));
}

function updateCard(card, job) {
    const [word, kind] = stateOf(job), share = shareOf(job), active = isActive(job);
    setText(card.title, `${job.id}  ${titleOf(job)}${job.file !== state.file ? `, ${shownName(job.file)}` : ''}`);
    setText(card.pill, word);
    card.pill.className = `state ${kind}`;
    setText(card.when, whenOf(job));
    setText(card.line, lineOf(job));
    card.line.classList.toggle('soft', active);
    setText(card.code, job.command ?? '');
    card.bar.hidden = job.state !== 'running';
    if (share === null)
        card.bar.removeAttribute('value');
    else
        card.bar.value = share;
    if (!active && document.activeElement === card.cancel)
        card.log.focus();
    card.cancel.hidden = !active;
    card.log.hidden = job.state === 'queued';
    card.ticking.hidden = job.kind !== 'solve';
    card.tick.checked = slots.has(job.id);
    card.x.hidden = !job.has?.x;
    card.report.hidden = !job.has?.report;
    card.details.hidden = card.forget.hidden = active;
    if (!active && mine.has(job.id)) {
        mine.delete(job.id);
        card.details.open = job.kind === 'plan' || job.kind === 'tune';
    }
}

function drawList() {
    const list = byId('jobs'), more = byId('more-jobs');
    const wanted = inOrder().filter((job) => all || job.file === state.file);
    const most = more.dataset.all ? wanted.length : SHOWN;
    wanted.slice(0, most).forEach((job, k) => {
        if (!cards.has(job.id))
            cards.set(job.id, makeCard(job));
        const card = cards.get(job.id);
        if (list.children[k] !== card.item)
            list.insertBefore(card.item, list.children[k] ?? null);
        updateCard(card, job);
    });
    while (list.children.length > Math.min(wanted.length, most))
        list.lastChild.remove();
    more.hidden = wanted.length <= most;
    setText(more, `Show all ${wanted.length} jobs`);
    byId('jobs-part').hidden = state.jobs.size === 0;
}

/* --- the picture and the comparison -----------------------------------------------------------*/

/* Those that were ticked, and the newest of the chosen matrix unless they were not. Colours stay while a run is shown. */
function pick() {
    const solves = inOrder().filter((job) => job.kind === 'solve' && (all || job.file === state.file));
    const own = solves.filter((job) => job.file === state.file && job.state !== 'queued' && !(job.state === 'failed' && !curves.get(job.id)?.points.length));
    const byDefault = new Set(own.slice(0, BY_THEMSELVES).map((job) => job.id));
    const picked = solves.filter((job) => ticked[job.id] ?? byDefault.has(job.id)).slice(0, COLOURS);
    for (const id of [...slots.keys()])
        if (!picked.some((job) => job.id === id))
            slots.delete(id);
    for (const job of picked.toReversed())
        if (!slots.has(job.id))
            slots.set(job.id, [0, 1, 2, 3, 4, 5].find((k) => ![...slots.values()].includes(k)));
    return picked.toReversed();
}

const labelOf = (job) => shownName(`${job.id} ${methodOf(job)} + ${preconOf(job)}${job.file !== state.file ? ` (${job.file})` : ''}`);

/* Which line is which run; made again only where that has changed. */
function drawLegend(runs) {
    const legend = byId('legend'), key = JSON.stringify(runs.map(({label, colour}) => [label, colour]));
    if (legend.dataset.key === key)
        return;
    legend.dataset.key = key;
    legend.replaceChildren(...runs.map(({label, colour}) => el('li', {}, swatch(colour), label)));
}

function drawPicture() {
    const picked = pick();
    const part = byId('convergence');
    part.hidden = picked.length === 0;
    if (!picked.length)
        return;
    picked.forEach(loadCurve);
    const runs = picked.map((job) => ({
        label: labelOf(job), colour: slots.get(job.id), points: pointsOf(job), running: job.state === 'running',
        iterations: curveOf(job.id).points.at(-1)?.[0] ?? 0, tolerance: job.summary?.tolerance ?? job.tol ?? null, truth: job.summary?.true_residual ?? null,
    }));
    chart.show(runs, scale);
    drawLegend(runs);
    const ended = picked.filter((job) => job.state === 'done').map((job) => job.id);
    byId('chart-file').hidden = ended.length === 0;
    byId('chart-file').href = query('/api/compare', {ids: ended.join(',')});
}

/* The true residual is known when a run has ended; while it goes on there is the method's own alone. */
function runOf(job) {
    const s = job.summary ?? {}, p = job.progress ?? {}, active = isActive(job);
    return {
        id: number(job.id), file: job.file, method: methodOf(job), precon: preconOf(job), ended: active ? stateOf(job)[0] : s.reason ?? stateOf(job)[0],
        iterations: active ? p.iteration : s.iterations, residual: active ? p.residual : s.residual, true_residual: active ? null : s.true_residual,
        tolerance: s.tolerance ?? job.tol, choose_seconds: s.choose_seconds, setup_seconds: s.setup_seconds, solve_seconds: s.solve_seconds,
        memory_bytes: s.memory_bytes, format: s.format, device: s.device, command: job.command, converged: s.converged ?? null, colour: slots.get(job.id),
    };
}

function drawTable() {
    const solves = inOrder().filter((job) => job.kind === 'solve' && (all || job.file === state.file));
    byId('runs').hidden = solves.length === 0;
    table.show(solves.map(runOf), all);
}

function drawNow() {
    drawPicture(); // before the others, which show what is in it
    drawTable();
    drawList();
}

/* A stream that starts at the beginning brings thousands of lines at once. */
let waiting = false;
function draw() {
    if (waiting)
        return;
    waiting = true;
    requestAnimationFrame(() => {
        waiting = false;
        drawNow();
    });
}

export function startJobs() {
    chart = new Chart(byId('chart'), (zoomed) => { byId('chart-all').hidden = !zoomed; });
    byId('chart-all').addEventListener('click', () => {
        chart.zoom.reset();
        byId('chart').focus();
    });
    for (const button of byId('scale').children)
        button.addEventListener('click', () => {
            scale = button.value;
            for (const other of byId('scale').children)
                other.setAttribute('aria-pressed', String(other === button));
            draw();
        });
    table = new RunTable(byId('compare'), tick);
    byId('runs-csv').addEventListener('click', () => table.save());
    try {
        ticked = JSON.parse(sessionStorage.getItem('spry-ticked')) ?? {};
    } catch {
        ticked = {};
    }
    byId('all-jobs').addEventListener('change', (event) => {
        all = event.target.checked;
        draw();
    });
    byId('more-jobs').addEventListener('click', (event) => {
        event.target.dataset.all = 'yes';
        draw();
    });
    document.addEventListener('visibilitychange', followAll);
    on('chosen', drawNow);
}
