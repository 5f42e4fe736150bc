// The chosen matrix: its picture, what it is, and what the doctor finds.
import {api, byId, count, el, on, query, say, setText, shownName, state} from './tools.js';
import {begin, newest, resultOf} from './jobs.js';
import {findingsOf} from './record.js';
import {Zoom} from './zoom.js';

const TYPES = {s: 'real, single', d: 'real, double', c: 'complex, single', z: 'complex, double'};

const FACTS = ['entries', 'per row', 'numbers', 'symmetry', 'bandwidth', 'diagonal'];
const fact = (name, value) => el('div', {}, el('dt', {}, name), el('dd', {}, value));

function symmetryOf(info) {
    if (info.rows !== info.cols)
        return 'not square';
    const complex = info.type === 'c' || info.type === 'z';
    if (info.hermitian)
        return complex ? 'hermitian' : 'symmetric';
    return info.symmetric ? 'complex symmetric' : info.skew ? 'skew' : info.pattern_symmetry === 1 ? 'of the pattern alone' : 'none';
}

function showInfo(info) {
    const bands = info.lower_bandwidth === info.upper_bandwidth ? count(info.lower_bandwidth)
                                                               : `${count(info.lower_bandwidth)} below, ${count(info.upper_bandwidth)} above`;
    setText(byId('matrix-line'), `${count(info.rows)} x ${count(info.cols)}`);
    const values = [
        count(info.nnz), info.row_min === info.row_max ? count(info.row_min) : `${count(info.row_min)} to ${count(info.row_max)}`,
        TYPES[info.type] ?? info.type, symmetryOf(info), bands,
        info.missing_diagonal + info.zero_diagonal ? `${count(info.missing_diagonal + info.zero_diagonal)} zeros` : 'whole',
    ];
    byId('facts').replaceChildren(...FACTS.map((word, k) => fact(word, values[k])));
    setText(byId('advice'), info.advice ? String(info.advice) : '');
    byId('spy').alt = `Where the ${count(info.nnz)} entries of ${shownName(state.file)} are: ${count(info.rows)} rows, ${count(info.cols)} columns`;
}

/* --- its picture ------------------------------------------------------------------------------*/

const CELLS = 600, FINEST = 4096; // along a side: of the whole, and the most that the server counts
let zoom = null, pictured = null;

/* A part is drawn from as many cells as it has pixels, so that there is more to see in it. */
function pictureOf({size}) {
    const cells = Math.min(CELLS * 2 ** Math.floor(Math.log2(1 / size) + 1e-9), FINEST);
    return query('/api/spy', {file: pictured.name, size: cells, of: pictured.modified ?? ''}); // a file that has changed is another picture
}

let wanted = '';
function showPart(view) {
    const picture = byId('spy'), address = pictureOf(view), fine = new Image();
    picture.style.transform = view.size < 1 ? `scale(${1 / view.size}) translate(${-100 * view.x}%, ${-100 * view.y}%)` : '';
    if (address === wanted)
        return;
    wanted = address;
    fine.addEventListener('load', () => { // until then the coarse one is shown
        if (address === wanted)
            picture.src = address;
    });
    fine.src = address;
}

function showWrong(text) {
    setText(byId('matrix-wrong'), text);
    byId('matrix-wrong').hidden = !text;
}

async function show({name, modified}) {
    const figure = byId('spy-figure'), picture = byId('spy');
    byId('welcome').hidden = true;
    byId('matrix').hidden = false;
    setText(byId('matrix-name'), shownName(name));
    setText(byId('matrix-line'), '');
    byId('facts').replaceChildren(...FACTS.map((word) => fact(word, '…'))); // the room they will take, so that nothing moves
    setText(byId('advice'), '…');
    showWrong('');
    figure.hidden = false;
    figure.classList.add('waiting');
    picture.alt = '';
    pictured = {name, modified};
    zoom.view = {x: 0, y: 0, size: 1};
    wanted = pictureOf(zoom.view);
    picture.src = wanted;
    zoom.reset();
    showDoctor();
    try {
        const info = await api(query('/api/info', {file: name}));
        if (state.file === name)
            showInfo(info);
    } catch (problem) {
        if (state.file !== name)
            return;
        showWrong(problem.message);
        byId('facts').replaceChildren();
        setText(byId('advice'), '');
    }
}

/* --- the doctor -------------------------------------------------------------------------------*/

let shownDoctor = '';
async function showDoctor() {
    const job = newest('doctor', state.file);
    const place = byId('findings');
    const key = job ? `${state.file}/${job.id}/${job.state}` : `${state.file}/`;
    if (key === shownDoctor)
        return;
    shownDoctor = key;
    byId('ask-doctor').disabled = job?.state === 'queued' || job?.state === 'running';
    if (!job)
        place.replaceChildren(el('p', {className: 'soft'}, 'Not asked yet. It takes a few seconds.'));
    else if (job.state === 'queued' || job.state === 'running')
        place.replaceChildren(el('p', {className: 'soft'}, job.state === 'queued' ? 'Waits for its turn.' : 'The doctor is looking.'));
    else if (job.state !== 'done')
        place.replaceChildren(el('p', {className: 'soft'}, job.message || 'The doctor did not come to an end.'));
    else {
        const result = await resultOf(job.id);
        if (key === shownDoctor)
            place.replaceChildren(...(result ? findingsOf(result.findings ?? []) : [el('p', {className: 'soft'}, 'What was found is lost; ask again.')]));
    }
}

export function startMatrix() {
    const picture = byId('spy');
    zoom = new Zoom(byId('spy-frame'), {least: 1 / 32, changed: showPart});
    picture.addEventListener('load', () => byId('spy-figure').classList.remove('waiting'));
    picture.addEventListener('error', () => { byId('spy-figure').hidden = true; });
    byId('ask-doctor').addEventListener('click', async () => {
        try {
            await begin({kind: 'doctor', file: state.file});
        } catch (problem) {
            say(problem.message);
        }
    });
    on('chosen', show);
    on('jobs', () => {
        if (state.file !== null)
            showDoctor();
    });
}
