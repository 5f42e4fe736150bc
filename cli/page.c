/* The frame of a report: what it gathers, its head, style and script, and the order of its parts.
 */
#include "page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char page_style[] =
    ":root{color-scheme:light dark;--ground:#ffffff;--ink:#1a1d21;--soft:#5b6470;--rule:#dde1e6;"
    "--panel:#f3f4f6;--link:#1f6fb2;--error:#b42318;--warning:#946000;--note:#1f6fb2}\n"
    "@media (prefers-color-scheme:dark){:root{--ground:#14171a;--ink:#e8eaed;--soft:#a3acb8;"
    "--rule:#343a41;--panel:#22272d;--link:#6cb2f0;--error:#ff8a80;--warning:#facc15;"
    "--note:#6cb2f0}}\n"
    "body{margin:0 auto;max-width:60rem;padding:1rem;background:var(--ground);color:var(--ink);"
    "font:16px/1.5 system-ui,'DejaVu Sans',sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.2rem;margin:2rem 0 .5rem;"
    "border-top:1px solid var(--rule);padding-top:1rem}p{margin:.5rem 0}a{color:var(--link)}\n"
    "nav a{margin-right:1rem}.soft{color:var(--soft)}figure{margin:1rem 0;overflow-x:auto}"
    "figure svg.pic{max-width:100%;min-width:34rem;height:auto}figure.fit svg.pic{min-width:0}\n"
    "pre{background:var(--panel);padding:.7rem;overflow-x:auto;font-size:.85rem;"
    "overflow-wrap:normal}.scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-size:.9rem;overflow-wrap:normal}td,th{padding:.25rem "
    ".8rem .25rem 0;"
    "text-align:left;vertical-align:top;border-bottom:1px solid var(--rule)}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\n"
    ".finding{border-left:4px solid var(--soft);padding-left:.8rem;margin:1rem 0}"
    ".error{border-color:var(--error)}.warning{border-color:var(--warning)}"
    ".note{border-color:var(--note)}.good{color:var(--link);font-weight:600}"
    ".bad{color:var(--error);font-weight:600}\n"
    ".zoom button{font:inherit;min-width:2.6rem;min-height:2.4rem;margin-right:.3rem;"
    "background:var(--panel);color:var(--ink);border:1px solid var(--soft);border-radius:.3rem}"
    ".spy{cursor:zoom-in;touch-action:none}\n"
    "@media print{:root{--ground:#ffffff;--ink:#1a1d21;--soft:#5b6470;--rule:#dde1e6;"
    "--panel:#f3f4f6;--link:#1f6fb2;--error:#b42318;--warning:#946000;--note:#1f6fb2}"
    "nav,.zoom{display:none}pre{white-space:pre-wrap}figure svg.pic{min-width:0}"
    "figure,tr,.finding{break-inside:avoid}thead{display:table-header-group}"
    "h1,h2,h3,h4{break-after:avoid}p{orphans:3;widows:3}}\n";

/* The picture of A is zoomed into by the box of its inner coordinates: wheel, drag, two buttons,
 * and keys. Without the script it is all there, unzoomed. */
static const char page_script[] =
    "(function(){'use strict';\n"
    "var s=document.querySelector('svg.spy');if(!s)return;\n"
    "var all=s.getAttribute('viewBox').split(' ').map(Number),v=all.slice();\n"
    "var shown=document.getElementById('seen'),fine=s.querySelector('.fine');\n"
    "function show(){var k,w=Math.min(v[2],all[2]),h=Math.min(v[3],all[3]);v[2]=Math.max(w,2);"
    "v[3]=Math.max(h,2*all[3]/all[2]);\n"
    "for(k=0;k<2;k++)v[k]=Math.max(0,Math.min(v[k],Math.max(0,all[k+2]-v[k+2])));\n"
    "s.setAttribute('viewBox',v.join(' '));\n"
    "if(fine)fine.setAttribute('visibility',v[2]<all[2]?'visible':'hidden');\n"
    "function f(x){return Math.round(x).toLocaleString('en')}\n"
    "shown.textContent='rows '+f(v[1])+' to '+f(Math.min(v[1]+v[3],all[3])-1)+', columns '+f(v[0])"
    "+' to '+f(Math.min(v[0]+v[2],all[2])-1)}\n"
    "function zoom(by,x,y){var ax=v[0]+x*v[2],ay=v[1]+y*v[3];v[2]*=by;v[3]*=by;v[0]=ax-x*v[2];"
    "v[1]=ay-y*v[3];show()}\n"
    "function at(e){var b=s.getBoundingClientRect();return[(e.clientX-b.left)/b.width,"
    "(e.clientY-b.top)/b.height,b]}\n"
    "s.addEventListener('wheel',function(e){e.preventDefault();var p=at(e);"
    "zoom(e.deltaY>0?1.25:.8,p[0],p[1])},{passive:false});\n"
    "var from=null;\n"
    "s.addEventListener('pointerdown',function(e){from=[e.clientX,e.clientY,v[0],v[1]];"
    "s.setPointerCapture(e.pointerId)});\n"
    "s.addEventListener('pointermove',function(e){if(!from)return;var b=at(e)[2];"
    "v[0]=from[2]-(e.clientX-from[0])/b.width*v[2];v[1]=from[3]-(e.clientY-from[1])/b.height*v[3];"
    "show()});\n"
    "s.addEventListener('pointerup',function(){from=null});\n"
    "var acts={'+':function(){zoom(.5,.5,.5)},'-':function(){zoom(2,.5,.5)},"
    "'0':function(){v=all.slice();show()},ArrowLeft:function(){v[0]-=v[2]/4;show()},"
    "ArrowRight:function(){v[0]+=v[2]/4;show()},ArrowUp:function(){v[1]-=v[3]/4;show()},"
    "ArrowDown:function(){v[1]+=v[3]/4;show()}};acts['=']=acts['+'];\n"
    "var box=document.querySelector('.zoom');box.hidden=false;\n"
    "box.addEventListener('click',function(e){var k=e.target.getAttribute('data-key');"
    "if(k)acts[k]()});\n"
    "box.addEventListener('keydown',function(e){if(acts[e.key]){e.preventDefault();"
    "acts[e.key]()}});\n"
    "show()})();\n";

