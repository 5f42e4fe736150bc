/* What regions are made of: a table that a file extends. */
#include "semi/semi.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 1024 };

/* At 300 K. Silicon: S. Selberherr, Analysis and Simulation of Semiconductor Devices (1984), and
 * C. Jacoboni et al. (1977); masses at walls: S. Jin, Y. J. Park and H. S. Min (2004). */
/* clang-format off */
static const semi_material known[] = {
    {.name = "silicon", .permittivity = 11.7, .affinity = 4.05, .gap = 1.1242, .nc = 2.86e19,
     .nv = 3.1e19, .varshni_a = 4.73e-4, .varshni_b = 636, .quantum_mass = {0.25, 0.3},
     .mobility = {1429, 479}, .least_mobility = {55.2, 49.7}, .reference = {1.07e17, 1.61e17},
     .power = {0.73, 0.70}, .cooling = {2.3, 2.2}, .velocity = {1.07e7, 8.37e6},
     .saturation = {2, 1}, .lifetime = {1e-6, 1e-6}, .auger = {2.8e-31, 9.9e-32},
     .richardson = {112, 32}},
    {.name = "germanium", .permittivity = 16.2, .affinity = 4.0, .gap = 0.664, .nc = 1.04e19,
     .nv = 6e18, .varshni_a = 4.77e-4, .varshni_b = 235, .quantum_mass = {0.22, 0.21},
     .mobility = {3900, 1900}, .least_mobility = {850, 300}, .reference = {2.6e17, 1e17},
     .power = {0.56, 1}, .cooling = {1.66, 2.33}, .velocity = {6e6, 6e6}, .saturation = {2, 1},
     .lifetime = {1e-6, 1e-6}, .auger = {1e-30, 1e-30}, .richardson = {143, 41}},
    {.name = "gaas", .permittivity = 12.9, .affinity = 4.07, .gap = 1.424, .nc = 4.35e17,
     .nv = 7.57e18, .varshni_a = 5.405e-4, .varshni_b = 204, .quantum_mass = {0.067, 0.45},
     .mobility = {8500, 400}, .least_mobility = {800, 40}, .reference = {1e17, 2.75e17},
     .power = {0.5, 0.4}, .cooling = {1, 2.1}, .velocity = {7.7e6, 7.7e6}, .saturation = {2, 1},
     .lifetime = {1e-9, 1e-9}, .auger = {1e-30, 1e-30}, .richardson = {8.2, 74}},
    {.name = "sio2", .permittivity = 3.9, .affinity = 0.9, .gap = 9, .barrier_mass = {0.22, 0.3}},
    {.name = "hfo2", .permittivity = 22, .affinity = 2.55, .gap = 5.8,
     .barrier_mass = {0.18, 0.3}},
};

