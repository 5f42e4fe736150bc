/* Meshes of Gmsh, .msh 2.2 and 4.1, as text: named volumes are regions, named surfaces contacts; in
 * two dimensions surfaces and curves. */
#include "semi/semi.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 4096, NAMES = SEMI_REGIONS + SEMI_CONTACTS, NODES_MOST = 100000000 };

/* An element: what it is a part of, and its nodes by Gmsh's numbers. */
typedef struct element {
    int dim, physical;
    int64_t node[4];
    int line;
} element;

/* An entity of format 4: which physical group it is in. */
typedef struct entity {
    int dim, tag, physical;
} entity;

typedef struct reader {
    FILE *file;
    const char *path;
    int line;
    char text[LINE_SIZE];
    bool four; /* format 4.1 */
    struct {
        int dim, tag;
        char name[SEMI_NAME];
    } name[NAMES];
    int names;
    int64_t nodes, elements, entities, node_room, element_room, entity_room;
    int64_t *number; /* of each node */
    double *place;
    element *element;
    entity *entity;
} reader;

SPRY_PRINTF(2, 3) static int fail(const reader *r, const char *format, ...)
{
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return cli_fail(EXIT_INPUT, "%s:%d: %s", r->path, r->line, message);
}

static bool next_line(reader *r)
{
    r->line++;
    return fgets(r->text, sizeof r->text, r->file) != NULL;
}

/* `count` whole numbers of a line, from a place on, which moves. */
static bool take_numbers(char **at, int64_t *numbers, int count)
{
    for (int k = 0; k < count; k++) {
        char *after;
        errno = 0;
        numbers[k] = strtoll(*at, &after, 10);
        if (after == *at || errno || numbers[k] > INT32_MAX || numbers[k] < INT32_MIN)
            return false;
        *at = after;
    }
    return true;
}

static bool line_of_numbers(reader *r, int64_t *numbers, int count)
{
    char *at = r->text;
    return next_line(r) && take_numbers(&at, numbers, count);
}

/* Room for one more of a list. */
static void *room_for(void *list, int64_t count, int64_t *room, size_t size)
{
    if (count < *room)
        return list;
    *room = 2 * *room + 1024;
    list = realloc(list, (size_t)*room * size);
    if (!list)
        exit(cli_fail(EXIT_RESOURCES, "no memory for a mesh"));
    return list;
}

/* --- sections ----------------------------------------------------------------------------------*/

static int read_format(reader *r)
{
    double version;
    int binary, size;
    if (!next_line(r) || sscanf(r->text, "%lf %d %d", &version, &binary, &size) != 3)
        return fail(r, "expected VERSION TYPE SIZE");
    if (binary != 0)
        return fail(r, "a binary mesh; write it as text (Mesh.Binary = 0)");
    r->four = fabs(version - 4.1) < 1e-9;
    return r->four || fabs(version - 2.2) < 1e-9
               ? EXIT_DONE
               : fail(r, "format %g; there are 2.2 and 4.1", version);
}

static int read_names(reader *r)
{
    int64_t count, head[2];
    if (!line_of_numbers(r, &count, 1) || count < 0 || count > NAMES)
        return fail(r, "expected up to %d names", NAMES);
    for (int64_t k = 0; k < count; k++) {
        char *at = r->text;
        if (!next_line(r) || !take_numbers(&at, head, 2) || !strchr(at, '"'))
            return fail(r, "expected DIMENSION NUMBER \"NAME\"");
        at = strchr(at, '"') + 1;
        const size_t length = strcspn(at, "\"");
        if (length == 0 || length >= SEMI_NAME || at[strcspn(at, " ,\"")] != '"')
            return fail(r, "a name has 1 to %d letters, no blank and no comma", SEMI_NAME - 1);
        r->name[r->names].dim = (int)head[0];
        r->name[r->names].tag = (int)head[1];
        snprintf(r->name[r->names++].name, SEMI_NAME, "%.*s", (int)length, at);
    }
    return EXIT_DONE;
}

/* Format 4: groups of points, curves, surfaces, volumes; a point has three coordinates, others the
 * six of a box. */
