// The form of a solve: what can be chosen, options of what was chosen, and the method's text, which may be changed.
import {api, byId, el, on, say, setText, shownName, state} from './tools.js';
import {begin} from './jobs.js';

const SHORT_WAIT = 350; // ms without a key, before a text is looked at
let original = '', timer = 0, asked = 0;

function choices(select, entries) {
    const old = select.value;
    select.replaceChildren(...entries);
    if ([...select.options].some((option) => option.value === old))
        select.value = old;
}

const option = (value, text) => el('option', {value}, text);

function fillRhs() {
    const others = (kind) => state.files.filter((file) => file.kind === kind && file.name !== state.file)
                                 .map((file) => option(file.name, shownName(file.name)));
    const groups = [['Vectors', others('vector')], ['Other files', others('matrix')]].filter(([, list]) => list.length)
                       .map(([label, list]) => el('optgroup', {label}, ...list));
    choices(byId('rhs'), [option('', 'all ones'), ...groups]);
}

/* --- options of a method or a preconditioner --------------------------------------------------*/

function optionField(name, facts) {
    const initial = facts.default ?? '';
    const attributes = {'data-option': name, title: facts.help ?? ''};
    let field;
    if (facts.kind === 'word' || facts.kind === 'bool') {
        const words = facts.kind === 'bool' ? ['yes', 'no'] : facts.words ?? [];
        field = el('select', attributes, option('', `${initial || 'default'} (default)`), ...words.map((word) => option(word, word)));
    } else {
        field = el('input', {...attributes, placeholder: initial, inputMode: facts.kind === 'int' ? 'numeric' : 'text', spellcheck: false});
    }
    return el('label', {className: 'field'}, el('span', {}, name), field, el('span', {className: 'soft help'}, facts.help ?? ''));
}

function showOptions(place, entry) {
    const options = Object.entries(entry?.options ?? {});
    place.hidden = options.length === 0;
    place.querySelector('.fields').replaceChildren(...options.map(([name, facts]) => optionField(name, facts)));
    setText(place.querySelector('summary'), entry ? `Options of ${entry.name}` : '');
}

function specOf(select, place) {
    const options = [...place.querySelectorAll('[data-option]')].filter((field) => field.value.trim() !== '')
                        .map((field) => `${field.dataset.option}=${field.value.trim()}`);
    return options.length ? `${select.value}:${options.join(',')}` : select.value;
}

const entryOf = (list, name) => state.lists[list]?.find((entry) => entry.name === name);

function sentence(entry) {
    if (!entry)
        return '';
    return `${entry.name}: ${entry.summary ?? ''}${entry.purpose ? `, for ${entry.purpose}` : ''}.`;
}

function methodChanged() {
    const entry = entryOf('methods', byId('method').value);
    setText(byId('method-help'), sentence(entry));
    showOptions(byId('method-options'), entry);
    if (byId('own').open)
        loadText();
}

function preconChanged() {
    const entry = entryOf('precons', byId('precon').value);
    setText(byId('precon-help'), sentence(entry));
    showOptions(byId('precon-options'), entry);
    if (byId('own').open)
        look();
}

function fillLists() {
    const named = (list) => (state.lists[list] ?? []).map((entry) => option(entry.name, entry.summary ? `${entry.name}: ${entry.summary}` : entry.name));
    choices(byId('method'), [option('auto', 'auto: chosen for A'), ...named('methods')]);
    choices(byId('precon'), [option('auto', 'auto: chosen for A'), ...named('precons')]);
    const devices = (state.lists.devices ?? []).filter((device) => device.usable !== false).map((device) => device.device);
    choices(byId('device'), [option('auto', 'auto'), ...(devices.length ? devices : ['cpu']).map((name) => option(name, name))]);
    methodChanged();
    preconChanged();
}

/* --- the method's text ------------------------------------------------------------------------*/

const isOwnText = () => byId('text').value.trim() !== '' && byId('text').value !== original;

function textSaid(text, bad) {
    setText(byId('text-said'), text);
    byId('text-said').classList.toggle('bad', bad);
    byId('text').setAttribute('aria-invalid', String(bad));
}

function showUse() {
    byId('text-used').hidden = !isOwnText();
    byId('text-back').disabled = !isOwnText();
    byId('method').disabled = isOwnText();
}

