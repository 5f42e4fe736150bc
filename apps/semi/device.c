/* A device: what is scaled, its contacts, its state. */
#include "semi/semi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double CHARGE = 1.602176634e-19, BOLTZMANN = 1.380649e-23;
static const double VACUUM = 8.8541878128e-12; /* F/m */
static const double UNIT_MOBILITY = 0.1;       /* m^2/Vs */
static const double HBAR_M = 0.0761996e-18;    /* hbar^2 over the electron's mass, in eV m^2 */

/* --- materials ---------------------------------------------------------------------------------*/

static const semi_material *material_at(const semi_device *d, int64_t node)
{
    const int32_t k = d->mesh.node_material[node];
    return k < 0 ? NULL : &d->mesh.materials->list[k];
}

static semi_band band_of(const semi_device *d, const semi_material *m, int c)
{
    const semi_options *o = d->o;
    const bool n = c == ELECTRONS;
    const double warm = o->temperature / 300, time = d->l0 * d->l0 / (UNIT_MOBILITY * d->vt);
    const double speed = UNIT_MOBILITY * d->vt / d->l0, states = n ? m->nc : m->nv;
    const double n0 = d->n0 * 1e6, unit = UNIT_MOBILITY * 1e4;
    const double cooling = pow(warm, -m->cooling[c]);
    return (semi_band){.edge =
                           (n ? m->affinity - d->level : d->level - m->affinity - m->gap) / d->vt,
                       .states = log(states / d->n0),
                       .gradient = HBAR_M / (6 * m->quantum_mass[c]) / (d->vt * d->l0 * d->l0),
                       .lifetime = (o->lifetime > 0 ? o->lifetime : m->lifetime[c]) / time,
                       .auger = m->auger[c] * 1e-12 * n0 * n0 * time,
                       .velocity = m->velocity[c] * 1e-2 / speed,
                       .power = m->saturation[c],
                       .emission = m->richardson[c] * 1e4 * o->temperature * o->temperature /
                                   (CHARGE * states * 1e6) / speed,
                       .mobility = m->mobility[c] * cooling / unit,
                       .least = m->least_mobility[c] / unit,
                       .reference = m->reference[c] / d->n0,
                       .slope = m->power[c]};
}

/* Units, with the first semiconductor's intrinsic level where psi = 0. */
static int make_scale(semi_device *d)
{
    const semi_material *first = NULL;
    double most = 0;
    for (int64_t i = 0; i < d->mesh.nodes; i++) {
        const semi_material *m = material_at(d, i);
        most = m ? fmax(most, fabs(d->doping[i])) : most;
        first = first ? first : m;
    }
    if (!first)
        return cli_fail(EXIT_INPUT, "no region is a semiconductor; --materials says what they are");
    d->vt = BOLTZMANN * d->o->temperature / CHARGE;
    d->n0 = fmax(most, 1e15);
    d->l0 = sqrt(VACUUM * d->vt / (CHARGE * d->n0 * 1e6));
    d->q0 = CHARGE * d->n0 * 1e6 * d->l0 * d->l0 * d->l0;
    d->j0 = CHARGE * UNIT_MOBILITY * d->vt * d->n0 * 1e6 * d->l0;
    d->level = first->affinity + 0.5 * first->gap + 0.5 * d->vt * log(first->nc / first->nv);
    for (int k = 0; k < d->mesh.materials->count; k++) {
        const semi_material *m = &d->mesh.materials->list[k];
        if (m->nc == 0)
            continue;
        for (int c = 0; c < CARRIERS; c++)
            d->matter[k].band[c] = band_of(d, m, c);
        d->matter[k].intrinsic = exp(0.5 * (log(m->nc) + log(m->nv) - m->gap / d->vt)) / d->n0;
    }
    for (int k = 0; k < d->mesh.regions; k++) {
        const semi_material *m = &d->mesh.materials->list[d->mesh.material[k]];
        if (m->nc > 0 && !(d->matter[d->mesh.material[k]].intrinsic > 1e-60))
            return cli_fail(EXIT_INPUT, "%s has next to no carriers of its own at %g K", m->name,
                            d->o->temperature);
    }
    return EXIT_DONE;
}

