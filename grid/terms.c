/*
 * Terms as parts of a stencil: fields, derivatives, fields, derivatives, fields, from the left.
 * Adjacent fields are multiplied once, and kept for all points.
 */
#include "grid/terms.h"

#include "grid/blocks.h"

#include <math.h>

/* Adjacent coefficients, by number, rising. Behind those that were given come 1 inside of a domain
 * and 0 outside, and what is filled in later. */
typedef struct field_list {
    int count, field[ATOMS_MOST + 1];
} field_list;
enum { FIELDS_MOST = 4 * TERMS_MOST }; /* the room for a domain's term is that of a term's three */

/* A term with its atoms sorted by what they do. */
typedef struct sorted_term {
    field_list fields[3];
    axis_work work[GRID_AXES];
} sorted_term;

static void add_field(field_list *list, int field)
{
    int k = list->count++;
    for (; k > 0 && list->field[k - 1] > field; k--)
        list->field[k] = list->field[k - 1];
    list->field[k] = field;
}

/* A single block of derivatives is the inner one, and fields behind it are those of the column. */
static void settle(sorted_term *t, int stage, bool flux)
{
    if (flux || stage >= 3)
        return;
    for (int a = 0; a < GRID_AXES; a++) {
        axis_work *w = &t->work[a];
        memcpy(w->inner, w->outer, sizeof w->inner);
        w->inner_count = w->outer_count;
        w->outer_count = 0;
    }
    t->fields[2] = t->fields[1];
    t->fields[1] = (field_list){0};
}

/* Stages: 0 fields, 1 derivatives, 2 fields, 3 derivatives, 4 fields. */
static spry_status sort_term(spry_context *ctx, const char *text, const stencil_term *term,
                             sorted_term *t)
{
    int stage = 0;
    bool flux = false, open = false;
    *t = (sorted_term){0};
    for (int k = 0; k < term->count; k++) {
        const term_atom *atom = &term->atoms[k];
        if (atom->kind == ATOM_FIELD) {
            stage += stage % 2;
            add_field(&t->fields[open ? 1 : stage / 2], atom->field);
            continue;
        }
        if (atom->kind == ATOM_FLUX) {
            if (!open && stage > 0)
                return stencil_fault(
                    ctx, text, atom->place,
                    "a flux, div( *grad) or dx( *dx), stands behind no derivative");
            t->work[atom->axis].flux = t->work[atom->axis].mid = flux = true;
            open = !open;
            stage = open ? 0 : 4;
            continue;
        }
        stage += stage % 2 == 0;
        if (stage > 3)
            return stencil_fault(ctx, text, atom->place,
                                 "a term has at most one field or product of fields between "
                                 "derivatives, and none before a third one");
        axis_work *w = &t->work[atom->axis];
        if (stage == 1)
            w->outer[w->outer_count++] = atom->power;
        else
            w->inner[w->inner_count++] = atom->power;
    }
    settle(t, stage, flux);
    for (int a = 0; a < GRID_AXES; a++) {
        t->work[a].mid = t->work[a].flux || t->fields[1].count > 0;
        t->work[a].slopes = t->fields[2].count == 0;
    }
    return SPRY_STATUS_OK;
}

/* --- fields --------------------------------------------------------------------------------------
 */

typedef struct terms_maker {
    spry_context *ctx;
    spry_type type;
    const terms_given *given;
    stencil *s;
    int domain;                   /* the coefficient that has one; -1: none */
    field_list made[FIELDS_MOST]; /* what each field of the stencil is the product of */
} terms_maker;

