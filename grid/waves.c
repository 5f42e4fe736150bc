/* Operators of waves as texts of the operators' language: by a scheme, of fields. */
#include "grid/helmholtz.h"
#include "grid/terms.h"

/* A factor that is added or taken away. */
static void put_factor(base_text *t, double factor)
{
    char shown[32];
    spry_number_print(fabs(factor), shown);
    base_text_put(t, " %c %s*", factor < 0 ? '-' : '+', shown);
}

static void put_products(base_text *t, const wave_terms *w)
{
    const int dimensions = w->shape->dimensions;
    for (int among = 3; among < 1 << dimensions; among++) {
        const double factor = scheme_factor(&w->scheme, w->shape, among);
        if (among == 4 || factor == 0) /* one axis alone */
            continue;
        put_factor(t, factor);
        for (int a = 0, rest = among; rest != 0; a++, rest >>= 1)
            if (rest & 1)
                base_text_put(t, "d%c^2%s", "xyz"[a], rest > 1 ? "*" : "");
    }
}

void waves_put_mean(base_text *t, const wave_terms *w, mean_kind kind)
{
    for (int a = 0; a < w->shape->dimensions && w->scheme.mean != 0; a++) {
        const double h = w->shape->axis[a].spacing;
        const char x = "xyz"[a];
        put_factor(t, w->scheme.mean * h * h);
        if (kind == MEAN_FLUX)
            base_text_put(t, "d%c(m*d%c)", x, x);
        else
            base_text_put(t, "d%c^2%s", x, kind == MEAN_OF_M ? "*m" : "");
    }
}

void waves_put_operator(base_text *t, const wave_terms *w)
{
    base_text_put(t, "%s", "m");
    for (int a = 0; a < w->shape->dimensions; a++)
        if (w->field[a])
            base_text_put(t, " + d%c(a%c*d%c)", "xyz"[a], "xyz"[a], "xyz"[a]);
        else
            base_text_put(t, " + d%c^2", "xyz"[a]);
    put_products(t, w);
    waves_put_mean(t, w, w->symmetric ? MEAN_FLUX : MEAN_OF_M);
}

int waves_fields(const wave_terms *w, const char *names[WAVE_FIELDS],
                 const spry_vector *values[WAVE_FIELDS])
{
    static const char *const field_names[WAVE_FIELDS] = {"ax", "ay", "az", "m"};
    int count = 0;
    for (int f = 0; f < WAVE_FIELDS; f++)
        if (w->field[f]) {
            names[count] = field_names[f];
            values[count++] = w->field[f];
        }
    return count;
}

spry_status waves_like(const spry_operator *A, const spry_grid *grid,
                       spry_vector *const field[WAVE_FIELDS], spry_operator **like)
{
    enum { ORDER = 2 };
    const stencil *s = stencil_of(A);
    const char *names[WAVE_FIELDS];
    const spry_vector *values[WAVE_FIELDS];
    char *text = NULL;
    base_text put = {.ctx = A->ctx};
    wave_terms w = {.grid = grid,
                    .shape = &grid->shape,
                    .type = A->type,
                    .scheme = s->waves->scheme,
                    .symmetric = s->waves->symmetric};
    spry_status status = SPRY_STATUS_OK;
    memcpy(w.field, field, sizeof w.field);
    waves_put_operator(&put, &w);
    SPRY_GO(A->ctx, base_text_take(&put, &text));
    const terms_given given = {text, waves_fields(&w, names, values), names, values, NULL};
    SPRY_GO(A->ctx, stencil_of_terms(A->ctx, s->host_class, w.shape, ORDER, w.type, &given, like));
done:
    base_free(A->ctx, text);
    return status;
}
