/* From holograms to particles. */
#include "odt/odt.h"

#include <math.h>
#include <string.h>

/* --- checkpoints ---------------------------------------------------------------------------------
 */

/* The head of the file has the mode, too: this message is of more use than that something differs.
 * What is no checkpoint at all is left to those who read it. */
static spry_status check_mode(const odt_run *r)
{
    static const char *const modes[] = {[MODE_PARTICLES] = "particles", [MODE_VOLUME] = "volume"};
    static const int kept[] = {MODE_PARTICLES, MODE_VOLUME};
    char head[64] = "", begins[64], text[400] = "";
    FILE *file = r->o->resume ? fopen(r->o->checkpoint, "rb") : NULL;
    if (!file)
        return SPRY_STATUS_OK;
    if (!fgets(head, sizeof head, file))
        head[0] = '\0';
    fclose(file);
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++) {
        snprintf(begins, sizeof begins, "spry checkpoint: odt %s ", modes[kept[k]]);
        if (kept[k] != r->o->mode && strncmp(head, begins, strlen(begins)) == 0)
            snprintf(text, sizeof text, "%.300s: the checkpoint is of --mode %s", r->o->checkpoint,
                     modes[kept[k]]);
    }
    return text[0] ? odt_fail(r->ctx, text) : SPRY_STATUS_OK;
}

/* The numbers of each particle, with room for as many as can be asked for. */
static spry_status checkpoint(odt_run *r, bool write)
{
    enum { WIDTH = PARTICLE_NUMBERS + 1, ROOM = 10000 };
    odt_search *s = &r->search;
    const int64_t n = (int64_t)WIDTH * ROOM;
    char what[ODT_NAME];
    spry_vector *v = NULL;
    double t = 0;
    int64_t count = s->found.count;
    spry_status status = SPRY_STATUS_OK;
    odt_checkpoint_name(r, " particles", what);
    ODT_GO(spry_vector_new(r->ctx, SPRY_TYPE_D, n, NULL, SPRY_OWN_COPY, &v));
    double *numbers = spry_vector_data(v);
    for (int j = 0; write && j < count; j++) {
        for (int k = 0; k < PARTICLE_NUMBERS; k++)
            numbers[WIDTH * j + k] = *odt_number_of(&s->found.p[j], k);
        numbers[WIDTH * j + PARTICLE_NUMBERS] = s->found.p[j].score;
    }
    if (write) {
        const spry_vector *const list[] = {v};
        ODT_GO(app_checkpoint_write(r->ctx, r->o->checkpoint, what, count, 0, 1, list));
        goto done;
    }
    spry_vector *const list[] = {v};
    ODT_GO(app_checkpoint_read(r->ctx, r->o->checkpoint, what, &count, &t, 1, list));
    if (count < 0 || count > s->most)
        ODT_GO(odt_fail(r->ctx, "the checkpoint has another number of particles than can be"));
    for (int j = 0; j < count; j++) {
        s->found.p[j] = s->sample;
        for (int k = 0; k < PARTICLE_NUMBERS; k++)
            *odt_number_of(&s->found.p[j], k) = numbers[WIDTH * j + k];
        s->found.p[j].score = numbers[WIDTH * j + PARTICLE_NUMBERS];
    }
    s->found.count = (int)count;
done:
    spry_vector_free(v);
    return status;
}

/* --- progress ------------------------------------------------------------------------------------
 */

static spry_status note(void *data)
{
    odt_run *r = data;
    const odt_search *s = &r->search;
    const odt_particle *p = &s->found.p[s->found.count - 1];
    char text[200];
    snprintf(text, sizeof text,
             "%d found, the last at (%.3g %.3g %.3g) um with score %.2f, misfit %.3g",
             s->found.count, 1e6 * p->at[0], 1e6 * p->at[1], 1e6 * p->at[2], p->score, s->misfit);
    progress_part(&r->line, fmin(1 - sqrt(fmax(s->misfit, 0)), 1), text);
    return r->o->checkpoint ? checkpoint(r, true) : SPRY_STATUS_OK;
}

/* --- what was found ------------------------------------------------------------------------------
 */

static void print_particles(const odt_run *r)
{
    const bool known = r->record.truth.count > 0;
    const odt_compared *c = &r->compared;
    const double voxel = r->record.setup[SETUP_voxel];
    static const char *const heads[] = {"|>diameter um", "|>index", "|>absorption"};
    char head[160] = ">particle|>x um|>y um|>z um";
    for (int k = 0; k < r->search.fit; k++)
        strcat(head, heads[k]);
    strcat(head, known ? "|>score|>error in voxels" : "|>score");
    table *t = table_new(head);
    for (int j = 0; j < r->record.found.count; j++) {
        odt_particle *p = &r->record.found.p[j];
        table_cell(t, "%d", j + 1);
        for (int k = 0; k < NUMBER_DIAMETER + r->search.fit; k++) {
            const double unit = k > NUMBER_DIAMETER ? 1 : 1e6;
            if (r->search.fit > 0)
                table_cell(t, "%.4f +- %.1g", unit * *odt_number_of(p, k), unit * p->sigma[k]);
            else
                table_cell(t, "%.4f", unit * *odt_number_of(p, k));
        }
        table_cell(t, "%.3f", p->score);
        if (known && c->partner[j] < 0)
            table_cell(t, "none is there");
        else if (known)
            table_cell(t, "%.2f", c->apart[j] / voxel);
    }
    table_print(t, stdout);
    if (known)
        printf("found         %d of %d, %d others, largest error %.2f voxels\n", c->pairs,
               r->record.truth.count, r->record.found.count - c->pairs, c->worst / voxel);
}

