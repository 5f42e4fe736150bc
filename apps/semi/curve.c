/* Currents over voltages: a table, CSV, JSON, a picture. */
#include "semi/semi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 12 }; /* of a picture */

/* dQ/dV of the contact that is swept; NaN where a point has no neighbour. */
static double capacitance(const semi_run *r, int64_t k)
{
    const int64_t first = k / r->lengths * r->lengths, last = first + r->lengths - 1;
    const int64_t a = k > first ? k - 1 : k, b = k < last && k + 1 < r->points ? k + 1 : k;
    if (r->sweep < 0 || a == b)
        return NAN;
    return (r->point[b].charge[r->sweep] - r->point[a].charge[r->sweep]) /
           (r->point[b].volts[r->sweep] - r->point[a].volts[r->sweep]);
}

static bool is_gate(const semi_run *r, int contact)
{
    return contact >= 0 && r->device.contact[contact].kind == CONTACT_GATE;
}

static double worst_imbalance(const semi_run *r)
{
    double worst = 0;
    for (int64_t k = 0; k < r->points; k++)
        worst = fmax(worst, r->point[k].imbalance);
    return worst;
}

void semi_print(const semi_run *r)
{
    const semi_device *d = &r->device;
    const semi_mesh *m = &d->mesh;
    char heads[SEMI_CONTACTS * 2 * (SEMI_NAME + 4)] = "";
    size_t size = 0;
    printf("mesh          %s nodes, %s %s, %s unknowns; %s couplings below 0\n",
           text_count(m->nodes), text_count(m->cells),
           m->dim == 3   ? "tetrahedra"
           : m->dim == 2 ? "triangles"
                         : "lines",
           text_count(r->solve.full.rows), text_count(m->negative));
    for (int k = 0; k < m->contacts; k++)
        size += (size_t)snprintf(heads + size, sizeof heads - size, "%s>V %s", k > 0 ? "|" : "",
                                 m->contact_name[k]);
    for (int k = 0; k < m->contacts; k++)
        if (!is_gate(r, k))
            size +=
                (size_t)snprintf(heads + size, sizeof heads - size, "|>A %s", m->contact_name[k]);
    if (is_gate(r, r->sweep))
        size += (size_t)snprintf(heads + size, sizeof heads - size, "|>F %s",
                                 m->contact_name[r->sweep]);
    table *t = table_new(heads);
    for (int64_t i = 0; i < r->points; i++) {
        for (int k = 0; k < m->contacts; k++)
            table_cell(t, "%.4g", r->point[i].volts[k]);
        for (int k = 0; k < m->contacts; k++)
            if (!is_gate(r, k))
                table_cell(t, "%.4e", r->point[i].current[k]);
        if (is_gate(r, r->sweep))
            table_cell(t, "%.3e", capacitance(r, i));
    }
    table_print(t, stdout);
    const semi_point *last = &r->point[r->points - 1];
    printf("balance       currents add up to 0 within %.1e of the largest\n", worst_imbalance(r));
    printf("newton        %s steps, %s bias steps halved\n", text_count((int64_t)last->steps),
           text_count(r->solve.halvings));
    printf("linear        %s solves, %s iterations%s%s %s, in %s\n",
           text_count((int64_t)last->solves), text_count((int64_t)last->iterations),
           *r->solve.full.method ? ", " : "", r->solve.full.method, r->solve.full.precon,
           text_seconds(last->linear_seconds));
    printf("all           %s; mesh %s\n", text_seconds(r->seconds), text_seconds(r->mesh_seconds));
}

static void write_csv(FILE *out, const void *data)
{
    const semi_run *r = data;
    const semi_mesh *m = &r->device.mesh;
    for (int k = 0; k < m->contacts; k++)
        fprintf(out, "%sV_%s", k > 0 ? "," : "", m->contact_name[k]);
    for (int k = 0; k < m->contacts; k++)
        fprintf(out, ",I_%s,Q_%s", m->contact_name[k], m->contact_name[k]);
    fprintf(out, ",C,imbalance,seconds\n");
    for (int64_t i = 0; i < r->points; i++) {
        const semi_point *p = &r->point[i];
        const double c = capacitance(r, i);
        for (int k = 0; k < m->contacts; k++)
            fprintf(out, "%s%.9g", k > 0 ? "," : "", p->volts[k]);
        for (int k = 0; k < m->contacts; k++)
            fprintf(out, ",%.12e,%.12e", p->current[k], p->charge[k]);
        fprintf(out, isfinite(c) ? ",%.9e" : ",", c);
        fprintf(out, ",%.2e,%.3f\n", p->imbalance, p->seconds);
    }
}