static void scale_mesh(semi_device *d)
{
    semi_mesh *m = &d->mesh;
    const double l = d->l0;
    for (int64_t i = 0; i < m->nodes; i++) {
        m->volume[i] /= l * l * l;
        m->area[i] /= l * l;
        m->wall[ELECTRONS][i] /= l;
        m->wall[HOLES][i] /= l;
        d->doping[i] = material_at(d, i) ? d->doping[i] / d->n0 : 0;
    }
    for (int64_t k = 0; k < m->start[m->nodes]; k++) {
        m->couple_eps[k] /= l;
        m->couple_semi[k] /= l;
        m->length[k] /= l;
    }
}

static void make_mobility(semi_device *d)
{
    for (int64_t i = 0; i < d->mesh.nodes; i++)
        for (int c = 0; c < CARRIERS && material_at(d, i); c++) {
            const semi_band *b = &d->matter[d->mesh.node_material[i]].band[c];
            const double doped = pow(fabs(d->doping[i]) / b->reference, b->slope);
            d->mobility[c][i] = d->o->mobility == MOBILITY_CONSTANT
                                    ? b->mobility
                                    : b->least + (b->mobility - b->least) / (1 + doped);
        }
}

/* --- contacts ----------------------------------------------------------------------------------*/

int semi_device_contact(const semi_device *d, const char *option, const char *name)
{
    char words[CLI_WORDS] = "";
    const int found = semi_find(d->mesh.contact_name, d->mesh.contacts, name);
    for (int k = 0; k < d->mesh.contacts; k++)
        cli_add_word(words, d->mesh.contact_name[k]);
    if (found < 0)
        app_fault(d->config, option, "no contact %s; there are: %s", name, words);
    return found;
}

/* NAME ohmic, NAME gate WORK, NAME schottky WORK */
static int take_contact(void *data, const char *text)
{
    semi_device *d = data;
    char name[SEMI_NAME], kind[SEMI_NAME], rest[2];
    double work = 0;
    const int given = sscanf(text, "%31s %31s %lf %1s", name, kind, &work, rest);
    const int number = given < 2 ? -1 : semi_device_contact(d, "contacts", name);
    if (given >= 2 && number < 0)
        return EXIT_INPUT;
    semi_contact *c = &d->contact[number < 0 ? 0 : number];
    const bool ohmic = given == 2 && strcmp(kind, "ohmic") == 0;
    if (!ohmic && !(given == 3 && (strcmp(kind, "gate") == 0 || strcmp(kind, "schottky") == 0)))
        return app_fault(d->config, "contacts",
                         "%s: expected NAME ohmic, NAME gate WORK or NAME schottky WORK", text);
    if (!ohmic && !(work > 0.1 && work < 20))
        return app_fault(d->config, "contacts", "a work function of %g eV", work);
    c->kind = ohmic ? CONTACT_OHMIC : kind[0] == 'g' ? CONTACT_GATE : CONTACT_SCHOTTKY;
    c->work = work;
    return EXIT_DONE;
}

/* What a contact touches has to suit it. */
static int check_contact(const semi_device *d, int number, int64_t nodes, int64_t carrying,
                         double area)
{
    const char *name = d->mesh.contact_name[number];
    const int kind = d->contact[number].kind;
    if (nodes == 0)
        return cli_fail(EXIT_INPUT, "contact %s touches nothing", name);
    if (kind == CONTACT_GATE && carrying > 0)
        return cli_fail(EXIT_INPUT, "gate %s touches a semiconductor: an insulator is missing",
                        name);
    if (kind != CONTACT_GATE && carrying == 0)
        return cli_fail(EXIT_INPUT, "contact %s touches insulators alone: it can be a gate", name);
    if (kind == CONTACT_SCHOTTKY && !(area > 0))
        return cli_fail(EXIT_INPUT, "contact %s has no area on the surface of the mesh", name);
    return EXIT_DONE;
}

static int make_contacts(semi_device *d, double work)
{
    const semi_mesh *m = &d->mesh;
    int64_t nodes[SEMI_CONTACTS] = {0}, carrying[SEMI_CONTACTS] = {0};
    double area[SEMI_CONTACTS] = {0};
    for (int64_t i = 0; i < m->nodes; i++) {
        const int k = m->contact[i];
        if (k < 0)
            continue;
        nodes[k]++;
        carrying[k] += m->node_material[i] >= 0;
        area[k] += m->area[i];
    }
    for (int k = 0; k < m->contacts; k++)
        d->contact[k] =
            (semi_contact){.kind = carrying[k] > 0 ? CONTACT_OHMIC : CONTACT_GATE, .work = work};
    int exit_status = semi_each_part(d->o->contacts, take_contact, d);
    for (int k = 0; k < m->contacts && exit_status == EXIT_DONE; k++)
        exit_status = check_contact(d, k, nodes[k], carrying[k], area[k]);
    return exit_status;
}