static int read_entities(reader *r)
{
    int64_t counts[4], tag, groups, group = 0;
    if (!line_of_numbers(r, counts, 4))
        return fail(r, "expected four counts");
    for (int dim = 0; dim < 4; dim++)
        for (int64_t k = 0; k < counts[dim]; k++) {
            char *at = r->text, *after;
            if (!next_line(r) || !take_numbers(&at, &tag, 1))
                return fail(r, "expected an entity");
            for (int c = 0; c < (dim == 0 ? 3 : 6); c++, at = after) {
                strtod(at, &after);
                if (after == at)
                    return fail(r, "expected a coordinate");
            }
            if (!take_numbers(&at, &groups, 1) || groups < 0 ||
                (groups > 0 && !take_numbers(&at, &group, 1)))
                return fail(r, "expected groups");
            r->entity = room_for(r->entity, r->entities, &r->entity_room, sizeof *r->entity);
            r->entity[r->entities++] =
                (entity){dim, (int)tag, groups > 0 ? (int)(group < 0 ? -group : group) : 0};
        }
    return EXIT_DONE;
}

static int add_node(reader *r, int64_t number, const char *text)
{
    double p[3];
    if (sscanf(text, "%lf %lf %lf", &p[0], &p[1], &p[2]) != 3 || !isfinite(p[0] + p[1] + p[2]))
        return fail(r, "expected three coordinates");
    if (number < 1 || number > NODES_MOST)
        return fail(r, "node %lld is outside 1..%d", (long long)number, NODES_MOST);
    int64_t room = r->node_room;
    r->number = room_for(r->number, r->nodes, &room, sizeof *r->number);
    r->place = room_for(r->place, r->nodes, &r->node_room, 3 * sizeof *r->place);
    r->number[r->nodes] = number;
    memcpy(r->place + 3 * r->nodes++, p, sizeof p);
    return EXIT_DONE;
}

static int read_nodes(reader *r)
{
    int64_t head[4], number;
    int exit_status = EXIT_DONE;
    if (!line_of_numbers(r, head, r->four ? 4 : 1) || head[0] < 0)
        return fail(r, "expected the number of nodes");
    if (!r->four) {
        for (int64_t k = 0; k < head[0] && exit_status == EXIT_DONE; k++) {
            char *at = r->text;
            exit_status = next_line(r) && take_numbers(&at, &number, 1)
                              ? add_node(r, number, at)
                              : fail(r, "expected NUMBER X Y Z");
        }
        return exit_status;
    }
    for (int64_t block = 0, blocks = head[0]; block < blocks; block++) {
        if (!line_of_numbers(r, head, 4) || head[3] < 0 || head[3] > NODES_MOST)
            return fail(r, "expected a block of nodes");
        const int64_t count = head[3];
        int64_t *numbers = cli_alloc((size_t)(count + 1) * sizeof *numbers);
        for (int64_t k = 0; k < count && exit_status == EXIT_DONE; k++)
            if (!line_of_numbers(r, &numbers[k], 1))
                exit_status = fail(r, "expected the number of a node");
        for (int64_t k = 0; k < count && exit_status == EXIT_DONE; k++)
            exit_status =
                next_line(r) ? add_node(r, numbers[k], r->text) : fail(r, "expected a node");
        free(numbers);
        if (exit_status != EXIT_DONE)
            return exit_status;
    }
    return exit_status;
}

/* Corners of Gmsh's types 1 (line), 2 (triangle), 4 (tetrahedron), 15 (point); 0: another one. */
static int corners_of(int64_t type)
{
    return type == 15 ? 1 : type == 1 ? 2 : type == 2 ? 3 : type == 4 ? 4 : 0;
}

static int add_element(reader *r, int64_t type, int physical, char *at)
{
    element e = {.dim = corners_of(type) - 1, .physical = physical, .line = r->line};
    if (e.dim < 0)
        return fail(r,
                    "element of type %lld; there are lines, triangles and tetrahedra of first "
                    "order",
                    (long long)type);
    if (!take_numbers(&at, e.node, e.dim + 1))
        return fail(r, "expected %d nodes", e.dim + 1);
    r->element = room_for(r->element, r->elements, &r->element_room, sizeof *r->element);
    r->element[r->elements++] = e;
    return EXIT_DONE;
}

static int physical_of(const reader *r, int dim, int tag)
{
    for (int64_t k = 0; k < r->entities; k++)
        if (r->entity[k].dim == dim && r->entity[k].tag == tag)
            return r->entity[k].physical;
    return 0;
}

