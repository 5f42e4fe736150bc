/*
 * A particle at t makes of the light E_i that comes to it q_i(r - t) E_i(r), with q_i = f E / E_0
 * of the sample that is alone: all that goes on within a particle is in it. So half of the sum of
 * squares changes to first order by Re sum_r q_i(r - t) E_i(r) (b_i + S f b_i)(r): the image of the
 * view, correlated with q_i, which ends at the surface of a particle. For an empty volume that is
 * the correlation with the image of one particle; among others it knows how their light reaches
 * each part of the particle, and what becomes of waves from there. Correlations are products of
 * Fourier transforms; what comes in again from the other side is outside of where particles can be.
 */
#include "odt/filter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* q of a view, mirrored, so that a product of transforms correlates; of unitary transforms the
 * product wants the root of the number of voxels. */
static spry_status fill_shape(odt_model *m, int view, const odt_particle *p, spry_scalar *room)
{
    const odt_box *b = &m->setup.box;
    const odt_part part = odt_sphere_part(b, p);
    const spry_scalar contrast = odt_contrast_of(m, p);
    const double scale = -m->kb2 * sqrt((double)odt_voxels(b));
    const spry_status status = odt_model_take(m, m->total[view], room);
    spry_scalar *q = spry_vector_data(m->on_host);
    memset(q, 0, (size_t)odt_voxels(b) * sizeof *q);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < part.n[0] * part.n[1] * part.n[2]; i++) {
        int64_t voxel[3], to = 0;
        const int64_t from = odt_voxel_of(b, &part, i, voxel);
        double phase = 0;
        for (int a = 2; a >= 0; a--) {
            const int64_t middle = (int64_t)llround(odt_number(b, a, p->at[a]));
            to = to * b->n[a] + (middle - voxel[a] + b->n[a]) % b->n[a];
            phase -= m->setup.optics.k * m->view[view].light[a] * odt_place(b, a, voxel[a]);
        }
        const double f = scale * odt_sphere_share(b, p, voxel);
        q[to] = odt_times(odt_times(room[from], (spry_scalar){f * cos(phase), f * sin(phase)}),
                          contrast);
    }
    return status;
}

spry_status odt_filter_make(odt_model *m, odt_filter *f)
{
    char options[100];
    const int views = m->setup.views;
    spry_status status = SPRY_STATUS_OK;
    *f = (odt_filter){.m = m, .shape = odt_alloc(m->ctx, views, sizeof *f->shape)};
    if (!f->shape)
        return SPRY_STATUS_NO_MEMORY;
    snprintf(options, sizeof options, "type=z device=%.60s", m->setup.device);
    ODT_GO(spry_operator_fourier(m->grid, options, &f->F));
    ODT_GO(odt_model_vector(m, &f->sum));
    for (int i = 0; i < views; i++)
        ODT_GO(odt_model_vector(m, &f->shape[i]));
done:
    return status;
}

spry_status odt_filter_learn(odt_filter *f, const odt_particle *sample, spry_scalar *room)
{
    odt_model *m = f->m;
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < m->setup.views; i++) {
        ODT_GO(fill_shape(m, i, sample, room));
        ODT_GO(spry_vector_copy(m->on_host, m->u));
        ODT_GO(spry_operator_apply(f->F, m->u, f->shape[i]));
    }
done:
    return status;
}

void odt_filter_free(odt_filter *f)
{
    if (!f->m)
        return;
    for (int i = 0; i < f->m->setup.views && f->shape; i++)
        spry_vector_free(f->shape[i]);
    spry_free(f->m->ctx, (void *)f->shape);
    spry_vector_free(f->sum);
    spry_operator_free(f->F);
    *f = (odt_filter){0};
}

spry_status odt_filter_begin(odt_filter *f)
{
    return spry_vector_fill(f->sum, (spry_scalar){0, 0});
}

spry_status odt_filter_add(odt_filter *f, int view)
{
    odt_model *m = f->m;
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(spry_operator_apply(f->F, m->x, m->u));
    ODT_GO(spry_vector_multiply(m->u, f->shape[view], m->u));
    ODT_GO(spry_vector_axpy((spry_scalar){1, 0}, m->u, f->sum));
done:
    return status;
}

spry_status odt_filter_take(odt_filter *f, spry_scalar *to)
{
    odt_model *m = f->m;
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(spry_operator_multiply(f->F, SPRY_TRANSPOSE_CONJUGATE, (spry_scalar){1, 0}, f->sum,
                                  (spry_scalar){0, 0}, m->u));
    ODT_GO(odt_model_take(m, m->u, to));
done:
    return status;
}
