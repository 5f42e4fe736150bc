// The files of the folder: the list, uploads, and the one that is chosen.
import {api, askSure, byId, bytes, el, problemOf, query, say, setText, shownName, state, emit} from './tools.js';

const MANY = 12; // files, from which on one can look for a name

function button(file) {
    const it = el('button', {type: 'button', className: 'file', title: shownName(file.name)},
                  el('bdi', {}, shownName(file.name)), el('small', {}, bytes(file.bytes)));
    it.addEventListener('click', () => choose(file.name, true));
    it.dataset.name = file.name;
    return it;
}

/* Made again only where something has changed, so that the focus stays where it is. */
function fill(list, files, make) {
    const key = JSON.stringify(files);
    if (list.dataset.key === key)
        return;
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.name : null;
    list.dataset.key = key;
    list.replaceChildren(...files.map((file) => el('li', {}, make(file))));
    if (focused !== null)
        [...list.querySelectorAll('button')].find((it) => it.dataset.name === focused)?.focus();
}

function draw() {
    const wanted = byId('filter').value.toLowerCase();
    const matrices = state.files.filter((file) => file.kind === 'matrix');
    const others = state.files.filter((file) => file.kind !== 'matrix');
    byId('filter-field').hidden = matrices.length < MANY;
    byId('no-files').hidden = matrices.length > 0;
    fill(byId('files'), matrices.filter((file) => file.name.toLowerCase().includes(wanted)), button);
    byId('others').hidden = others.length === 0;
    fill(byId('other-files'), others, (file) => el('span', {className: 'file'}, el('bdi', {}, shownName(file.name)), el('small', {}, bytes(file.bytes))));
    for (const it of byId('files').querySelectorAll('button'))
        it.setAttribute('aria-current', String(it.dataset.name === state.file));
}

let chosenAt = null;
const modifiedOf = (name) => state.files.find((file) => file.name === name)?.modified;

/* The chosen file stands in the address, so that a reload keeps it. */
export function choose(name, byHand = false) {
    const modified = modifiedOf(name);
    if (name !== state.file || modified !== chosenAt) {
        state.file = name;
        chosenAt = modified;
        history.replaceState(null, '', `#${encodeURIComponent(name)}`);
        document.title = `${shownName(name)} - spry`;
        emit('chosen', {name, modified});
    }
    draw();
    if (byHand) {
        byId('matrix').scrollIntoView({block: 'nearest'});
        byId('matrix-title').focus({preventScroll: true});
    }
}

export async function refreshFiles() {
    const {folder, files} = await api('/api/files');
    state.files = files;
    setText(byId('folder'), shownName(folder));
    draw();
    emit('files');
    if (state.file !== null && modifiedOf(state.file) !== undefined)
        choose(state.file); // another program may have written it again
}

/* --- uploads ----------------------------------------------------------------------------------*/

function send(file, replace) {
    const bar = el('progress', {max: 1, value: 0, 'aria-label': `Sending ${shownName(file.name)}`});
    const stop = el('button', {type: 'button', className: 'quiet'}, 'Stop');
    const line = el('div', {className: 'upload'}, el('div', {className: 'row'}, el('bdi', {}, shownName(file.name)), stop), bar);
    const request = new XMLHttpRequest(); // fetch does not report how far it is
    byId('uploads').append(line);
    return new Promise((resolve, reject) => {
        stop.addEventListener('click', () => request.abort());
        request.upload.addEventListener('progress', (event) => {
            if (event.lengthComputable && event.total)
                bar.value = event.loaded / event.total;
        });
        request.addEventListener('load', () => request.status < 300 ? resolve() : reject(problemOf(request.status, request.responseText)));
        request.addEventListener('error', () => reject(problemOf(0, '')));
        request.addEventListener('abort', () => reject(new Error('stopped')));
        request.open('POST', query('/api/files', replace ? {name: file.name, replace: 1} : {name: file.name}));
        request.setRequestHeader('X-Spry', '1');
        request.send(file);
    }).finally(() => line.remove());
}

async function add(file) {
    try {
        await send(file, false);
    } catch (problem) {
        if (problem.status !== 409 || !await askSure('Replace the file?', `${shownName(file.name)} is in the folder already.`, 'Replace it'))
            throw problem.status === 409 ? new Error('the old one is kept') : problem;
        await send(file, true);
    }
}

async function addAll(files) {
    for (const file of files) {
        try {
            await add(file);
            say(`${shownName(file.name)} is in the folder.`);
            await refreshFiles();
            if (state.files.some((known) => known.name === file.name && known.kind === 'matrix'))
                choose(file.name, true);
        } catch (problem) {
            say(`${shownName(file.name)}: ${problem.message}`);
        }
    }
}

export function startFiles() {
    const upload = byId('upload'), over = byId('over');
    upload.addEventListener('change', () => {
        addAll([...upload.files]);
        upload.value = '';
    });
    byId('filter').addEventListener('input', draw);
    const holdsFiles = (event) => event.dataTransfer?.types.includes('Files');
    addEventListener('dragover', (event) => {
        if (!holdsFiles(event))
            return;
        event.preventDefault();
        over.hidden = false;
    });
    addEventListener('dragleave', (event) => {
        if (!event.relatedTarget)
            over.hidden = true;
    });
    addEventListener('drop', (event) => {
        over.hidden = true;
        if (!holdsFiles(event))
            return;
        event.preventDefault();
        addAll([...event.dataTransfer.files]);
    });
}