bool semi_fixed(const semi_device *d, int64_t node, int kind)
{
    const int k = d->mesh.contact[node];
    if (d->still[node] && (kind == PHI_N || kind == PHI_P))
        return true;
    return k >= 0 && (d->contact[k].kind != CONTACT_SCHOTTKY || kind == PSI || kind >= LAM_N);
}

/* --- parts that hang together ------------------------------------------------------------------*/

/* Which neighbours a walk goes to. */
typedef bool (*walk_fn)(const semi_device *d, int64_t from, int64_t edge);

static bool is_coupled(const semi_device *d, int64_t from, int64_t edge)
{
    (void)from;
    return d->mesh.couple_eps[edge] != 0;
}

static bool is_carried(const semi_device *d, int64_t from, int64_t edge)
{
    (void)from;
    return d->mesh.couple_semi[edge] > 0;
}

static bool is_alike(const semi_device *d, int64_t from, int64_t edge)
{
    return d->mesh.couple_semi[edge] > 0 && d->doping[from] * d->doping[d->mesh.to[edge]] > 0;
}

/* Nodes that a walk from one reaches, noted in `list`; seen: marks. */
static int64_t walk(const semi_device *d, int64_t from, walk_fn goes, char *seen, int64_t *list)
{
    int64_t count = 0;
    list[count++] = from;
    seen[from] = 1;
    for (int64_t k = 0; k < count; k++)
        for (int64_t e = d->mesh.start[list[k]]; e < d->mesh.start[list[k] + 1]; e++)
            if (!seen[d->mesh.to[e]] && goes(d, list[k], e)) {
                seen[d->mesh.to[e]] = 1;
                list[count++] = d->mesh.to[e];
            }
    return count;
}

/* The one contact of a part that carriers can go through; -1: none, -2: several. */
static int contact_of_part(const semi_device *d, const int64_t *list, int64_t count, bool any)
{
    int found = -1;
    for (int64_t k = 0; k < count; k++) {
        const int c = d->mesh.contact[list[k]];
        if (c < 0 || (!any && d->contact[c].kind == CONTACT_GATE))
            continue;
        found = found < 0 || found == c ? c : -2;
        if (found == -2)
            break;
    }
    return found;
}

/* Each part that a walk goes through needs a contact. Where carriers can go to one contact alone,
 * there is no current, and their potentials are that contact's. */
static int check_part(semi_device *d, walk_fn goes, bool any, char *seen, int64_t *list)
{
    const semi_mesh *m = &d->mesh;
    memset(seen, 0, (size_t)m->nodes);
    for (int64_t i = 0; i < m->nodes; i++) {
        if (seen[i] || (!any && m->node_material[i] < 0))
            continue;
        const int64_t count = walk(d, i, goes, seen, list);
        const int contact = contact_of_part(d, list, count, any);
        if (contact == -1)
            return cli_fail(EXIT_INPUT, "%s at %.4g %.4g %.4g nm has no contact",
                            any ? "the part of the mesh" : "the semiconductor",
                            m->place[3 * i] * 1e9, m->place[3 * i + 1] * 1e9,
                            m->place[3 * i + 2] * 1e9);
        for (int64_t k = 0; k < count && !any && contact >= 0; k++) {
            d->still[list[k]] = true;
            d->home[list[k]] = (int8_t)contact;
        }
    }
    return EXIT_DONE;
}

/* Potentials are kept relative to the voltage of the one contact of the n or p region around, so
 * that in it differences are exact, however small. */
static void find_homes(semi_device *d, char *seen, int64_t *list)
{
    const semi_mesh *m = &d->mesh;
    memset(seen, 0, (size_t)m->nodes);
    for (int64_t i = 0; i < m->nodes; i++) {
        if (seen[i] || m->node_material[i] < 0 || d->still[i])
            continue;
        const int64_t count = walk(d, i, is_alike, seen, list);
        const int home = contact_of_part(d, list, count, false);
        for (int64_t k = 0; k < count && home >= 0; k++)
            d->home[list[k]] = (int8_t)home;
    }
    for (int64_t i = 0; i < m->nodes; i++)
        if (m->contact[i] >= 0)
            d->home[i] = m->contact[i];
}

