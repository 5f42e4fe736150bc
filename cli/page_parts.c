/* The parts of a report's body. */
#include "findings.h"
#include "page.h"
#include "tune.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Any text, with what HTML would read as markup escaped. */
static void put(FILE *out, const char *format, ...) SPRY_PRINTF(2, 3);
static void put(FILE *out, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    draw_escaped(out, text);
}

static void row(FILE *out, const char *name, const char *format, ...) SPRY_PRINTF(3, 4);
static void row(FILE *out, const char *name, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(out, "<tr><th scope=\"row\">%s</th><td>", name);
    draw_escaped(out, text);
    fputs("</td></tr>\n", out);
}

/* --- the system --------------------------------------------------------------------------------*/

static void put_facts(FILE *out, const page_facts *f)
{
    const spry_stats *s = &f->stats;
    fputs("<div class=\"scroll\"><table>\n", out);
    row(out, "Size", "%s x %s, %s entries, %s", text_count(s->rows), text_count(s->cols),
        text_count(s->nnz), text_type(spry_matrix_type(f->page->A)));
    row(out, "Rows", "%s to %s entries, %.4g on average; %s empty rows, %s empty columns",
        text_count(s->row_min), text_count(s->row_max), s->row_mean, text_count(s->empty_rows),
        text_count(s->empty_cols));
    row(out, "Symmetry", "%s",
        s->symmetric && s->hermitian ? "symmetric"
        : s->symmetric               ? "symmetric, not hermitian"
        : s->hermitian               ? "hermitian"
        : s->skew                    ? "skew-symmetric"
                                     : "not symmetric");
    row(out, "Bandwidth", "%s below the diagonal, %s above", text_count(s->lower_bandwidth),
        text_count(s->upper_bandwidth));
    row(out, "Values", "%.4g to %.4g in magnitude; %s zeros stored, %s not finite", s->value_min,
        s->value_max, text_count(s->explicit_zeros), text_count(s->nonfinite));
    fputs("</table></div>\n", out);
}

void page_system(FILE *out, const page_facts *f)
{
    const char *name = draw_name(f->page->name);
    picture p = {.out = out};
    put_facts(out, f);
    fputs("<figure class=\"fit\">\n", out);
    draw_spy(&p, &f->cells, name, f->levels);
    fputs("<div class=\"zoom\" role=\"group\" aria-label=\"Zoom into the picture\" hidden>"
          "<button type=\"button\" data-key=\"+\" aria-label=\"closer\">+</button>"
          "<button type=\"button\" data-key=\"-\" aria-label=\"farther\">&minus;</button>"
          "<button type=\"button\" data-key=\"0\">all</button> "
          "<span id=\"seen\" class=\"soft\" aria-live=\"polite\"></span></div>\n</figure>\n"
          "<figure>\n",
          out);
    draw_rows(&p, &f->stats, name);
    fputs("</figure>\n<figure>\n", out);
    draw_magnitudes(&p, f->values, name);
    fputs("</figure>\n", out);
}

void page_findings(FILE *out, const page_facts *f)
{
    const spry_diagnosis *d = f->page->found;
    const spry_finding *one;
    if (d->count == 0)
        fputs("<p class=\"good\">Nothing wrong was found.</p>\n", out);
    if (d->condition > 0)
        fprintf(out,
                "<p>The condition number is at least %.2g, with rows and columns scaled.</p>\n",
                d->condition);
    for (int64_t k = 0; (one = spry_finding_at(d, k)); k++) {
        fprintf(out,
                "<div class=\"finding %s\">\n<p><strong>%s: ", spry_severity_name(one->severity),
                spry_severity_name(one->severity));
        put(out, "%s", one->code);
        fputs("</strong></p>\n<p>", out);
        put(out, "%s", one->text);
        fputs("</p>\n<p class=\"soft\">Usual cause: ", out);
        put(out, "%s", one->cause);
        fputs("</p>\n", out);
        if (*one->next) {
            fputs(findings_sure(one) ? "<pre>" : "<p>May help:</p>\n<pre>", out);
            put(out, "%s", one->next);
            fputs("</pre>\n", out);
        }
        fputs("</div>\n", out);
    }
    if (!d->complete)
        fputs("<p>There was no time for all checks.</p>\n", out);
}