/* --- runs --------------------------------------------------------------------------------------*/

/* What an option of the solver was set to, where that is what was used in the end; else what was
 * used. */
static void used_spec(spry_solver *solver, const char *option, const char *used,
                      char spec[SPRY_OPTION_TEXT_SIZE])
{
    const size_t length = strlen(used);
    const bool asked =
        spry_solver_get_text(solver, option, spec, SPRY_OPTION_TEXT_SIZE) == SPRY_STATUS_OK &&
        strncmp(spec, used, length) == 0 && (spec[length] == ':' || spec[length] == '\0');
    if (!asked)
        snprintf(spec, SPRY_OPTION_TEXT_SIZE, "%s", used);
}

/* The method that has run, fused or not, by a solver without a matrix: nothing is built for it. */
static void explain(spry_context *ctx, spry_solver *ran, const spry_result *result, bool fuse,
                    char **text)
{
    char method[SPRY_OPTION_TEXT_SIZE], precon[SPRY_OPTION_TEXT_SIZE], file[SPRY_OPTION_TEXT_SIZE];
    spry_solver *solver = NULL;
    used_spec(ran, "method", result->method, method);
    used_spec(ran, "precon", result->precon, precon);
    spry_status status = spry_solver_get_text(ran, "method_file", file, sizeof file);
    const bool own = status == SPRY_STATUS_OK && *file;
    if (status == SPRY_STATUS_OK)
        status = spry_solver_new(ctx, &solver);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_text(solver, own ? "method_file" : "method", own ? file : method);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_text(solver, "precon", precon);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_text(solver, "fuse", fuse ? "yes" : "no");
    if (status == SPRY_STATUS_OK)
        (void)spry_solver_explain(solver, text);
    spry_solver_free(solver);
}

/* A report without what the method is, or when it restarts, is as good. */
void page_run_fill(spry_context *ctx, page_run *run, spry_solver *solver, const spry_result *result)
{
    run->result = result;
    snprintf(run->label, sizeof run->label, "%s, precon %s", result->method, result->precon);
    double restart = 0;
    (void)spry_solver_get_real(solver, "method:restart", &restart); /* 0: it has none */
    run->cycle = (int64_t)restart;
    explain(ctx, solver, result, true, &run->explained);
    explain(ctx, solver, result, false, &run->apart);
}

void page_run_clear(spry_context *ctx, page_run *run)
{
    spry_free(ctx, run->explained);
    spry_free(ctx, run->apart);
    *run = (page_run){0};
}

/* --- what is gathered --------------------------------------------------------------------------*/

int page_check(spry_context *ctx, const cli_arguments *a, const char *path, const char *other)
{
    if (!path)
        return EXIT_DONE;
    for (int k = 0; k < a->count; k++)
        if (file_is_same(path, a->operands[k]))
            return cli_fail(EXIT_INPUT, "%s: the report would replace what it is about", path);
    if (other && (file_is_same(path, other) || (file_is_stdout(path) && file_is_stdout(other))))
        return cli_fail(EXIT_INPUT, "%s: two outputs have the same name", path);
    return file_check_text(ctx, path);
}

/* Cells for all of A at once, and others so fine that one can zoom into them, but a page of less
 * than 1 MB. */