static const struct {
    const char *name;
    size_t offset;
} keys[] = {
#define KEY(name) {#name, offsetof(semi_material, name)}
#define BOTH(name) {#name "_n", offsetof(semi_material, name[ELECTRONS])}, \
                   {#name "_p", offsetof(semi_material, name[HOLES])}
    KEY(permittivity), KEY(affinity), KEY(gap), KEY(nc), KEY(nv),
    KEY(varshni_a), KEY(varshni_b), BOTH(quantum_mass), BOTH(mobility), BOTH(least_mobility),
    BOTH(reference), BOTH(power), BOTH(cooling), BOTH(velocity), BOTH(saturation),
    BOTH(lifetime), BOTH(auger), BOTH(barrier_mass), BOTH(richardson)};
/* clang-format on */
enum { KEYS = sizeof keys / sizeof *keys };

int semi_materials_find(const semi_materials *m, const char *name)
{
    for (int k = m->count - 1; k >= 0; k--)
        if (strcmp(m->list[k].name, name) == 0)
            return k;
    return -1;
}

/* KEY=VALUE, or like=NAME; what is wrong with it, or NULL. */
static const char *set_key(const semi_materials *m, semi_material *material, const char *word)
{
    const char *equals = strchr(word, '=');
    char *after = NULL;
    if (!equals)
        return "expected KEY=VALUE";
    if (strncmp(word, "like=", 5) == 0) {
        char name[SEMI_NAME];
        const int k = semi_materials_find(m, equals + 1);
        if (k < 0)
            return "there is no material of this name before it";
        memcpy(name, material->name, sizeof name);
        *material = m->list[k];
        memcpy(material->name, name, sizeof name);
        return NULL;
    }
    const double value = strtod(equals + 1, &after);
    if (after == equals + 1 || *after || !(value >= 0 && value < 1e30))
        return "expected a number from 0 to 1e30";
    for (int k = 0; k < KEYS; k++)
        if (strlen(keys[k].name) == (size_t)(equals - word) &&
            strncmp(keys[k].name, word, (size_t)(equals - word)) == 0) {
            memcpy((char *)material + keys[k].offset, &value, sizeof value);
            return NULL;
        }
    return "unknown key; docs/semi.md has them all";
}

/* What a material needs, or NULL. */
static const char *check(const semi_material *m)
{
    if (!(m->permittivity >= 1 && m->permittivity < 1e6))
        return "permittivity is outside 1..1e6";
    if (m->nc == 0 && m->nv == 0)
        return NULL;
    if (!(m->nc > 0 && m->nv > 0 && m->gap > 0))
        return "a semiconductor needs nc, nv and gap; like=silicon has all";
    for (int c = 0; c < CARRIERS; c++)
        if (!(m->mobility[c] > 0 && m->velocity[c] > 0 && m->lifetime[c] > 0 &&
              m->reference[c] > 0 && m->quantum_mass[c] > 0 && m->saturation[c] > 0))
            return "a mobility, velocity, lifetime, reference, saturation or quantum_mass is 0";
    return NULL;
}

static int read_line(semi_materials *m, const char *path, int line, char *text)
{
    semi_material *material = &m->list[m->count];
    const char *wrong = NULL;
    char *at = NULL;
    text[strcspn(text, "#\r\n")] = '\0';
    char *word = strtok_r(text, " \t", &at);
    if (!word)
        return EXIT_DONE;
    if (m->count == SEMI_REGIONS)
        return cli_fail(EXIT_INPUT, "%s:%d: more than %d materials", path, line, SEMI_REGIONS);
    *material = (semi_material){0};
    snprintf(material->name, sizeof material->name, "%s", word);
    const char *first = word;
    for (word = strtok_r(NULL, " \t", &at); word && !wrong; word = strtok_r(NULL, " \t", &at)) {
        wrong = set_key(m, material, word);
        first = wrong ? word : first;
    }
    if (!wrong)
        wrong = check(material);
    if (wrong)
        return cli_fail(EXIT_INPUT, "%s:%d:%d: %s", path, line, (int)(first - text) + 1, wrong);
    m->count++;
    return EXIT_DONE;
}

int semi_materials_make(semi_materials *m, const char *path)
{
    char text[LINE_SIZE];
    int exit_status = EXIT_DONE;
    m->count = (int)(sizeof known / sizeof *known);
    memcpy(m->list, known, sizeof known);
    FILE *file = path ? fopen(path, "r") : NULL;
    if (path && !file)
        return cli_fail(EXIT_INPUT, "%s: %s", path, strerror(errno));
    for (int line = 1; file && exit_status == EXIT_DONE && fgets(text, sizeof text, file); line++)
        exit_status = strlen(text) == sizeof text - 1
                          ? cli_fail(EXIT_INPUT, "%s:%d: the line is too long", path, line)
                          : read_line(m, path, line, text);
    if (file)
        fclose(file);
    return exit_status;
}

/* Y. P. Varshni (1967); densities of states as T^1.5. */
void semi_material_heat(semi_material *m, double kelvin)
{
    const double a = m->varshni_a, b = m->varshni_b, states = pow(kelvin / 300, 1.5);
    m->gap += a * (300 * 300 / (300 + b) - kelvin * kelvin / (kelvin + b));
    m->nc *= states;
    m->nv *= states;
}