/* The product of coefficients, at this rank's points. */
static spry_status multiply_fields(void *data, int field, const grid_box *own, void *to)
{
    const terms_maker *m = data;
    const field_list *list = &m->made[field];
    for (int k = 0; k < list->count; k++) {
        const bool inside = list->field[k] == m->given->count;
        if (list->field[k] > m->given->count)
            break;
        const spry_vector *v = m->given->values[inside ? m->domain : list->field[k]];
        const spry_vector *on_host = NULL;
        spry_vector *copy = NULL;
        const spry_status status = vector_on_host(v, &on_host, &copy);
        for (int64_t i = 0; i < box_count(own) && status == SPRY_STATUS_OK; i++) {
            spry_scalar value = value_get(on_host->type, on_host->data, i);
            if (inside)
                value = (spry_scalar){value.re < 0, 0};
            if (k > 0) {
                const spry_scalar a = value_get(m->type, to, i);
                value = (spry_scalar){a.re * value.re - a.im * value.im,
                                      a.re * value.im + a.im * value.re};
            }
            value_set(m->type, to, i, value);
        }
        spry_vector_free(copy);
        if (status != SPRY_STATUS_OK)
            return status;
    }
    return SPRY_STATUS_OK;
}

/* The field of a product, a new one where there is none such; -1 for none. */
static void find_field(terms_maker *m, const field_list *list, int *field)
{
    stencil *s = m->s;
    *field = -1;
    if (list->count == 0)
        return;
    for (int f = 0; f < s->field_count; f++)
        if (m->made[f].count == list->count &&
            memcmp(m->made[f].field, list->field, (size_t)list->count * sizeof(int)) == 0) {
            *field = f;
            return;
        }
    *field = s->field_count;
    m->made[s->field_count++] = *list;
}

void terms_reach(const stencil *s, bool transposes, int64_t reach[GRID_AXES])
{
    for (int a = 0; a < GRID_AXES; a++) {
        reach[a] = 0;
        for (int p = 0; p < s->parts_count; p++) {
            const stencil_part *part = &s->parts[p];
            const int64_t plain = part->has[a] ? axis_table_reach(&part->table[a]) : 0;
            const int64_t back =
                part->has[a] && transposes ? axis_table_reach(&part->transposed[a]) : 0;
            reach[a] = plain > reach[a] ? plain : reach[a];
            reach[a] = back > reach[a] ? back : reach[a];
        }
    }
}

spry_status terms_fill(spry_context *ctx, spry_type type, stencil *s, int count,
                       const int64_t wider[GRID_AXES], terms_numbers numbers, void *data)
{
    const bool cut = grid_is_cut(&s->shape);
    const grid_box own = grid_own(ctx, &s->shape, true);
    const size_t size = spry_type_size(type);
    int64_t reach[GRID_AXES];
    grid_halo halo = {0};
    void *mine = NULL;
    spry_status status = SPRY_STATUS_OK;
    terms_reach(s, true, reach);
    for (int a = 0; a < GRID_AXES; a++)
        reach[a] += wider[a];
    s->points = grid_wider(&s->shape, true, &own, reach);
    s->field_count = count;
    if (cut && count > 0) {
        SPRY_GO(ctx, grid_halo_make(ctx, type, &s->shape, true, &s->points, &halo));
        status = base_alloc(ctx, box_count(&own), size, &mine);
    }
    for (int f = 0; f < count; f++) {
        if (status == SPRY_STATUS_OK)
            status = base_calloc(ctx, box_count(&s->points), size, &s->fields[f]);
        if (status == SPRY_STATUS_OK)
            status = numbers(data, f, &own, cut ? mine : s->fields[f]);
        SPRY_GO(ctx, grid_agree(ctx, &s->shape, status));
        if (cut) {
            box_copy(type, &own, &own, mine, &s->points, s->fields[f]);
            SPRY_GO(ctx, grid_halo_exchange(&halo, s->fields[f]));
        }
    }
done:
    base_free(ctx, mine);
    grid_halo_clear(&halo);
    return status;
}

