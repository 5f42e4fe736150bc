// When the iterations of a run were, from lines of its progress and what its record says.

/* Seconds are those of choosing, set-up and solving: reading the file is before. */
export class Clock {
    constructor() {
        this.begun = null; // seconds of the first line that was not reading
        this.marks = [];   // [iteration, seconds]
        this.whole = false;
        this.known = {};
    }

    take({phase, iteration, seconds}) {
        if (!Number.isFinite(seconds) || phase === 'read')
            return;
        this.begun ??= seconds;
        if (phase !== 'iterate' || !Number.isFinite(iteration))
            return;
        if (this.marks.length && iteration <= this.marks.at(-1)[0]) {
            if (seconds <= this.marks.at(-1)[1])
                return; // a line that came again
            this.marks = []; // another attempt
        }
        this.marks.push([iteration, seconds]);
    }

    /* What is known for sure, in order: where iterations began, lines on the way, and where they ended. */
    anchors(first, last, s) {
        const ready = (s?.choose_seconds ?? 0) + (s?.setup_seconds ?? 0), end = ready + (s?.solve_seconds ?? NaN);
        const marks = this.marks.map(([iteration, seconds]) => [iteration, seconds - this.begun]);
        const found = [[first, s ? ready : marks[0]?.[1] ?? 0]];
        for (const mark of [...marks, [last, end]])
            if (mark[0] > found.at(-1)[0] && mark[1] >= found.at(-1)[1] && !(mark[1] > end))
                found.push(mark);
        return found;
    }

    /* Points [iteration, residual] as [seconds, residual]; between two anchors iterations take equally long. */
    timed(points, summary) {
        const key = `${points.length}/${points.at(-1)?.[0]}/${this.marks.length}/${summary?.solve_seconds}`;
        if (this.known.key === key || !points.length)
            return points.length ? this.known.points : [];
        const anchors = this.anchors(points[0][0], points.at(-1)[0], summary);
        let k = 0;
        this.known = {key, points: points.map(([iteration, r]) => {
            while (k < anchors.length - 2 && anchors[k + 1][0] < iteration)
                k++;
            const [i0, t0] = anchors[k], [i1, t1] = anchors[k + 1] ?? anchors[k];
            return [i1 > i0 ? t0 + (iteration - i0) / (i1 - i0) * (t1 - t0) : t0, r];
        })};
        return this.known.points;
    }
}
