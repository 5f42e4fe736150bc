/* Strands of rows made on a device: see device_make.h and make_strands.knl. */
#include "formats/shared/device_make.h"

static spry_status build(const device_maker *m, const make_strands *s, device_program **p)
{
    char options[96];
    snprintf(options, sizeof options, "-DHEIGHT=%d -DTH=%d -DTHW=%d -DCOMPACT=%d -DBARE=%d",
             (int)s->height, (int)s->TH, (int)s->THW, s->compact, s->bare);
    return make_build(m, "make_strands", options, p);
}

void make_strands_free(make_strands *s)
{
    device_free(s->owned);
    if (!s->adopted)
        device_free(s->first);
    s->owned = s->first = NULL;
    s->starts = NULL;
}

spry_status make_strands_count(const device_maker *m, make_strands *s)
{
    spry_context *ctx = m->d->ctx;
    const device_matrix *A = m->A;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    s->starts = A->offsets;
    s->count = A->nnz;
    if (s->compact)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m, s, &p));
    SPRY_GO(ctx, make_cleared(m->d, A->rows + 1, sizeof(int64_t), &s->owned));
    s->starts = s->owned;
    const device_arg args[] = {
        DEVICE_VALUE(A->rows), device_arg_memory(A->offsets), device_arg_memory(s->owned), {0}};
    SPRY_GO(ctx, make_launch(p, "count_strands", A->rows, args));
    SPRY_GO(ctx, device_sum_up(m->d, s->owned, A->rows + 1));
    SPRY_GO(ctx, make_look(s->starts, A->rows, &s->count));
done:
    return status;
}

spry_status make_strands_cut(const device_maker *m, make_strands *s, device_memory *carries,
                             device_memory *firsts, int64_t *most)
{
    spry_context *ctx = m->d->ctx;
    device_program *p = NULL;
    device_memory *widest = NULL;
    int32_t found = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m, s, &p));
    SPRY_GO(ctx, make_cleared(m->d, 1, sizeof found, &widest));
    SPRY_GO(ctx, device_alloc(m->d, (s->units + 1) * (int64_t)sizeof(int64_t), &s->first));
    const device_arg args[] = {
        DEVICE_VALUE(m->A->rows),     DEVICE_VALUE(s->units),      DEVICE_VALUE(s->share),
        device_arg_memory(s->starts), device_arg_memory(s->first), device_arg_memory(carries),
        device_arg_memory(firsts),    device_arg_memory(widest),   {0}};
    SPRY_GO(ctx, make_launch(p, "cut_units", s->units + 1, args));
    SPRY_GO(ctx, make_look32(widest, 0, &found));
    *most = found;
done:
    device_free(widest);
    return status;
}

spry_status make_strands_fill(const device_maker *m, const make_strands *s, int64_t stored,
                              device_memory *columns, device_memory *values)
{
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(m->d->ctx, build(m, s, &p));
    const device_arg args[] = {DEVICE_VALUE(stored),
                               DEVICE_VALUE(s->count),
                               DEVICE_VALUE(s->share),
                               device_arg_memory(m->A->offsets),
                               device_arg_memory(m->A->columns),
                               device_arg_memory(m->values),
                               device_arg_memory(s->starts),
                               device_arg_memory(s->first ? s->first : s->starts),
                               device_arg_memory(columns),
                               device_arg_memory(values),
                               {0}};
    SPRY_GO(m->d->ctx, make_launch(p, "fill_strands", stored, args));
done:
    return status;
}

spry_status make_strands_ends(const device_maker *m, const make_strands *s, int64_t padded,
                              device_memory *leads, device_memory *ends)
{
    spry_context *ctx = m->d->ctx;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m, s, &p));
    const device_arg units[] = {DEVICE_VALUE(s->units),       DEVICE_VALUE(s->share),
                                DEVICE_VALUE(s->count),       DEVICE_VALUE(padded),
                                device_arg_memory(s->starts), device_arg_memory(s->first),
                                device_arg_memory(leads),     {0}};
    SPRY_GO(ctx, make_launch(p, "find_leads", s->units, units));
    const device_arg rows[] = {DEVICE_VALUE(m->A->rows), DEVICE_VALUE(s->units),
                               DEVICE_VALUE(s->share),   DEVICE_VALUE(s->count),
                               DEVICE_VALUE(padded),     device_arg_memory(s->starts),
                               device_arg_memory(ends),  {0}};
    SPRY_GO(ctx, make_launch(p, "find_ends", m->A->rows, rows));
done:
    return status;
}

spry_status make_strands_cut_ends(const device_maker *m, const make_strands *s,
                                  device_memory *first, device_memory *carries,
                                  device_memory *firsts, device_memory *ends)
{
    spry_context *ctx = m->d->ctx;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m, s, &p));
    const device_arg units[] = {DEVICE_VALUE(m->A->rows),  DEVICE_VALUE(s->units),
                                DEVICE_VALUE(s->share),    device_arg_memory(s->starts),
                                device_arg_memory(first),  device_arg_memory(carries),
                                device_arg_memory(firsts), {0}};
    SPRY_GO(ctx, make_launch(p, "cut_ends", s->units + 1, units));
    const device_arg rows[] = {DEVICE_VALUE(m->A->rows),
                               DEVICE_VALUE(s->share),
                               device_arg_memory(s->starts),
                               device_arg_memory(ends),
                               {0}};
    SPRY_GO(ctx, make_launch(p, "place_ends", m->A->rows, rows));
done:
    return status;
}