/* --- the machine -------------------------------------------------------------------------------*/

/* Formats that the tuner has timed, as points under the roof. */
static int tuned_points(const page_facts *f, roof_point *points, int most)
{
    const page *p = f->page;
    const spry_tune_row *one;
    int count = 0;
    const bool complex = p->A && spry_type_is_complex(spry_matrix_type(p->A));
    for (int64_t k = 0; p->tuned && count < most && (one = spry_tune_row_at(p->tuned, k)); k++) {
        const double ends = (double)(f->stats.rows + f->stats.cols) *
                            (double)spry_type_size(spry_matrix_type(p->A));
        const double operations = (double)f->stats.nnz * (complex ? 8 : 2);
        if (!(one->seconds > 0) || one->bytes <= 0 || !(operations > 0))
            continue;
        points[count].speed = operations / one->seconds;
        points[count].intensity = operations / ((double)one->bytes + ends);
        snprintf(points[count++].label, sizeof points->label, "product in %s", one->format);
    }
    return count;
}

void page_machine(FILE *out, const page_facts *f)
{
    enum { POINTS = 12 };
    const page *p = f->page;
    const spry_device_info *d = &f->device;
    roof_point points[POINTS];
    picture q = {.out = out};
    fputs("<div class=\"scroll\"><table>\n", out);
    row(out, "Processor", "%s (%s)", d->description, d->name);
    row(out, "Cores", "%d, %d threads used", d->units, spry_context_threads(p->ctx));
    row(out, "Memory", "%s, largest cache %s",
        d->memory_bytes > 0 ? text_bytes((double)d->memory_bytes) : "?",
        d->cache_bytes > 0 ? text_bytes((double)d->cache_bytes) : "?");
    if (f->bandwidth.read > 0)
        row(out, "Bandwidth", "%s/s read%s%s%s", text_bytes(f->bandwidth.read),
            f->bandwidth.triad > 0 ? ", " : "",
            f->bandwidth.triad > 0 ? text_bytes(f->bandwidth.triad) : "",
            f->bandwidth.triad > 0 ? "/s triad, measured in this run" : ", measured");
    fputs("</table></div>\n", out);
    if (!(f->bandwidth.read > 0))
        return;
    fputs("<figure>\n", out);
    if (p->bench)
        bench_draw_roof(&q, p->bench);
    else
        draw_roof(&q, &(roof){d->name, f->bandwidth.read, f->bandwidth.triad, points,
                              tuned_points(f, points, POINTS)});
    fputs("</figure>\n", out);
    if (p->A && !p->bench && f->stats.nnz * 12 < d->cache_bytes)
        fputs("<p class=\"soft\">A fits in the cache, so that products can be faster than memory "
              "allows.</p>\n",
              out);
}

/* --- formats -----------------------------------------------------------------------------------*/

static void number_cell(FILE *out, bool known, const char *text)
{
    fprintf(out, "<td class=\"n\">%s</td>", known ? text : "&ndash;");
}