static spry_status check_values(const terms_maker *m, coefficient_name *names)
{
    const terms_given *g = m->given;
    const grid_box own = grid_own(m->ctx, &m->s->shape, true);
    const int64_t points = box_count(&own);
    for (int i = 0; i < g->count; i++) {
        const spry_vector *v = g->values[i];
        if (!g->names[i] || !v)
            return SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_USAGE,
                             "coefficient %d has no name or no vector", i);
        const bool constant = v->n == 1 && !v->part.is;
        if (!constant && v->n != points)
            return SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_USAGE,
                             "coefficient %s has %" PRId64
                             " elements, expected 1, or one for each of the %" PRId64 " points%s",
                             g->names[i], v->n, points,
                             grid_is_cut(&m->s->shape) ? " of this rank" : "");
        if (spry_type_is_complex(v->type) && !spry_type_is_complex(m->type))
            return SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_USAGE,
                             "coefficient %s is complex, the operator of type %s", g->names[i],
                             spry_type_name(m->type));
        names[i] = (coefficient_name){.name = g->names[i], .constant = constant};
        if (constant) {
            const spry_vector *on_host = NULL;
            spry_vector *copy = NULL;
            const spry_status status = vector_on_host(v, &on_host, &copy);
            if (status == SPRY_STATUS_OK)
                names[i].value = value_get(on_host->type, on_host->data, 0);
            spry_vector_free(copy);
            if (status != SPRY_STATUS_OK)
                return status;
        }
    }
    return SPRY_STATUS_OK;
}

/* --- domains -------------------------------------------------------------------------------------
 */

/* Looks for the coefficient that has the domain. */
static spry_status find_domain(terms_maker *m)
{
    const terms_given *g = m->given;
    const stencil *s = m->s;
    m->domain = -1;
    if (!g->domain || !g->domain[0])
        return SPRY_STATUS_OK;
    for (int i = 0; i < g->count; i++)
        if (strcmp(g->names[i], g->domain) == 0)
            m->domain = i;
    if (m->domain < 0)
        return SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_USAGE,
                         "domain=%s is no coefficient that was given", g->domain);
    const spry_vector *phi = g->values[m->domain];
    if (phi->n == 1 && s->shape.points > 1)
        return SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_USAGE,
                         "domain=%s is a constant, expected a field of all points, negative inside",
                         g->domain);
    if (spry_type_is_complex(phi->type))
        return SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_USAGE,
                         "domain=%s is complex, expected real numbers, negative inside", g->domain);
    if (s->order > 2)
        return SPRY_FAIL(m->ctx, SPRY_STATUS_UNSUPPORTED,
                         "domain=%s is for order=2, and this is order=%d", g->domain, s->order);
    if (grid_is_cut(&s->shape))
        return SPRY_FAIL(m->ctx, SPRY_STATUS_UNSUPPORTED,
                         "domain=%s: the grid is partitioned over ranks; take ranks=none, which "
                         "gives every rank the whole grid",
                         g->domain);
    for (int64_t i = 0; i < phi->n; i++)
        if (!isfinite(value_get(phi->type, phi->data, i).re))
            return SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_INPUT,
                             "domain=%s: the number of point %" PRId64 " is not finite", g->domain,
                             i);
    return SPRY_STATUS_OK;
}

/* Multiplies a term by 0 outside, at its rows and, of derivatives, at its columns. */
static void within_domain(terms_maker *m, sorted_term *t)
{
    stencil *s = m->s;
    bool differs = false;
    for (int a = 0; a < GRID_AXES; a++)
        differs = differs || t->work[a].flux || t->work[a].inner_count + t->work[a].outer_count > 0;
    find_field(m, &t->fields[2], &s->domain.behind[s->parts_count - 1]);
    add_field(&t->fields[0], m->given->count);
    if (differs)
        add_field(&t->fields[2], m->given->count);
}

/* The term of the diagonal, a field that is filled in later. */
static spry_status add_diagonal(terms_maker *m)
{
    stencil *s = m->s;
    if (s->parts_count == TERMS_MOST)
        return SPRY_FAIL(m->ctx, SPRY_STATUS_UNSUPPORTED,
                         "an operator of %d terms has no room for that of domain=%s", TERMS_MOST,
                         m->given->domain);
    stencil_part *part = &s->parts[s->parts_count];
    *part = (stencil_part){.c = {1, 0}, .field = {-1, -1, -1}};
    find_field(m, &(field_list){1, {m->given->count + 1}}, &part->field[0]);
    find_field(m, &(field_list){1, {m->domain}}, &s->domain.phi);
    s->domain.is = true;
    s->domain.part = s->parts_count++;
    return SPRY_STATUS_OK;
}

