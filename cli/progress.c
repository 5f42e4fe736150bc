/* The progress line: on the standard error, and only when that is a terminal. */
#include "output.h"

#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const double interval = 0.1; /* seconds between two drawings */

void progress_start(progress *p, bool quiet, double tol)
{
    memset(p, 0, sizeof *p);
    p->shown = !quiet && isatty(STDERR_FILENO);
    p->start = cli_clock();
    p->target = log10(tol);
}

/* Draws over the last line, cut to the terminal's width so that it stays one line. */
static void draw(progress *p, const char *text)
{
    struct winsize size = {0};
    int width = 79;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
        width = size.ws_col - 1;
    fprintf(stderr, "\r%.*s\033[K", width, text);
    fflush(stderr);
    p->drawn = true;
}

void progress_note(progress *p, const char *text)
{
    if (p->shown)
        draw(p, text);
}

/* Iterations still to do if the residual keeps falling as it did over the last half; 0 unknown. */
static double remaining(const progress *p, int64_t iteration, double level)
{
    double steps = (double)(iteration - p->old.iteration);
    double fall = steps > 0 ? (p->old.log - level) / steps : 0;
    return fall > 0 ? ceil((level - p->target) / fall) : 0;
}

void progress_step(progress *p, int64_t iteration, double residual)
{
    double level = residual > 0 ? log10(residual) : p->target;
    if (!p->begun) {
        p->begun = true;
        p->old.iteration = p->recent.iteration = iteration;
        p->old.log = p->recent.log = level;
    } else if (iteration >= 2 * p->recent.iteration) {
        p->old = p->recent;
        p->recent.iteration = iteration;
        p->recent.log = level;
    }
    double now = cli_clock();
    if (!p->shown || now - p->last < interval)
        return;
    char text[200], left[64] = "";
    double more = remaining(p, iteration, level);
    if (more > 0 && more < 1e12)
        snprintf(left, sizeof left, ", about %s to go", text_count((int64_t)more));
    snprintf(text, sizeof text, "iteration %s  residual %.2e  %s%s", text_count(iteration),
             residual, text_seconds(now - p->start), left);
    draw(p, text);
    p->last = now;
}

void progress_part(progress *p, double part, const char *text)
{
    const double now = cli_clock(), spent = now - p->start;
    if (!p->shown || now - p->last < interval)
        return;
    char line[200], left[64] = "";
    if (part > 0 && part < 1)
        snprintf(left, sizeof left, ", about %s to go", text_seconds(spent * (1 - part) / part));
    snprintf(line, sizeof line, "%s  %.0f%%  %s%s", text, 100 * part, text_seconds(spent), left);
    draw(p, line);
    p->last = now;
}

void progress_clear(progress *p)
{
    if (p->drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    p->drawn = false;
}