function showSweeps(answer) {
    const picture = byId('sweeps-picture');
    const all = answer.sweeps ?? '';
    setText(byId('sweeps'), all.slice(Math.max(0, all.indexOf('the loop as it runs')))); // the text before it is shown next to it
    picture.hidden = !answer.svg;
    if (answer.svg) {
        picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(answer.svg)}`;
        picture.alt = 'The loop as it is written and as it runs; the text below says the same';
    }
}

/* Answers may overtake each other: the last question counts. A faulty text leaves the sweeps of the last good one. */
async function ask(body) {
    const mine = ++asked;
    try {
        const answer = await api('/api/explain', {method: 'POST', body: {...body, precon: specOf(byId('precon'), byId('precon-options'))}});
        if (mine !== asked)
            return null;
        const place = answer.line ? `line ${answer.line}${answer.column ? `, column ${answer.column}` : ''}: ` : '';
        textSaid(answer.error ? `${answer.error.includes(`${answer.line}:`) ? '' : place}${answer.error}` : isOwnText() ? 'Understood. Solve uses this text.' : '', Boolean(answer.error));
        if (!answer.error)
            showSweeps(answer);
        return answer;
    } catch (problem) {
        if (mine === asked)
            textSaid(problem.message, true);
        return null;
    }
}

async function loadText() {
    if (isOwnText())
        return;
    const method = byId('method').value === 'auto' ? 'cg' : byId('method').value;
    const answer = await ask({method: method === byId('method').value ? specOf(byId('method'), byId('method-options')) : method});
    if (!answer || answer.error)
        return;
    original = answer.text ?? '';
    byId('text').value = original;
    setText(byId('text-label'), `The method as it is written: ${method}`);
    showUse();
}

function look() {
    if (isOwnText())
        ask({text: byId('text').value});
    else
        loadText();
}

/* --- jobs -------------------------------------------------------------------------------------*/

function wrong(text, field) {
    setText(byId('form-wrong'), text);
    byId('form-wrong').hidden = !text;
    for (const it of [byId('tol'), byId('max-iter')])
        it.setAttribute('aria-invalid', String(it === field));
    field?.focus();
}

function read(id, isGood, what) {
    const text = byId(id).value.trim();
    if (text === '')
        return null;
    const value = Number(text);
    if (!isGood(value)) {
        wrong(`${what} is ${text}`, byId(id));
        throw new Error('field');
    }
    return value;
}

function jobOf(kind) {
    wrong('');
    return {
        kind, file: state.file, rhs: byId('rhs').value || null,
        method: isOwnText() ? null : specOf(byId('method'), byId('method-options')),
        precon: specOf(byId('precon'), byId('precon-options')),
        tol: read('tol', (v) => v > 0 && v < 1, 'The tolerance is a number between 0 and 1, such as 1e-8; it'),
        max_iter: read('max-iter', (v) => Number.isInteger(v) && v > 0, 'Iterations are a whole number above 0; it'),
        device: byId('device').value, text: isOwnText() ? byId('text').value : null,
    };
}

async function start(kind, button) {
    let job;
    try {
        job = jobOf(kind);
    } catch {
        return;
    }
    button.disabled = true;
    try {
        await begin(job);
        byId(kind === 'solve' ? 'convergence' : 'jobs-part').scrollIntoView({block: 'nearest'});
    } catch (problem) {
        wrong(problem.message);
    } finally {
        button.disabled = false;
        button.focus({preventScroll: true});
    }
}

export async function startForm() {
    byId('method').addEventListener('change', methodChanged);
    byId('precon').addEventListener('change', preconChanged);
    byId('own').addEventListener('toggle', () => {
        if (byId('own').open && !byId('text').value)
            loadText();
    });
    byId('text').addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(look, SHORT_WAIT);
        showUse();
    });
    byId('text-back').addEventListener('click', () => {
        byId('text').value = original;
        showUse();
        look();
        byId('text').focus();
    });
    byId('form').addEventListener('submit', (event) => {
        event.preventDefault();
        start('solve', byId('do-solve'));
    });
    for (const button of document.querySelectorAll('[data-kind]'))
        button.addEventListener('click', () => start(button.dataset.kind, button));
    on('chosen', () => {
        byId('solve').hidden = false;
        fillRhs();
    });
    on('files', fillRhs);
    fillLists();
    try {
        state.lists = await api('/api/lists');
        for (const button of document.querySelectorAll('[data-kind]'))
            button.hidden = !(state.lists.kinds?.includes(button.dataset.kind) ?? true);
        fillLists();
    } catch (problem) {
        say(problem.message);
    }
}