static spry_status make_part(terms_maker *m, const stencil_term *term)
{
    stencil *s = m->s;
    stencil_part *part = &s->parts[s->parts_count++];
    sorted_term sorted;
    spry_status status = SPRY_STATUS_OK;
    part->c = term->factor;
    SPRY_GO(m->ctx, sort_term(m->ctx, m->given->text, term, &sorted));
    if (m->domain >= 0)
        within_domain(m, &sorted);
    for (int f = 0; f < 3; f++)
        find_field(m, &sorted.fields[f], &part->field[f]);
    for (int a = 0; a < s->shape.dimensions; a++) {
        const axis_work *w = &sorted.work[a];
        if (w->outer_count + w->inner_count == 0 && !w->flux)
            continue;
        SPRY_GO(m->ctx, axis_table_make(m->ctx, &s->shape.axis[a], "xyz"[a], s -> order, w,
                                        &part -> table[a]));
        SPRY_GO(m->ctx, axis_table_transpose(m->ctx, &part->table[a], &part->transposed[a]));
        part->has[a] = true;
        part->work[a] = *w;
    }
done:
    return status;
}

/* All but the numbers of fields. */
static spry_status make_parts(terms_maker *m, stencil_terms **terms, coefficient_name **names)
{
    spry_context *ctx = m->ctx;
    const terms_given *given = m->given;
    stencil *s = m->s;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof **terms, terms));
    SPRY_GO(ctx, base_calloc(ctx, given->count, sizeof **names, names));
    SPRY_GO(ctx, base_calloc(ctx, FIELDS_MOST, sizeof *s->fields, &s->fields));
    s->text = base_copy_text(ctx, given->text);
    if (!s->text)
        return SPRY_STATUS_NO_MEMORY;
    SPRY_GO(ctx, check_values(m, *names));
    SPRY_GO(ctx, find_domain(m));
    SPRY_GO(ctx,
            stencil_parse(ctx, given->text, s->shape.dimensions, given->count, *names, *terms));
    for (int k = 0; k < (*terms)->count; k++)
        SPRY_GO(ctx, make_part(m, &(*terms)->list[k]));
    if (m->domain >= 0)
        SPRY_GO(ctx, add_diagonal(m));
done:
    return status;
}

spry_status terms_make(spry_context *ctx, spry_type type, const terms_given *given, stencil *s)
{
    static const int64_t none[GRID_AXES] = {0};
    terms_maker *m = NULL;
    stencil_terms *terms = NULL;
    coefficient_name *names = NULL;
    spry_status status = base_calloc(ctx, 1, sizeof *m, &m);
    if (status == SPRY_STATUS_OK) {
        *m = (terms_maker){.ctx = ctx, .type = type, .given = given, .s = s};
        status = make_parts(m, &terms, &names);
    }
    SPRY_GO(ctx, grid_agree(ctx, &s->shape, status));
    SPRY_GO(ctx, terms_fill(ctx, type, s, s->field_count, none, multiply_fields, m));
done:
    base_free(ctx, names);
    base_free(ctx, terms);
    base_free(ctx, m);
    return status;
}

void terms_clear(spry_context *ctx, stencil *s)
{
    for (int p = 0; p < s->parts_count; p++)
        for (int a = 0; a < GRID_AXES; a++) {
            axis_table_clear(ctx, &s->parts[p].table[a]);
            axis_table_clear(ctx, &s->parts[p].transposed[a]);
        }
    for (int f = 0; f < s->field_count; f++)
        base_free(ctx, s->fields[f]);
    base_free(ctx, s->fields);
    base_free(ctx, s->text);
}
