/* What goes on: on the standard error, as a line on a terminal, or as objects of JSON. */
#include "output.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Seconds between two drawings, and between two objects. */
static const double drawing = 0.1, reporting = 0.05;

/* The clock: a thread of the one line that a program has. What it reads and writes is under the
 * lock, which whoever changes the line takes. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t end;
    pthread_t thread;
    progress *line; /* NULL: it does not go */
    bool drawn;     /* there is a line on the terminal */
} ticks = {.lock = PTHREAD_MUTEX_INITIALIZER, .end = PTHREAD_COND_INITIALIZER};

void progress_start_as(progress *p, int how, bool quiet, double tol)
{
    memset(p, 0, sizeof *p);
    p->json = how == PROGRESS_JSON && !ranks_silent();
    p->shown = how == PROGRESS_AUTO && !quiet && isatty(STDERR_FILENO);
    p->start = cli_clock();
    p->target = log10(tol);
    p->residual = p->rate = p->left = NAN;
}

void progress_start(progress *p, bool quiet, double tol)
{
    progress_start_as(p, PROGRESS_AUTO, quiet, tol);
}

/* Draws over the last line, cut to the terminal's width so that it stays one line. */
static void draw(const char *text)
{
    struct winsize size = {0};
    int width = 79;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
        width = size.ws_col - 1;
    fprintf(stderr, "\r%.*s\033[K", width, text);
    fflush(stderr);
    ticks.drawn = true;
}

/* The state as an object, written at once: others write there, too. Without memory it is not. */
static void put_object(progress *p)
{
    static const char *const phases[] = {"read", "check", "tune", "setup", "iterate", "finish"};
    char *text = NULL;
    size_t length = 0;
    json j = {.out = open_memstream(&text, &length), .flat = true};
    p->unprinted = false;
    p->last = cli_clock();
    if (!j.out)
        return;
    json_open(&j, NULL, '{');
    json_text(&j, "phase", phases[p->phase]);
    json_int(&j, "iteration", p->iteration);
    json_real(&j, "residual", p->residual);
    json_real(&j, "rate", p->rate);
    json_real(&j, "seconds", p->last - p->start);
    json_real(&j, "left", p->left);
    json_text(&j, "method", *p->method ? p->method : NULL);
    json_text(&j, "precon", *p->precon ? p->precon : NULL);
    json_close(&j, '}');
    if (fclose(j.out) == 0)
        fwrite(text, 1, length, stderr);
    fflush(stderr);
    free(text);
}

static void draw_step(progress *p, double now);

/* What is at work, once more, with the seconds it has taken. */
static void tick(progress *p)
{
    char text[128];
    const double now = cli_clock();
    if (now - p->last < 0.9)
        return;
    if (p->json) {
        put_object(p);
    } else if (p->phase == PHASE_ITERATE) {
        p->left = fmax(p->left - (now - p->last), 0); /* NAN stays */
        draw_step(p, now);
    } else {
        snprintf(text, sizeof text, "%s  %.0f s", p->note, now - p->since);
        draw(text);
        p->last = now;
    }
}

static void *run_ticks(void *data)
{
    progress *p = data;
    pthread_mutex_lock(&ticks.lock);
    while (ticks.line == p) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        if (pthread_cond_timedwait(&ticks.end, &ticks.lock, &until) == ETIMEDOUT && ticks.line == p)
            tick(p);
    }
    pthread_mutex_unlock(&ticks.lock);
    return NULL;
}