static void tuned_table(FILE *out, const page_facts *f)
{
    const spry_tune_report *t = f->page->tuned;
    const spry_tune_row *one, *csr = spry_tune_row_at(t, 0);
    char text[32];
    fputs("<p>The choice is <strong>", out);
    put(out, "%s", t->format);
    fprintf(out, "</strong>, for %s products.</p>\n", text_count(t->products));
    fputs("<div class=\"scroll\"><table>\n<thead><tr><th>format</th><th class=\"n\">bytes per "
          "entry</th><th class=\"n\">forecast</th><th class=\"n\">measured</th><th class=\"n\">"
          "times csr</th><th class=\"n\">conversion</th><th></th></tr></thead>\n<tbody>\n",
          out);
    for (int64_t k = 0; (one = spry_tune_row_at(t, k)); k++) {
        if (!tune_is_shown(t, k))
            continue;
        fputs("<tr><th scope=\"row\">", out);
        put(out, "%s", one->format);
        fputs("</th>", out);
        snprintf(text, sizeof text, "%.2f", (double)one->bytes / (double)f->stats.nnz);
        number_cell(out, one->bytes > 0 && f->stats.nnz > 0, text);
        number_cell(out, one->model_seconds > 0, text_seconds(one->model_seconds));
        number_cell(out, one->seconds > 0, text_seconds(one->seconds));
        snprintf(text, sizeof text, "%.2f", one->seconds > 0 ? csr->seconds / one->seconds : 0);
        number_cell(out, one->seconds > 0 && csr->seconds > 0, text);
        number_cell(out, one->conversion_seconds > 0, text_seconds(one->conversion_seconds));
        fputs("<td>", out);
        put(out, "%s", tune_verdict(t, one));
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void bench_table(FILE *out, const bench_data *d)
{
    char text[32];
    fputs("<div class=\"scroll\"><table>\n<thead><tr><th>matrix</th><th>format</th><th "
          "class=\"n\">time</th><th class=\"n\">times csr</th><th class=\"n\">GB/s</th><th "
          "class=\"n\">of read</th><th class=\"n\">bytes per entry</th><th class=\"n\">error</th>"
          "</tr></thead>\n<tbody>\n",
          out);
    for (int k = 0; k < d->count; k++) {
        const bench_record *r = &d->records[k];
        fputs("<tr><td>", out);
        put(out, "%s", r->matrix);
        fputs("</td><th scope=\"row\">", out);
        put(out, "%s%s%s", r->format, *r->params ? ":" : "", r->params);
        fputs("</th>", out);
        if (*r->skipped) {
            fputs("<td colspan=\"6\">", out);
            put(out, "%s", r->skipped);
            fputs("</td></tr>\n", out);
            continue;
        }
        number_cell(out, true, text_seconds(r->seconds));
        snprintf(text, sizeof text, "%.2f", r->times_csr);
        number_cell(out, r->times_csr > 0, text);
        snprintf(text, sizeof text, "%.1f", r->gbps);
        number_cell(out, true, text);
        snprintf(text, sizeof text, "%.2f", r->fraction_of_read);
        number_cell(out, true, text);
        snprintf(text, sizeof text, "%.2f", r->bytes_per_nnz);
        number_cell(out, true, text);
        snprintf(text, sizeof text, "%.1e", r->max_error);
        number_cell(out, true, text);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

void page_formats(FILE *out, const page_facts *f)
{
    picture p = {.out = out};
    if (!f->page->bench) {
        tuned_table(out, f);
        return;
    }
    bench_table(out, f->page->bench);
    fputs("<figure>\n", out);
    bench_draw(&p, f->page->bench);
    fputs("</figure>\n", out);
}

/* --- runs --------------------------------------------------------------------------------------*/

static void put_lines(FILE *out, const char *title, const char *lines)
{
    if (!lines || !*lines)
        return;
    fprintf(out, "<p>%s</p>\n<ul>\n", title);
    for (const char *p = lines; *p; p += *p == '\n') {
        const size_t length = strcspn(p, "\n");
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)length, p);
        fputs("<li>", out);
        put(out, "%s", cli_spell(line));
        fputs("</li>\n", out);
        p += length;
    }
    fputs("</ul>\n", out);
}

static void put_run(FILE *out, const page_facts *f, int k)
{
    const spry_result *r = f->page->runs[k].result;
    const curve *c = &f->runs.curves[k];
    fprintf(out, "<p class=\"%s\">", c->converged ? "good" : "bad");
    put(out, "%s: %s", c->label, c->end);
    fputs("</p>\n<p>", out);
    put(out, "The true residual is %.2e, asked for %g, at first %.2e; the method's own is %.2e.",
        r->true_residual, r->tolerance, r->initial_residual, r->residual);
    if (r->nullity > 0)
        put(out, " A has rank %s of %s, as its factors show: x is one of many.",
            text_count(r->cols - r->nullity), text_count(r->cols));
    fputs("</p>\n", out);
    put_lines(out, "Tried before:", r->tried);
    put_lines(out, "Warnings:", r->warnings);
}

void page_convergence(FILE *out, const page_facts *f)
{
    const page *p = f->page;
    picture q = {.out = out};
    if (p->unsolved) {
        fputs("<p class=\"bad\">Not solved: ", out);
        put(out, "%s", p->unsolved);
        fputs("</p>\n", out);
    }
    if (p->run_count == 0)
        return;
    fputs("<figure>\n", out);
    draw_curves(&q, f->runs.curves, f->runs.count);
    fputs("</figure>\n", out);
    for (int k = 0; k < p->run_count; k++)
        put_run(out, f, k);
    if (p->runs_in_all > p->run_count)
        fprintf(out, "<p>%s more right-hand sides are not shown.</p>\n",
                text_count(p->runs_in_all - p->run_count));
}

static void add_part(bar *b, int *count, const char *group, const char *label, double length,
                     const char *text, int colour)
{
    bar *to = &b[(*count)++];
    *to = (bar){.length = length > 0 ? length : 0, .colour = colour};
    snprintf(to->group, sizeof to->group, "%s", group);
    snprintf(to->label, sizeof to->label, "%s", label);
    snprintf(to->text, sizeof to->text, "%s", text);
}

/* What is known of the memory: the arrays of A and the vectors that the method keeps; what else
 * there was at most is the preconditioner, copies of A, and what came and went while they were
 * made. */
static void add_memory(bar *b, int *count, const page_facts *f, int k)
{
    const page_run *run = &f->page->runs[k];
    const spry_result *r = run->result;
    const double number = (double)spry_type_size(r->type);
    const double arrays = (double)r->nnz * (4 + number) + 8 * (double)(r->rows + 1);
    const char *memory = run->explained ? strstr(run->explained, "\n  memory ") : NULL;
    double kept = 0; /* without x and b */
    if (memory)
        (void)sscanf(memory, " memory %lf vectors", &kept);
    const double vectors = (2 + kept) * (double)r->rows * number;
    const double others = fmax((double)r->memory_bytes - arrays - vectors, 0);
    add_part(b, count, run->label, "A, by rows", arrays, text_bytes(arrays), 0);
    add_part(b, count, run->label, "vectors of the method", vectors, text_bytes(vectors), 1);
    if (f->page->peak)
        add_part(b, count, run->label, "all else, at most", others, text_bytes(others), -1);
}

void page_costs(FILE *out, const page_facts *f)
{
    const page *p = f->page;
    bar times[4 * PAGE_RUNS], memory[4 * PAGE_RUNS];
    int time_count = 0, memory_count = 0;
    picture q = {.out = out};
    for (int k = 0; k < p->run_count && k < PAGE_RUNS; k++) {
        const spry_result *r = p->runs[k].result;
        const char *label = p->runs[k].label;
        char text[96];
        if (r->read_seconds > 0)
            add_part(times, &time_count, label, "reading", r->read_seconds,
                     text_seconds(r->read_seconds), -1);
        if (r->choose_seconds > 0)
            add_part(times, &time_count, label, "choosing", r->choose_seconds,
                     text_seconds(r->choose_seconds), 1);
        add_part(times, &time_count, label, "set-up", r->setup_seconds,
                 text_seconds(r->setup_seconds), 2);
        snprintf(text, sizeof text, "%s%s%s%s", text_seconds(r->solve_seconds),
                 r->iterations > 0 ? ", " : "",
                 r->iterations > 0 ? text_seconds(r->solve_seconds / (double)r->iterations) : "",
                 r->iterations > 0 ? " each" : "");
        add_part(times, &time_count, label, "iterations", r->solve_seconds, text, 0);
        add_memory(memory, &memory_count, f, k);
    }
    fputs("<figure>\n", out);
    draw_bars(&q, &(bars){"Time by part", "Seconds of reading, choosing, set-up and iterations.",
                          NULL, NULL, NULL, times, time_count});
    fputs("</figure>\n<figure>\n", out);
    draw_bars(&q, &(bars){"Memory by part", "Bytes of the matrix, of vectors, and of all else.",
                          NULL, NULL, NULL, memory, memory_count});
    fputs("</figure>\n", out);
    if (p->run_count > 0)
        fprintf(out, "<p>The library had %s at once at most%s.</p>\n",
                text_bytes((double)p->runs[p->run_count - 1].result->memory_bytes),
                p->peak ? "" : ", in all that was done for this page");
    for (int k = 0; k < p->run_count; k++) {
        const spry_result *r = p->runs[k].result;
        if (r->iterations == 0)
            continue;
        fputs("<p>", out);
        put(out, "%s: %s per iteration", p->runs[k].label,
            text_bytes((double)r->bytes_per_iteration));
        if (r->bandwidth_fraction > 0)
            put(out, ", %.2f of the memory's read bandwidth", r->bandwidth_fraction);
        put(out, "; on %s, format %s.", r->device, r->format);
        fputs("</p>\n", out);
    }
}

/* The same method is shown once. */
static bool is_first(const page *p, int k)
{
    for (int i = 0; i < k; i++)
        if (strcmp(p->runs[i].label, p->runs[k].label) == 0)
            return false;
    return true;
}

void page_methods(FILE *out, const page_facts *f)
{
    const page *p = f->page;
    picture q = {.out = out};
    for (int k = 0; k < p->run_count; k++) {
        const page_run *run = &p->runs[k];
        if (!run->explained || !is_first(p, k))
            continue;
        fputs("<h3>", out);
        put(out, "%s", run->label);
        fputs("</h3>\n", out);
        if (run->apart && strstr(run->explained, "\n  sweep 1")) {
            fputs("<figure>\n", out);
            draw_sweeps(&q, run->label, run->apart, run->explained);
            fputs("</figure>\n", out);
        }
        fputs("<pre>", out);
        draw_escaped(out, run->explained);
        fputs("</pre>\n", out);
    }
}

/* --- commands ----------------------------------------------------------------------------------*/

/* A word as a shell takes it. */
static void put_word(FILE *out, const char *word)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    text_word(memory, word);
    if (fclose(memory) == 0)
        draw_escaped(out, text);
    free(text);
}

static void put_operands(FILE *out, const cli_arguments *a)
{
    for (int k = 0; k < a->count; k++) {
        fputc(' ', out);
        put_word(out, a->operands[k]);
    }
}

static void put_command(FILE *out, const cli_arguments *a)
{
    char name[CLI_NAME];
    fprintf(out, "spry %s", a->command->name);
    put_operands(out, a);
    for (int k = 0; k < a->given_count; k++) {
        fprintf(out, " --%s=", cli_option_name(a->given[k].option, name));
        put_word(out, a->given[k].value);
    }
    fputc('\n', out);
}

void page_commands(FILE *out, const page_facts *f)
{
    static const char *const pictures[] = {"spy", "rows", "values"};
    const page *p = f->page;
    fputs("<pre>", out);
    put_command(out, p->arguments);
    for (int k = 0; k < 3 && p->A; k++) {
        fprintf(out, "spry plot %s ", pictures[k]);
        put_word(out, p->name);
        fprintf(out, " -o %s.svg\n", pictures[k]);
    }
    for (int k = 0; k < p->run_count; k++) {
        const spry_result *r = p->runs[k].result;
        if (!is_first(p, k) || !p->name || !*r->method)
            continue;
        fputs("spry solve", out);
        put_operands(out, p->arguments);
        put(out, " --method %s --precon %s --json run.json\n", r->method, r->precon);
    }
    fputs("</pre>\n<p class=\"soft\">The whole command is the first line; the others make one "
          "picture each, or solve with what was chosen.</p>\n",
          out);
}