static void write_json(FILE *out, const void *data)
{
    const semi_run *r = data;
    const semi_mesh *m = &r->device.mesh;
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_text(&j, "shape", r->name);
    json_int(&j, "nodes", m->nodes);
    json_int(&j, "cells", m->cells);
    json_int(&j, "unknowns", r->solve.full.rows);
    json_int(&j, "negative_couplings", m->negative);
    json_text(&j, "method", r->solve.full.method);
    json_text(&j, "precon", r->solve.full.precon);
    json_text(&j, "device", r->o->device);
    json_open(&j, "contacts", '[');
    for (int k = 0; k < m->contacts; k++)
        json_text(&j, NULL, m->contact_name[k]);
    json_close(&j, ']');
    json_open(&j, "points", '[');
    for (int64_t i = 0; i < r->points; i++) {
        const semi_point *p = &r->point[i];
        json_open(&j, NULL, '{');
        const double *const lists[] = {p->volts, p->current, p->charge};
        static const char *const names[] = {"volts", "currents", "charges"};
        for (int l = 0; l < 3; l++) {
            json_open(&j, names[l], '[');
            for (int k = 0; k < m->contacts; k++)
                json_real(&j, NULL, lists[l][k]);
            json_close(&j, ']');
        }
        json_real(&j, "capacitance", capacitance(r, i));
        json_real(&j, "imbalance", p->imbalance);
        json_int(&j, "newton_steps", (int64_t)p->steps);
        json_int(&j, "linear_solves", (int64_t)p->solves);
        json_int(&j, "linear_iterations", (int64_t)p->iterations);
        json_real(&j, "linear_seconds", p->linear_seconds);
        json_real(&j, "seconds", p->seconds);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_real(&j, "mesh_seconds", r->mesh_seconds);
    json_real(&j, "seconds", r->seconds);
    int64_t now, most;
    spry_context_memory(r->ctx, &now, &most);
    json_int(&j, "library_bytes", most);
    json_close(&j, '}');
}

/* --- pictures ----------------------------------------------------------------------------------*/

/* What is drawn of a point: the size of a current on a logarithmic scale, or capacitance. */
static double drawn(const semi_run *r, int contact, int64_t k)
{
    if (is_gate(r, contact))
        return capacitance(r, k);
    const double size = fabs(r->point[k].current[contact]);
    return size > 0 ? size : NAN;
}

/* The contact whose current is drawn: that swept; of transistors the drain, by its voltage. */
static int drawn_contact(const semi_run *r)
{
    int found = r->sweep;
    for (int k = 0; k < r->device.mesh.contacts && is_gate(r, found); k++)
        if (strcmp(r->device.mesh.contact_name[k], "drain") == 0)
            found = k;
    return found;
}

static void draw_plot(FILE *out, const void *data)
{
    const semi_run *r = data;
    const int contact = drawn_contact(r);
    const bool log = !is_gate(r, contact) && contact != r->sweep;
    const int64_t count = r->lengths * r->members;
    double *xs = cli_alloc((size_t)count * 2 * sizeof *xs), *ys = xs + count;
    char x_name[64], y_name[64], labels[MOST_LINES][64];
    const int lines = r->members < MOST_LINES ? (int)r->members : MOST_LINES;
    for (int64_t k = 0; k < count; k++) {
        xs[k] = k < r->points ? r->point[k].volts[r->sweep] : NAN;
        ys[k] = k < r->points ? drawn(r, contact, k) : NAN;
    }
    for (int l = 0; l < lines; l++) {
        if (r->family >= 0)
            snprintf(labels[l], sizeof labels[l], "%s %g V", r->device.mesh.contact_name[r->family],
                     r->values[l]);
        else
            snprintf(labels[l], sizeof labels[l], "%s", r->device.mesh.contact_name[contact]);
    }
    snprintf(x_name, sizeof x_name, "%s, V", r->device.mesh.contact_name[r->sweep]);
    snprintf(y_name, sizeof y_name, "%s", is_gate(r, contact) ? "capacitance, F" : "current, A");
    const bool logs = log || (!is_gate(r, contact) && strcmp(r->name ? r->name : "", "diode") == 0);
    app_chart(out,
              &(app_chart_text){.title = r->name ? r->name : "mesh",
                                .x = x_name,
                                .y = y_name,
                                .labels = labels,
                                .log = logs},
              xs, ys, r->lengths, lines);
    free(xs);
}

int semi_write_curves(const semi_run *r)
{
    int exit_status = EXIT_DONE;
    if (r->o->json)
        exit_status = file_write_text(r->ctx, r->o->json, write_json, r);
    if (exit_status == EXIT_DONE && r->o->output)
        exit_status = file_write_text(r->ctx, r->o->output, write_csv, r);
    if (exit_status == EXIT_DONE && r->o->plot && r->sweep >= 0)
        exit_status = file_write_text(r->ctx, r->o->plot, draw_plot, r);
    return exit_status;
}