static int read_elements(reader *r)
{
    int64_t head[4], skipped[16], tag;
    int exit_status = EXIT_DONE;
    if (!line_of_numbers(r, head, r->four ? 4 : 1) || head[0] < 0)
        return fail(r, "expected the number of elements");
    for (int64_t k = 0, count = head[0]; k < count && exit_status == EXIT_DONE; k++) {
        char *at = r->text;
        if (!r->four) { /* NUMBER TYPE TAGS PHYSICAL ... NODES */
            if (!next_line(r) || !take_numbers(&at, head, 3) || head[2] < 1 || head[2] > 16 ||
                !take_numbers(&at, skipped, (int)head[2]))
                return fail(r, "expected an element");
            exit_status = add_element(r, head[1], (int)skipped[0], at);
            continue;
        }
        if (!line_of_numbers(r, head, 4))
            return fail(r, "expected a block of elements");
        const int physical = physical_of(r, (int)head[0], (int)head[1]);
        for (int64_t e = 0, all = head[3]; e < all && exit_status == EXIT_DONE; e++) {
            at = r->text;
            exit_status = next_line(r) && take_numbers(&at, &tag, 1)
                              ? add_element(r, head[2], physical, at)
                              : fail(r, "expected an element");
        }
    }
    return exit_status;
}

static int read_sections(reader *r)
{
    static const struct {
        const char *name;
        int (*read)(reader *r);
    } sections[] = {{"$MeshFormat", read_format},
                    {"$PhysicalNames", read_names},
                    {"$Entities", read_entities},
                    {"$Nodes", read_nodes},
                    {"$Elements", read_elements}};
    bool known = false;
    while (next_line(r)) {
        r->text[strcspn(r->text, "\r\n \t")] = '\0';
        if (r->text[0] != '$' || strncmp(r->text, "$End", 4) == 0)
            continue;
        if (!known && strcmp(r->text, "$MeshFormat") != 0)
            return fail(r, "expected $MeshFormat first");
        known = true;
        for (size_t k = 0; k < sizeof sections / sizeof *sections; k++)
            if (strcmp(r->text, sections[k].name) == 0) {
                const int exit_status = sections[k].read(r);
                if (exit_status != EXIT_DONE)
                    return exit_status;
                break;
            }
    }
    if (ferror(r->file))
        return fail(r, "%s", strerror(errno));
    return known ? EXIT_DONE : fail(r, "this is no mesh of Gmsh");
}

/* --- the mesh ----------------------------------------------------------------------------------*/

/* The name of a group, -1: it has none. */
static int name_of(const reader *r, int dim, int physical)
{
    for (int k = 0; k < r->names; k++)
        if (r->name[k].dim == dim && r->name[k].tag == physical)
            return k;
    return -1;
}

/* Regions and contacts of a mesh, which have numbers of their own. */
static int take_names(const reader *r, semi_mesh *m, int number[NAMES])
{
    for (int k = 0; k < r->names; k++) {
        char(*names)[SEMI_NAME] = r->name[k].dim == m->dim ? m->region_name : m->contact_name;
        int *count = r->name[k].dim == m->dim ? &m->regions : &m->contacts;
        if (r->name[k].dim != m->dim && r->name[k].dim != m->dim - 1)
            continue;
        if (*count == (r->name[k].dim == m->dim ? SEMI_REGIONS : SEMI_CONTACTS))
            return cli_fail(EXIT_INPUT, "%s: more than %d regions or %d contacts", r->path,
                            SEMI_REGIONS, SEMI_CONTACTS);
        number[k] = *count;
        snprintf(names[(*count)++], SEMI_NAME, "%s", r->name[k].name);
    }
    if (m->regions == 0 || m->contacts == 0)
        return cli_fail(EXIT_INPUT, "%s: there is no named %s", r->path,
                        m->regions == 0 ? "volume" : "surface");
    return EXIT_DONE;
}

/* Nodes of cells get numbers in their order; of Gmsh's numbers, -1: not used, -2: not there. */
static int number_nodes(const reader *r, semi_mesh *m, int32_t *index)
{
    for (int64_t k = 0; k <= NODES_MOST && k <= m->nodes; k++)
        index[k] = -2;
    for (int64_t k = 0; k < r->nodes; k++) {
        if (index[r->number[k]] != -2)
            return cli_fail(EXIT_INPUT, "%s: node %lld is there twice", r->path,
                            (long long)r->number[k]);
        index[r->number[k]] = -1;
    }
    for (int64_t k = 0; k < r->elements; k++) {
        const element *e = &r->element[k];
        for (int c = 0; c <= e->dim; c++) {
            const bool there = e->node[c] >= 1 && e->node[c] <= m->nodes;
            if (!there || index[e->node[c]] == -2)
                return cli_fail(EXIT_INPUT, "%s:%d: there is no node %lld", r->path, e->line,
                                (long long)e->node[c]);
            if (e->dim == m->dim)
                index[e->node[c]] = 0;
        }
    }
    return EXIT_DONE;
}

