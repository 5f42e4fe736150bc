/*
 * What preconditioners take by rules of thumb: those of whose making nothing is begun before. Bytes
 * over those of A in CSR, and set-up over a product with A (as in choose.c). They are supposed, not
 * fitted to a set of matrices; what is not here nobody knows.
 */
#include "precon/precon.h"
#include "ranks/distributed.h"

static const struct {
    const char *kind;
    double kept, work; /* of the bytes of A */
    double products;   /* of the set-up */
    double vectors;    /* that it keeps */
} rules[] = {
    {"jacobi", 0, 0, 1, 1},    {"l1", 0, 0, 2, 1},        {"gs", 0, 0, 2, 2},
    {"sor", 0, 0, 2, 2},       {"ssor", 0, 0, 2, 2},      {"poly", 0, 0, 20, 4},
    {"ic", 1.1, 0.6, 20, 3},   {"ilu", 1.1, 0.6, 20, 3},  {"ilut", 4, 5.2, 80, 3},
    {"ict", 4, 5.2, 80, 3},    {"amg", 1.6, 1.5, 100, 8}, {"amg-classical", 2.5, 2, 130, 8},
    {"kkt", 2.5, 1.5, 300, 8}, {"mlilu", 3, 2, 300, 6},   {"ilutp", 3, 1.5, 300, 4},
    {"ildl", 2, 1, 150, 4},    {"fsai", 1.2, 1, 100, 1},  {"isai", 1, 1, 60, 1},
    {"sai", 1, 1, 200, 1},     {"spai", 1, 1, 400, 1},
};

/* Of those whose set-up is on devices products take longer than products with A: of multigrid some
 * four times, as 0.13 to 0.23 s for 0.39 ms at 256^3 on a GPU say (docs/figures.md). */
static double products_there(const char *kind, double products)
{
    static const char *const kinds[] = {"jacobi",        "l1",  "poly", "amg",
                                        "amg-classical", "sai", "isai"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(kinds[k], kind) == 0)
            return 4 * products;
    return 0;
}

precon_forecast precon_rule(const spry_matrix *A, const char *kind)
{
    const double rate = 8e9; /* of one core's memory, as in choose.c */
    const double size = (double)spry_type_size(A->a.type), rows = (double)A->a.rows;
    const double bytes = (double)dist_entries(A) * (size + sizeof(int32_t)) + 8 * rows;
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        if (strcmp(rules[k].kind, kind) == 0)
            return (precon_forecast){
                .known = true,
                .bytes = (int64_t)(rules[k].kept * bytes + rules[k].vectors * rows * size),
                .work = (int64_t)(rules[k].work * bytes),
                .reads = (int64_t)(rules[k].kept * bytes + rules[k].vectors * rows * size),
                .seconds = rules[k].products * (bytes + 12 * rows) / rate,
                .there = products_there(kind, rules[k].products)};
    return (precon_forecast){0};
}
