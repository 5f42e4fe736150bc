// The page of `spry serve`: what begins when, and what is asked again from time to time.
import {byId, on, say, setText, state} from './tools.js';
import {choose, refreshFiles, startFiles} from './files.js';
import {refreshJobs, startJobs} from './jobs.js';
import {startForm} from './form.js';
import {startMatrix} from './matrix.js';

const BUSY = 1500, IDLE = 5000; // ms between questions
let locked = false;

function showLink(text, lost) {
    setText(byId('link'), text);
    byId('link').classList.toggle('lost', lost);
}

on('lost', () => locked || showLink('server not reached', true));
on('reached', () => locked || showLink('connected', false));
on('locked', () => {
    locked = true;
    showLink('locked', true);
    setText(byId('banner'), 'The server does not know this browser: it may have been started anew. Open the address that spry serve has printed in its terminal, or reload this page and sign in.');
    byId('banner').hidden = false;
});

/* Files come from elsewhere, jobs from other tabs. Nothing is requested while the page is hidden. */
async function watch(refresh, wait) {
    if (document.visibilityState === 'visible')
        await refresh().catch(() => {}); // said by the link's state, and tried again
    if (!locked)
        setTimeout(() => watch(refresh, wait), wait());
}

const isBusy = () => [...state.jobs.values()].some((job) => job.state === 'queued' || job.state === 'running');

function chosenByAddress() {
    try {
        const name = decodeURIComponent(location.hash.slice(1));
        if (state.files.some((file) => file.name === name && file.kind === 'matrix'))
            choose(name);
    } catch {
        return; // an address that someone has cut
    }
}

startFiles();
startJobs();
startMatrix();
startForm();
try {
    await refreshFiles();
    chosenByAddress();
} catch (problem) {
    say(problem.message);
}
addEventListener('hashchange', chosenByAddress);
watch(refreshJobs, () => isBusy() ? BUSY : IDLE);
watch(refreshFiles, () => IDLE);