/* Without a thread for it the line stands still in between. */
static void start_ticks(progress *p)
{
    sigset_t everything, before;
    if (ticks.line)
        return;
    ticks.line = p;
    sigfillset(&everything); /* signals are for who works */
    pthread_sigmask(SIG_SETMASK, &everything, &before);
    if (pthread_create(&ticks.thread, NULL, run_ticks, p) != 0)
        ticks.line = NULL;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop_ticks(const progress *p)
{
    pthread_mutex_lock(&ticks.lock);
    const bool goes = ticks.line == p;
    if (goes) {
        ticks.line = NULL;
        pthread_cond_signal(&ticks.end);
    }
    pthread_mutex_unlock(&ticks.lock);
    if (goes)
        pthread_join(ticks.thread, NULL);
}

void progress_note(progress *p, progress_phase phase, const char *text)
{
    if (!p->shown && !p->json)
        return;
    pthread_mutex_lock(&ticks.lock);
    if (p->json && p->unprinted)
        put_object(p);
    p->phase = phase;
    p->left = NAN;
    p->since = cli_clock();
    snprintf(p->note, sizeof p->note, "%s", text);
    if (p->json)
        put_object(p);
    else
        draw(text);
    start_ticks(p);
    pthread_mutex_unlock(&ticks.lock);
}

void progress_names(progress *p, const char *method, const char *precon)
{
    pthread_mutex_lock(&ticks.lock);
    snprintf(p->method, sizeof p->method, "%s", method);
    snprintf(p->precon, sizeof p->precon, "%s", precon);
    pthread_mutex_unlock(&ticks.lock);
}

/* The rate over the last half, and the seconds that are left if the residual keeps falling so; no
 * more than those until the iterations end. */
static void look_ahead(progress *p, double level, double now)
{
    const double steps = (double)(p->iteration - p->old.iteration);
    const double fall = steps > 0 ? (p->old.log - level) / steps : NAN;
    const double done = (double)(p->iteration - p->first.iteration);
    const double each = done > 0 ? (now - p->first.seconds) / done : NAN;
    const double needed = fall > 0 ? fmax(level - p->target, 0) / fall : NAN;
    const double allowed = p->most > 0 ? fmax((double)(p->most - p->iteration), 0) : NAN;
    p->rate = pow(10, -fall);
    p->left = fmin(needed, allowed) * each; /* of a number and NAN the number */
}

static void draw_step(progress *p, double now)
{
    char text[200], rate[32] = "", left[64] = "";
    if (isfinite(p->rate))
        snprintf(rate, sizeof rate, "rate %.2f  ", p->rate);
    if (isfinite(p->left))
        snprintf(left, sizeof left, ", about %s to go", text_seconds(p->left));
    snprintf(text, sizeof text, "iteration %s  residual %.2e  %s%s%s", text_count(p->iteration),
             p->residual, rate, text_seconds(now - p->start), left);
    draw(text);
    p->last = now;
}

static void step(progress *p, int64_t iteration, double residual)
{
    const double level = residual > 0 ? log10(residual) : p->target;
    const double now = cli_clock();
    if (!p->begun || iteration < p->recent.iteration) { /* the next attempt may count from 0 */
        p->begun = true;
        p->old.iteration = p->recent.iteration = p->first.iteration = iteration;
        p->old.log = p->recent.log = level;
        p->first.seconds = now;
    } else if (iteration >= 2 * p->recent.iteration) {
        p->old = p->recent;
        p->recent.iteration = iteration;
        p->recent.log = level;
    }
    p->phase = PHASE_ITERATE;
    p->iteration = iteration;
    p->residual = residual;
    p->unprinted = true;
    look_ahead(p, level, now);
    if (now - p->last < (p->json ? reporting : drawing))
        return;
    if (p->json)
        put_object(p);
    else
        draw_step(p, now);
}

void progress_step(progress *p, int64_t iteration, double residual)
{
    if (!p->shown && !p->json)
        return;
    pthread_mutex_lock(&ticks.lock);
    step(p, iteration, residual);
    pthread_mutex_unlock(&ticks.lock);
}

void progress_part(progress *p, double part, const char *text)
{
    const double now = cli_clock(), spent = now - p->start;
    if (!p->shown || now - p->last < drawing)
        return;
    char line[200], left[64] = "";
    if (part > 0 && part < 1)
        snprintf(left, sizeof left, ", about %s to go", text_seconds(spent * (1 - part) / part));
    snprintf(line, sizeof line, "%s  %.0f%%  %s%s", text, 100 * part, text_seconds(spent), left);
    pthread_mutex_lock(&ticks.lock);
    draw(line);
    p->last = now;
    pthread_mutex_unlock(&ticks.lock);
}

static void erase(void)
{
    if (ticks.drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    ticks.drawn = false;
}

void progress_hide(void)
{
    pthread_mutex_lock(&ticks.lock);
    erase();
}

void progress_show(void)
{
    pthread_mutex_unlock(&ticks.lock);
}

void progress_clear(progress *p)
{
    stop_ticks(p);
    erase();
    if (p->json && p->unprinted)
        put_object(p);
}

void progress_finish(progress *p, int64_t iteration, double residual)
{
    progress_clear(p);
    if (!p->json)
        return;
    p->phase = PHASE_FINISH;
    p->iteration = iteration;
    p->residual = residual;
    p->left = 0;
    put_object(p);
}
