/* The misfit of the particles that were found, and the image of what they do not explain. */
#include "odt/search.h"

#include <string.h>

double odt_view_difference(odt_view *v, const spry_scalar *a, double *r)
{
    const int n = odt_view_numbers(v);
    double sum = 0;
    odt_view_data(v, a, r);
    const double square = odt_dot(n, v->measured, v->measured);
    if (v->fit_exposure && square > 0)
        v->exposure = odt_dot(n, r, v->measured) / square;
    for (int k = 0; k < n; k++) {
        r[k] -= v->exposure * v->measured[k];
        sum += r[k] * r[k];
    }
    return sum;
}

/* The amplitudes of all particles of a view together, in c. */
static void add_up(const odt_search *s, int view)
{
    const int count = s->m->view[view].count;
    memset(s->c[view], 0, (size_t)count * sizeof(spry_scalar));
    for (int j = 0; j < s->found.count; j++)
        for (int k = 0; k < count; k++)
            s->c[view][k] = odt_plus(s->c[view][k], s->alone[view][(ptrdiff_t)j * count + k]);
}

spry_status odt_search_evaluate(odt_search *s)
{
    spry_status status = SPRY_STATUS_OK;
    double sum = 0;
    ODT_GO(odt_model_set_particles(s->m, &s->found));
    for (int i = 0; i < s->m->setup.views; i++) {
        ODT_GO(odt_model_see_particles(s->m, i, &s->found, s->alone[i]));
        add_up(s, i);
        sum += odt_view_difference(&s->m->view[i], s->c[i], s->rest[i]);
    }
    s->misfit = s->empty > 0 ? sum / s->empty : sum;
    s->seen = false;
done:
    return status;
}

spry_status odt_search_look(odt_search *s)
{
    odt_model *m = s->m;
    spry_status status = SPRY_STATUS_OK;
    if (s->seen)
        return SPRY_STATUS_OK;
    ODT_GO(spry_vector_fill(m->sum, (spry_scalar){0, 0}));
    ODT_GO(odt_filter_begin(&s->filter));
    for (int i = 0; i < m->setup.views; i++) {
        odt_view *v = &m->view[i];
        odt_view_back(v, s->rest[i], s->c[i]);
        for (int k = 0; k < v->count; k++)
            s->c[i][k] = odt_times(s->c[i][k], v->factor[k]);
    }
    ODT_GO(odt_model_back(m, (const spry_scalar *const *)s->c));
    for (int i = 0; i < m->setup.views; i++) {
        ODT_GO(odt_model_show(m, i));
        ODT_GO(odt_filter_add(&s->filter, i));
        ODT_GO(spry_vector_axpy((spry_scalar){1, 0}, m->x, m->sum));
    }
    ODT_GO(odt_filter_take(&s->filter, s->match));
    ODT_GO(odt_model_take(m, m->sum, s->image));
    s->seen = true;
done:
    return status;
}