static int make_parts(semi_device *d)
{
    char *seen = cli_alloc((size_t)d->mesh.nodes);
    int64_t *list = cli_alloc((size_t)d->mesh.nodes * sizeof *list);
    memset(d->home, -1, (size_t)d->mesh.nodes);
    int exit_status = check_part(d, is_coupled, true, seen, list);
    if (exit_status == EXIT_DONE)
        exit_status = check_part(d, is_carried, false, seen, list);
    if (exit_status == EXIT_DONE)
        find_homes(d, seen, list);
    free(list);
    free(seen);
    return exit_status;
}

/* --- the state ---------------------------------------------------------------------------------*/

static double charge_at(const semi_device *d, int64_t node, double psi)
{
    const semi_matter *m = &d->matter[d->mesh.node_material[node]];
    double slope, n[CARRIERS];
    for (int c = 0; c < CARRIERS; c++) {
        const semi_band *b = &m->band[c];
        const double eta = (c == ELECTRONS ? psi : -psi) + b->edge;
        n[c] = exp(b->states + semi_statistics(d->o->statistics, eta, &slope));
    }
    return n[HOLES] - n[ELECTRONS] + d->doping[node];
}

/* The potential of a neutral node, by bisection: the charge falls with psi. */
static double neutral(const semi_device *d, int64_t node)
{
    double low = -400, high = 400;
    for (int k = 0; k < 100 && high - low > 1e-15; k++) {
        const double middle = 0.5 * (low + high);
        if (charge_at(d, node, middle) > 0)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

static void make_state(semi_device *d)
{
    const semi_mesh *m = &d->mesh;
    const size_t bytes = (size_t)m->nodes * sizeof(double);
    d->offset = cli_alloc(bytes);
    for (int k = 0; k < KINDS; k++)
        d->x[k] = cli_alloc(bytes);
    for (int c = 0; c < CARRIERS; c++) {
        d->u[c] = cli_alloc(bytes);
        d->du[c] = cli_alloc(bytes);
    }
    for (int64_t i = 0; i < m->nodes; i++) {
        const int k = m->contact[i];
        if (k >= 0 && d->contact[k].kind != CONTACT_OHMIC)
            d->x[PSI][i] = (d->level - d->contact[k].work) / d->vt;
        else if (m->node_material[i] >= 0)
            d->x[PSI][i] = neutral(d, i);
    }
}

void semi_device_bias(semi_device *d, const double *volts)
{
    for (int k = 0; k < d->mesh.contacts; k++)
        d->contact[k].voltage = volts[k];
    for (int64_t i = 0; i < d->mesh.nodes; i++)
        d->offset[i] = d->home[i] < 0 ? 0 : volts[d->home[i]] / d->vt;
}

void semi_device_densities(semi_device *d)
{
    const semi_mesh *m = &d->mesh;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->nodes; i++)
        for (int c = 0; c < CARRIERS && m->node_material[i] >= 0; c++) {
            const semi_band *b = &d->matter[m->node_material[i]].band[c];
            const double psi = d->x[PSI][i], phi = d->x[PHI_N + c][i];
            const double eta =
                (c == ELECTRONS ? psi - phi : phi - psi) + d->x[LAM_N + c][i] + b->edge;
            d->u[c][i] = b->states + semi_statistics(d->o->statistics, eta, &d->du[c][i]);
        }
}

int semi_device_make(semi_device *d, const semi_shape *shape)
{
    const size_t n = (size_t)d->mesh.nodes;
    d->doping = cli_alloc(n * sizeof(double));
    d->mobility[ELECTRONS] = cli_alloc(n * sizeof(double));
    d->mobility[HOLES] = cli_alloc(n * sizeof(double));
    d->home = cli_alloc(n);
    d->still = cli_alloc(n * sizeof *d->still);
    int exit_status = semi_doping_make(d, shape);
    if (exit_status == EXIT_DONE)
        exit_status = make_scale(d);
    if (exit_status == EXIT_DONE)
        exit_status = make_contacts(d, shape ? shape->work : d->o->work > 0 ? d->o->work : 4.1);
    if (exit_status != EXIT_DONE)
        return exit_status;
    scale_mesh(d);
    make_mobility(d);
    exit_status = make_parts(d);
    if (exit_status == EXIT_DONE)
        make_state(d);
    return exit_status;
}

void semi_device_free(semi_device *d)
{
    for (int k = 0; k < KINDS; k++)
        free(d->x[k]);
    for (int c = 0; c < CARRIERS; c++) {
        free(d->u[c]);
        free(d->du[c]);
        free(d->mobility[c]);
    }
    free(d->offset);
    free(d->doping);
    free(d->home);
    free(d->still);
    semi_mesh_free(&d->mesh);
}