static spry_status gather_cells(page_facts *f)
{
    const size_t most = 500000; /* of both */
    const page *p = f->page;
    spry_status status = density_count(p->ctx, p->A, SPY_SIDE, &f->cells);
    if (status == SPRY_STATUS_OK)
        status = density_level(p->ctx, &f->cells, 1, &f->levels[0]);
    for (int side = 4 * SPY_SIDE; side > SPY_SIDE && status == SPRY_STATUS_OK &&
                                  f->cells.row_shift + f->cells.col_shift > 0 && !f->levels[1].png;
         side /= 2) {
        density fine = {0};
        status = density_count(p->ctx, p->A, side, &fine);
        if (status == SPRY_STATUS_OK)
            status = density_level(p->ctx, &fine, 1, &f->levels[1]);
        density_free(&fine);
        if (f->levels[0].size + f->levels[1].size > most) {
            spry_free(p->ctx, f->levels[1].png);
            f->levels[1] = (spy_level){0};
        }
    }
    return status;
}

static spry_status gather(page_facts *f)
{
    const page *p = f->page;
    spry_status status = SPRY_STATUS_OK;
    f->values = cli_alloc(sizeof *f->values);
    if (p->A)
        status = gather_cells(f);
    if (p->A && status == SPRY_STATUS_OK)
        status = spry_matrix_stats(p->A, &f->stats);
    if (p->A && status == SPRY_STATUS_OK)
        status = magnitudes_count(p->ctx, p->A, f->values);
    if (status != SPRY_STATUS_OK)
        return status;
    const char *place = p->place ? p->place : "cpu";
    for (int k = 0; spry_device_describe(p->ctx, k, &f->device); k++)
        if (strcmp(f->device.name, place) == 0)
            break;
    /* A report without this figure is as good. */
    if (p->bench)
        f->bandwidth = p->bench->ceilings;
    else
        (void)spry_device_bandwidth(p->ctx, strcmp(place, "cpu") == 0 ? NULL : place, false,
                                    &f->bandwidth);
    for (int k = 0; k < p->run_count; k++) {
        const page_run *run = &p->runs[k];
        curve *c = runs_add(&f->runs, run->result, run->label);
        c->cycle = run->cycle;
        for (int i = 0; i < run->look_count; i++)
            if (run->looks[i].iteration < c->count - 1) /* the last is there */
                curve_add(c, run->looks[i]);
    }
    return status;
}

/* --- the page ----------------------------------------------------------------------------------*/

/* A part, and whether the page has it. */
typedef struct part {
    const char *id, *title;
    bool present;
    void (*write)(FILE *out, const page_facts *f);
} part;

static void write_head(FILE *out, const page_facts *f)
{
    const page *p = f->page;
    const char *name = p->name ? p->name : p->arguments->command->name;
    const time_t now = time(NULL);
    struct tm date;
    char day[40] = "";
    if (gmtime_r(&now, &date))
        strftime(day, sizeof day, "%Y-%m-%d %H:%M UTC", &date);
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n<title>spry: ",
          out);
    draw_escaped(out, name);
    fprintf(out, "</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<header>\n<h1>", page_style,
            draw_style);
    draw_escaped(out, name);
    fprintf(out, "</h1>\n<p class=\"soft\">spry %s, %s</p>\n</header>\n", spry_version(), day);
}

static void write_page(FILE *out, const void *data)
{
    const page_facts *f = data;
    const page *p = f->page;
    const part parts[] = {
        {"system", "The system", p->A != NULL, page_system},
        {"findings", "What the doctor finds", p->examined, page_findings},
        {"convergence", "Convergence", p->run_count > 0 || p->unsolved, page_convergence},
        {"costs", "Time and memory", p->run_count > 0, page_costs},
        {"formats", "Storage formats", p->tuned || p->bench, page_formats},
        {"machine", "The machine", true, page_machine},
        {"methods", "The method", p->run_count > 0, page_methods},
        {"commands", "To do it again", true, page_commands},
    };
    enum { PARTS = sizeof parts / sizeof *parts };
    write_head(out, f);
    fputs("<nav aria-label=\"Parts\">", out);
    for (int k = 0; k < PARTS; k++)
        if (parts[k].present)
            fprintf(out, "<a href=\"#%s\">%s</a> ", parts[k].id, parts[k].title);
    fputs("</nav>\n<main>\n", out);
    for (int k = 0; k < PARTS; k++)
        if (parts[k].present) {
            fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", parts[k].id, parts[k].title);
            parts[k].write(out, f);
            fputs("</section>\n", out);
        }
    fprintf(out, "</main>\n<script>\n%s</script>\n</body>\n</html>\n", page_script);
}

int page_write(const page *p, const char *path)
{
    page_facts f = {.page = p,
                    .stats = SPRY_STATS_INIT,
                    .device = SPRY_DEVICE_INFO_INIT,
                    .bandwidth = SPRY_BANDWIDTH_INIT};
    const spry_status status = gather(&f);
    const int exit_status = status == SPRY_STATUS_OK ? file_write_text(p->ctx, path, write_page, &f)
                                                     : cli_failed(p->ctx, status);
    for (int k = 0; k < SPY_LEVELS; k++)
        spry_free(p->ctx, f.levels[k].png);
    density_free(&f.cells);
    free(f.values);
    runs_free(&f.runs);
    return exit_status;
}