static void print_index(const odt_run *r)
{
    const float *index = r->record.index;
    float least = index[0], most = index[0];
    for (int64_t k = 1; k < odt_voxels(&r->setup.box); k++) {
        least = index[k] < least ? index[k] : least;
        most = index[k] > most ? index[k] : most;
    }
    printf("index         from %.4f to %.4f\n", (double)least, (double)most);
}

static void print_result(const odt_run *r)
{
    const odt_model *m = &r->model;
    if (r->o->mode == MODE_VOLUME)
        print_index(r);
    else
        print_particles(r);
    if (r->record.truth.count > 0)
        printf(
            "index error   %.3f inside of the particles, %.3f in all; 1: that of the fluid alone\n",
            r->compared.inside, r->compared.all);
    printf("misfit        %.3e of that of an empty volume\n", r->search.misfit);
    printf("solves        %lld, %.1f iterations each\n", (long long)m->solves,
           m->solves > 0 ? (double)m->iterations / (double)m->solves : 0);
    printf("time          %s, of solves %s\n", text_seconds(cli_clock() - r->begun),
           text_seconds(m->seconds));
}

static void write_json(FILE *out, const void *data)
{
    const odt_run *r = data;
    const odt_compared *c = &r->compared;
    const double voxel = r->record.setup[SETUP_voxel];
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_open(&j, "particles", '[');
    for (int k = 0; k < r->record.found.count; k++) {
        static const char *const names[] = {"x", "y", "z", "diameter", "index", "absorption"};
        odt_particle *p = &r->record.found.p[k];
        char sigma[32];
        json_open(&j, NULL, '{');
        for (int a = 0; a < PARTICLE_NUMBERS; a++)
            json_real(&j, names[a], *odt_number_of(p, a));
        for (int a = 0; a < NUMBER_DIAMETER + r->search.fit && r->search.fit > 0; a++) {
            snprintf(sigma, sizeof sigma, "%s_sigma", names[a]);
            json_real(&j, sigma, p->sigma[a]);
        }
        json_real(&j, "score", p->score);
        json_real(&j, "error_voxels", c->apart[k] / voxel);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_int(&j, "known", r->record.truth.count);
    json_int(&j, "known_found", c->pairs);
    json_real(&j, "largest_error_voxels", c->worst / voxel);
    json_real(&j, "index_error_inside", c->inside);
    json_real(&j, "index_error", c->all);
    json_real(&j, "misfit", r->search.misfit);
    json_int(&j, "solves", r->model.solves);
    json_int(&j, "iterations", r->model.iterations);
    json_real(&j, "solve_seconds", r->model.seconds);
    json_real(&j, "seconds", cli_clock() - r->begun);
    json_close(&j, '}');
}

/* --- the run -------------------------------------------------------------------------------------
 */

/* The first images, of an empty volume, for the file. */
static spry_status keep_images(odt_run *r)
{
    odt_search *s = &r->search;
    const int64_t n = odt_voxels(&r->setup.box);
    spry_status status = SPRY_STATUS_OK;
    float **const images[] = {&r->record.image, &r->record.linear, &r->record.index};
    for (size_t k = 0; k < sizeof images / sizeof *images; k++) {
        spry_free(r->ctx, *images[k]); /* the file may be a result */
        *images[k] = spry_alloc(r->ctx, (size_t)n * sizeof(float));
        if (!*images[k])
            ODT_GO(SPRY_STATUS_NO_MEMORY);
    }
    ODT_GO(odt_search_evaluate(s));
    ODT_GO(odt_search_look(s));
    for (int64_t k = 0; k < n; k++) {
        r->record.linear[k] = (float)sqrt(odt_square(s->image[k]));
        r->record.image[k] = (float)odt_search_score(s, k);
    }
done:
    return status;
}

/* The index of all voxels as the model has it now. */
static spry_status keep_index(odt_run *r)
{
    const int64_t n = odt_voxels(&r->setup.box);
    spry_vector *on_host = NULL;
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(spry_vector_new(r->ctx, SPRY_TYPE_Z, n, NULL, SPRY_OWN_COPY, &on_host));
    ODT_GO(spry_vector_copy(r->model.medium, on_host));
    const spry_scalar *k2 = spry_vector_data_const(on_host);
    const double kb2 = r->model.kb2;
    for (int64_t k = 0; k < n; k++)
        r->record.index[k] =
            (float)odt_index_of(r->setup.fluid, (spry_scalar){k2[k].re / kb2 - 1, k2[k].im / kb2});
done:
    spry_vector_free(on_host);
    return status;
}

static spry_status take_measured(odt_run *r)
{
    const int m = r->setup.optics.pixels;
    for (int i = 0; i < r->record.views; i++) {
        odt_view *v = &r->model.view[i];
        odt_view_take(v, r->record.holo + (ptrdiff_t)i * m * m, v->measured);
        v->fit_exposure = r->grey && v->optics.kind == KIND_INTENSITY;
    }
    return SPRY_STATUS_OK;
}

static spry_status prepare(odt_run *r)
{
    const odt_options *o = r->o;
    const double *setup = r->record.setup;
    spry_status status = SPRY_STATUS_OK;
    if (o->output)
        ODT_GO(spry_file_check_place(r->ctx, o->output));
    if (o->json && !file_is_stdout(o->json))
        ODT_GO(spry_file_check_place(r->ctx, o->json));
    if (o->checkpoint)
        ODT_GO(spry_file_check_place(r->ctx, o->checkpoint));
    ODT_GO(check_mode(r));
    ODT_GO(odt_make_model(r));
    ODT_GO(take_measured(r));
    r->search = (odt_search){.m = &r->model,
                             .sample = {.diameter = setup[SETUP_diameter],
                                        .index = setup[SETUP_index],
                                        .absorption = setup[SETUP_absorption]},
                             .threshold = o->threshold,
                             .most = (int)o->most,
                             .refine = (int)o->refine,
                             .fit = o->mode == MODE_PARTICLES ? o->fit : 0,
                             .note = note,
                             .data = r};
    progress_part(&r->line, 0, "one particle by itself");
    ODT_GO(odt_search_make(&r->search));
    if (!isfinite(r->search.empty)) /* squares of numbers that are finite may not be */
        ODT_GO(odt_fail(r->ctx, "the holograms are not finite or too large"));
    if (!(r->search.empty > 0))
        ODT_GO(odt_fail(r->ctx, "the holograms are empty: there is nothing in them but light"));
    progress_part(&r->line, 0, "the first image");
    ODT_GO(keep_images(r));
done:
    return status;
}

static spry_status nothing_found(const odt_run *r)
{
    char text[200];
    float most = -INFINITY;
    for (int64_t k = 0; k < odt_voxels(&r->setup.box); k++)
        most = r->record.image[k] > most ? r->record.image[k] : most;
    snprintf(text, sizeof text,
             "no particle is above the threshold %g: the largest score is %.3g; is the index, or "
             "the diameter, another one? --threshold sets another",
             r->o->threshold, (double)most);
    return odt_fail(r->ctx, text);
}

/* Particles of another frame, moved to where they are now. */
static spry_status begin_with(odt_run *r, const odt_particles *start)
{
    enum { STEPS = 10 };
    odt_search *s = &r->search;
    s->found.count = start->count < s->most ? start->count : s->most;
    for (int64_t k = 0; k < s->found.count; k++) /* which may be none, and no array */
        s->found.p[k] = start->p[k];
    const spry_status status = odt_search_evaluate(s);
    return status == SPRY_STATUS_OK ? odt_search_refine(s, STEPS, 0.05) : status;
}

static spry_status find(odt_run *r)
{
    odt_search *s = &r->search;
    spry_status status = SPRY_STATUS_OK;
    if (odt_has_checkpoint(r))
        ODT_GO(checkpoint(r, false));
    else if (r->start)
        ODT_GO(begin_with(r, r->start));
    ODT_GO(odt_search_run(s, r->o->mode == MODE_LINEAR));
    if (s->found.count == 0 && !r->start)
        ODT_GO(nothing_found(r));
    if (r->o->mode == MODE_LINEAR)
        ODT_GO(odt_search_evaluate(s)); /* the misfit of what was found */
    r->record.found.p = odt_alloc(r->ctx, s->found.count + 1, sizeof *s->found.p);
    if (!r->record.found.p)
        ODT_GO(SPRY_STATUS_NO_MEMORY);
    memcpy(r->record.found.p, s->found.p, (size_t)s->found.count * sizeof *s->found.p);
    r->record.found.count = s->found.count;
done:
    return status;
}

spry_status odt_reconstruct(odt_run *r)
{
    spry_status status = SPRY_STATUS_OK;
    spry_free(r->ctx, r->record.found.p); /* a result may be looked at again */
    r->record.found = (odt_particles){0};
    ODT_GO(prepare(r));
    if (r->o->mode == MODE_VOLUME)
        ODT_GO(odt_volume(r));
    else
        ODT_GO(find(r));
    ODT_GO(keep_index(r));
    ODT_GO(odt_compare_particles(r->ctx, &r->record.truth, &r->record.found, &r->compared));
    ODT_GO(odt_compare_index(&r->model, &r->record.truth, r->record.index, &r->compared));
    progress_clear(&r->line);
    if (r->o->output)
        ODT_GO(odt_record_write(r->ctx, &r->record, r->o->output));
done:
    return status;
}

int odt_report(const odt_run *r)
{
    if (!r->o->json || !file_is_stdout(r->o->json))
        print_result(r);
    return r->o->json ? file_write_text(r->ctx, r->o->json, write_json, r) : EXIT_DONE;
}
