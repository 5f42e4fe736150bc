// What all parts of the page use: elements, requests, numbers as people read them, messages, and events between parts.
export const byId = (id) => document.getElementById(id);

/* Texts become text nodes, never markup, and show all they have: names of files come from others. */
const nodeOf = (child) => child instanceof Node ? child : shownName(child);

/* An element with its properties. */
export function el(name, properties = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (key in element && !key.includes('-'))
            element[key] = value;
        else
            element.setAttribute(key, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined).map(nodeOf));
    return element;
}

export function setText(element, text) {
    const shown = shownName(text);
    if (element.textContent !== shown)
        element.textContent = shown;
}

/* --- what is shared ---------------------------------------------------------------------------*/

export const state = {
    file: null,      // the name of the chosen matrix
    files: [],       // as /api/files has them
    jobs: new Map(), // id -> record as /api/jobs has it
    lists: {methods: [], precons: [], devices: []},
};
const bus = new EventTarget();
export const on = (name, act) => bus.addEventListener(name, (event) => act(event.detail));
export const emit = (name, detail) => bus.dispatchEvent(new CustomEvent(name, {detail}));

/* --- requests ---------------------------------------------------------------------------------*/

export class Problem extends Error {
    constructor(status, message) {
        super(message);
        this.status = status;
    }
}

/* What the server answers to a failed request, or why there is no answer. */
export function problemOf(status, text) {
    let message = '';
    try {
        message = JSON.parse(text).error ?? '';
    } catch {
        message = '';
    }
    if (status === 401)
        emit('locked');
    return new Problem(status, message || (status ? `the server answered ${status}` : 'the server cannot be reached: is spry serve still running?'));
}

export async function api(path, {method = 'GET', body} = {}) {
    const headers = {'X-Spry': '1'};
    if (body !== undefined)
        headers['Content-Type'] = 'application/json';
    let answer, text;
    try {
        answer = await fetch(path, {method, headers, body: body === undefined ? undefined : JSON.stringify(body)});
        text = await answer.text();
    } catch {
        emit('lost');
        throw problemOf(0, '');
    }
    emit('reached');
    if (!answer.ok)
        throw problemOf(answer.status, text);
    try {
        return text ? JSON.parse(text) : {};
    } catch {
        throw new Problem(answer.status, 'the server answered something that is no JSON');
    }
}

export const query = (path, parameters) => `${path}?${new URLSearchParams(parameters)}`;

/* --- numbers and names ------------------------------------------------------------------------*/

/* Characters that are not seen, or turn the order of others around, as \u202e; lines and tabs stay. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

export function shownName(name) {
    return String(name).replace(UNSEEN, (c) => `\\u${c.codePointAt(0).toString(16).padStart(4, '0')}`);
}

export const count = (n) => Number.isFinite(n) ? n.toLocaleString('en') : '-';

function withUnit(value, unit) {
    return `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ${unit}`;
}

export function bytes(n) {
    if (!Number.isFinite(n))
        return '-';
    let k = 0;
    for (; n >= 1000 && k < 5; k++)
        n /= 1000;
    return k ? withUnit(n, ['', 'kB', 'MB', 'GB', 'TB', 'PB'][k]) : `${n} B`;
}

export function seconds(s) {
    if (!Number.isFinite(s))
        return '-';
    if (s === 0)
        return '0 s';
    if (s >= 3600)
        return `${Math.floor(s / 3600)} h ${Math.round(s % 3600 / 60)} min`;
    if (s >= 60)
        return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
    return s >= 1 ? withUnit(s, 's') : s >= 1e-3 ? withUnit(1e3 * s, 'ms') : withUnit(1e6 * s, 'µs');
}

export const several = (n, word) => `${count(n)} ${word}${n === 1 ? '' : 's'}`;

export const residual = (r) => Number.isFinite(r) ? r.toExponential(2) : '-';

/* --- messages ---------------------------------------------------------------------------------*/

let quiet = 0;
export function say(text) {
    const toast = byId('toast');
    clearTimeout(quiet);
    toast.textContent = shownName(text);
    quiet = setTimeout(() => { toast.textContent = ''; }, 7000);
}

/* Whether the person wants what cannot be undone. */
export function askSure(title, text, yes) {
    const dialog = byId('sure');
    setText(byId('sure-title'), title);
    setText(byId('sure-text'), text);
    setText(byId('sure-yes'), yes);
    dialog.returnValue = 'no';
    dialog.showModal();
    return new Promise((resolve) => dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), {once: true}));
}

export async function copyText(text, from) {
    try {
        await navigator.clipboard.writeText(text);
    } catch { // not by this address, or not allowed: by what is selected
        getSelection().selectAllChildren(from);
        document.execCommand('copy');
    }
    say('Copied.');
}
