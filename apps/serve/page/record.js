// A record of JSON as tables: whatever a command has to say, without knowing which command it was.
import {bytes, count, el, residual, seconds} from './tools.js';

const HIDDEN = new Set(['history', 'file']); // the curve is in the picture, the file in the title

function written(key, value) {
    if (value === null || value === undefined || value === '')
        return '-';
    if (typeof value === 'boolean')
        return value ? 'yes' : 'no';
    if (typeof value !== 'number')
        return String(value);
    if (/seconds$/.test(key))
        return seconds(value);
    if (/bytes|memory_limit/.test(key))
        return bytes(value);
    if (Number.isInteger(value) && Math.abs(value) < 1e15)
        return count(value);
    return Math.abs(value) >= 1e-3 && Math.abs(value) < 1e6 ? String(Number(value.toPrecision(4))) : residual(value);
}

const words = (key) => key.replaceAll('_', ' ');
const isPlain = (value) => value === null || typeof value !== 'object';

export function findingsOf(findings) {
    if (!findings.length)
        return [el('p', {}, 'Nothing stands in the way.')];
    return findings.map((finding) =>
        el('article', {className: `finding ${['error', 'warning', 'note'].includes(finding.severity) ? finding.severity : ''}`},
           el('h4', {}, el('span', {className: 'severity'}, finding.severity), ` ${finding.code}`),
           el('p', {}, finding.text), finding.cause ? el('p', {className: 'soft'}, finding.cause) : null,
           finding.next ? el('p', {}, finding.figures?.next_residual === undefined && finding.next.startsWith('spry solve ') ? 'May help: ' : 'Next: ', el('code', {}, finding.next)) : null));
}

function tableOf(rows) {
    const keys = [...new Set(rows.flatMap(Object.keys))].filter((key) => rows.some((row) => isPlain(row[key])));
    const kind = (value) => ({className: typeof value === 'number' ? 'n' : ''});
    return el('div', {className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'table'},
              el('table', {}, el('thead', {}, el('tr', {}, ...keys.map((key) => el('th', {scope: 'col', ...kind(rows.find((row) => row[key] !== null)?.[key])}, words(key))))),
                 el('tbody', {}, ...rows.map((row) => el('tr', {}, ...keys.map((key) => el('td', kind(row[key]), written(key, row[key]))))))));
}

function listOf(values) {
    if (values.every((value) => value !== null && typeof value === 'object' && !Array.isArray(value)))
        return tableOf(values);
    return el('ul', {}, ...values.map((value) => el('li', {}, isPlain(value) ? written('', value) : recordOf(value))));
}

export function recordOf(record, depth = 0) {
    const plain = el('dl'), rest = [];
    for (const [key, value] of Object.entries(record)) {
        if (HIDDEN.has(key) || (Array.isArray(value) && !value.length))
            continue;
        if (isPlain(value))
            plain.append(el('div', {className: String(value).length > 40 ? 'long' : ''}, el('dt', {}, words(key)), el('dd', {}, written(key, value))));
        else if (depth < 3)
            rest.push(el('h4', {}, words(key)),
                      ...(key === 'findings' ? findingsOf(value) : [Array.isArray(value) ? listOf(value) : recordOf(value, depth + 1)]));
    }
    return el('div', {}, plain, ...rest);
}