static void put_nodes(const reader *r, semi_mesh *m, double unit, int32_t *index)
{
    int32_t count = 0;
    m->place = cli_alloc(3 * (size_t)r->nodes * sizeof(double));
    for (int64_t k = 0; k < r->nodes; k++) {
        if (index[r->number[k]] != 0)
            continue;
        for (int a = 0; a < 3; a++)
            m->place[3 * count + a] = unit * r->place[3 * k + a];
        index[r->number[k]] = count++;
    }
    m->nodes = count;
    m->contact = cli_alloc((size_t)count + 1);
    memset(m->contact, -1, (size_t)count + 1);
}

/* Cells, and the nodes of contacts. */
static int put_elements(const reader *r, semi_mesh *m, const int32_t *index,
                        const int number[NAMES])
{
    int64_t cells = 0;
    for (int64_t k = 0; k < r->elements; k++)
        cells += r->element[k].dim == m->dim;
    m->corner = cli_alloc((size_t)cells * (size_t)(m->dim + 1) * sizeof *m->corner);
    m->region = cli_alloc((size_t)cells * sizeof *m->region);
    for (int64_t k = 0; k < r->elements; k++) {
        const element *e = &r->element[k];
        const int name = name_of(r, e->dim, e->physical);
        const bool cell = e->dim == m->dim;
        if (cell && name < 0)
            return cli_fail(EXIT_INPUT, "%s:%d: an element of no named region", r->path, e->line);
        if (name < 0 || e->dim < m->dim - 1)
            continue;
        for (int c = 0; c <= e->dim; c++) {
            const int32_t node = index[e->node[c]];
            if (cell) {
                m->corner[m->cells * (m->dim + 1) + c] = node;
                continue;
            }
            if (node < 0)
                return cli_fail(EXIT_INPUT, "%s:%d: contact %s touches nothing there", r->path,
                                e->line, r->name[name].name);
            if (m->contact[node] >= 0 && m->contact[node] != number[name])
                return cli_fail(EXIT_INPUT, "%s:%d: contact %s meets contact %s", r->path, e->line,
                                r->name[name].name, m->contact_name[m->contact[node]]);
            m->contact[node] = (int8_t)number[name];
        }
        if (cell)
            m->region[m->cells++] = number[name];
    }
    return EXIT_DONE;
}

static int make_mesh(const reader *r, double unit, semi_mesh *m)
{
    int number[NAMES] = {0};
    for (int64_t k = 0; k < r->elements; k++)
        m->dim = r->element[k].dim > m->dim ? r->element[k].dim : m->dim;
    for (int64_t k = 0; k < r->nodes; k++) /* the largest number, for now */
        m->nodes = r->number[k] > m->nodes ? r->number[k] : m->nodes;
    if (m->dim == 0)
        return cli_fail(EXIT_INPUT, "%s: there are no elements", r->path);
    int32_t *index = cli_alloc((size_t)(m->nodes + 1) * sizeof *index);
    int exit_status = take_names(r, m, number);
    if (exit_status == EXIT_DONE)
        exit_status = number_nodes(r, m, index);
    if (exit_status == EXIT_DONE) {
        put_nodes(r, m, unit, index);
        exit_status = put_elements(r, m, index, number);
    }
    free(index);
    return exit_status;
}

int semi_gmsh_read(const char *path, double unit, semi_mesh *m)
{
    reader *r = cli_alloc(sizeof *r);
    r->path = path;
    r->file = fopen(path, "r");
    int exit_status =
        r->file ? read_sections(r) : cli_fail(EXIT_INPUT, "%s: %s", path, strerror(errno));
    if (exit_status == EXIT_DONE)
        exit_status = make_mesh(r, unit, m);
    if (r->file)
        fclose(r->file);
    free(r->number);
    free(r->place);
    free(r->element);
    free(r->entity);
    free(r);
    return exit_status;
}
