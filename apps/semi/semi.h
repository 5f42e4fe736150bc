/*
 * What the parts of the application share. Inside, all is scaled (A. de Mari, 1968): potentials by
 * Vt = kT/q, densities by N0, the largest doping, lengths by the Debye length of N0 in vacuum,
 * mobilities by 1000 cm^2/Vs; the rest follows.
 */
#ifndef SPRY_SEMI_H
#define SPRY_SEMI_H

#include "common/app.h"

enum { SEMI_NAME = 32, SEMI_CONTACTS = 16, SEMI_REGIONS = 64, SEMI_POINTS = 10000 };

/* The unknowns of a node: the potential, the quasi-Fermi potentials, the quantum potentials. */
enum { PSI, PHI_N, PHI_P, LAM_N, LAM_P, KINDS };
enum { ELECTRONS, HOLES, CARRIERS };
#define BIT(kind) (1u << (kind))

/* --- options -----------------------------------------------------------------------------------*/

#define SEMI_SHAPES "diode mos mosfet finfet nanowire"
enum { STATISTICS_BOLTZMANN, STATISTICS_BLAKEMORE, STATISTICS_FERMI };
enum { MOBILITY_CONSTANT, MOBILITY_DOPING, MOBILITY_FIELD };
enum { CARRIERS_AUTO, CARRIERS_BOTH, CARRIERS_ELECTRONS, CARRIERS_HOLES };
enum { QUANTUM_NONE, QUANTUM_ELECTRONS, QUANTUM_HOLES, QUANTUM_BOTH };
enum { PROFILE_STEP, PROFILE_GAUSS, PROFILE_ERF };

/* Lengths of shapes that are 0 are the shape's own: shapes.c. */
#define SEMI_OPTIONS(item)                                                                         \
    item(INT, dimension, "0", 0, 3, NULL,                                                          \
         "of a built-in shape; 0: 1 of a diode and a capacitor, "                                  \
         "2 of a mosfet, else 3")                                                                  \
    item(REAL, length, "0", 0, 1e-2, NULL, "of the diode, or of the gate, in m; 0: the shape's")   \
    item(REAL, width, "0", 0, 1e-2, NULL, "of the diode, the channel, the fin or the wire, in m")  \
    item(REAL, height, "0", 0, 1e-2, NULL, "of the fin, in m")                                     \
    item(REAL, depth, "0", 0, 1e-2, NULL, "of the body below the gate, in m")                      \
    item(REAL, extension, "0", 0, 1e-2, NULL, "of source and drain beside the gate, in m")         \
    item(REAL, junction, "0", 0, 1e-2, NULL, "depth of source and drain, in m")                    \
    item(REAL, oxide, "0", 0, 1e-4, NULL, "thickness below the gate, in m")                        \
    item(REAL, spacing, "0", 0, 1e-3, NULL, "smallest intervals of a built-in shape, in m")        \
    item(REAL, growth, "1.3", 1.01, 4, NULL, "largest ratio of neighbouring intervals")            \
    item(REAL, refine, "1", 0.1, 100, NULL, "divides all intervals of a built-in shape")           \
    item(REAL, donors, "0", 0, 1e22, NULL, "of the n side, or of source and drain, in cm^-3")      \
    item(REAL, acceptors, "0", 0, 1e22, NULL, "of the p side, or of the body, in cm^-3")           \
    item(WORD, profile, "step", 0, 0, "step gauss erf", "of the doping at built-in junctions")     \
    item(REAL, spread, "2e-9", 1e-10, 1e-3, NULL, "deviation of that profile, in m")               \
    item(TEXT, doping, "", 0, 0, NULL,                                                             \
         "REGION VALUE, or REGION gauss|erf VALUE x|y|z CENTRE DEVIATION, ...: cm^-3 (acceptors "  \
         "below 0) and nm, added to what there is; REGION may be all")                             \
    item(PATH, doping_file, NULL, 0, 0, NULL,                                                      \
         "read points x y z VALUE (nm, cm^-3), a line each: every node takes that of the nearest") \
    item(PATH, mesh, NULL, 0, 0, NULL, "read a mesh of Gmsh (.msh 2.2 or 4.1, text)")              \
    item(REAL, mesh_unit, "1e-9", 1e-12, 1, NULL, "length of 1 in that mesh, in m")                \
    item(TEXT, materials, "", 0, 0, NULL,                                                          \
         "REGION MATERIAL, REGION MATERIAL, ...: regions are materials by their names otherwise")  \
    item(PATH, material_file, NULL, 0, 0, NULL, "read more materials: NAME KEY=VALUE ... lines")   \
    item(TEXT, contacts, "", 0, 0, NULL,                                                           \
         "NAME ohmic, NAME gate WORK, NAME schottky WORK, ...: by what they touch otherwise")      \
    item(REAL, work, "0", 0, 20, NULL, "work function of gates, in eV; 0: the shape's, or 4.1")    \
    item(REAL, temperature, "300", 50, 1000, NULL, "in K")                                         \
    item(WORD, statistics, "boltzmann", 0, 0, "boltzmann blakemore fermi", "of carriers")          \
    item(WORD, mobility, "doping", 0, 0, "constant doping field",                                  \
         "constant, by doping (Caughey and Thomas), or with saturation of velocity as well")       \
    item(WORD, carriers, "auto", 0, 0, "auto both electrons holes",                                \
         "whose currents are computed; the others' potentials are those of contacts, and nothing " \
         "recombines; auto: electrons of a finfet and a nanowire, whose holes touch no contact, "  \
         "else both")                                                                              \
    item(BOOL, srh, "yes", 0, 0, NULL, "recombination by Shockley, Read and Hall")                 \
    item(BOOL, auger, "no", 0, 0, NULL, "Auger recombination")                                     \
    item(REAL, lifetime, "0", 0, 1e6, NULL, "of both carriers, in s; 0: the material's")           \
    item(WORD, quantum, "none", 0, 0, "none electrons holes both",                                 \
         "carriers with density "                                                                  \
         "gradient")                                                                               \
    item(TEXT, bias, "", 0, 0, NULL, "NAME VOLTS, NAME VOLTS, ...: others have 0")                 \
    item(TEXT, sweep, "", 0, 0, NULL, "contact whose voltage is swept")                            \
    item(REAL, from, "0", -1000, 1000, NULL, "first voltage, in V")                                \
    item(REAL, to, "1", -1000, 1000, NULL, "last voltage, in V")                                   \
    item(REAL, step, "0.05", 1e-6, 1000, NULL, "from one voltage to the next, in V")               \
    item(TEXT, family, "", 0, 0, NULL, "NAME VOLTS VOLTS ...: one sweep for each of them")         \
    item(TEXT, method, "auto", 0, 0, NULL, "of the linear systems")                                \
    item(TEXT, precon, "auto", 0, 0, NULL, "preconditioner of the linear systems")                 \
    item(TEXT, device, "cpu", 0, 0, NULL, "where they are solved: cpu, cuda or opencl, :N")        \
    item(REAL, linear_tol, "1e-8", 1e-14, 0.1, NULL, "residual of the linear systems")             \
    item(REAL, tol, "1e-8", 1e-13, 1e-2, NULL, "largest last change of Newton's method, in kT/q")  \
    item(INT, most_steps, "40", 1, 1000, NULL, "of Newton's method for a bias at most")            \
    item(PATH, output, NULL, 0, 0, NULL, "write voltages and currents as CSV")                     \
    item(PATH, plot, NULL, 0, 0, NULL, "draw them (.svg)")                                         \
    item(PATH, fields, NULL, 0, 0, NULL, "write fields of the last bias for ParaView (.vtu)")      \
    item(PATH, picture, NULL, 0, 0, NULL, "draw a field on a plane (.png)")                        \
    item(WORD, field, "n", 0, 0, "n p potential doping", "that is drawn")                          \
    item(WORD, across, "z", 0, 0, "x y z", "axis normal to the plane of the picture")              \
    item(REAL, at, "0", -1, 1, NULL, "where that plane is, in m")                                  \
    item(PATH, cut, NULL, 0, 0, NULL, "write fields along a line as CSV, or draw them (.svg)")     \
    item(TEXT, line, "", 0, 0, NULL, "x y z x y z: from where to where it goes, in nm")            \
    item(PATH, matrices, NULL, 0, 0, NULL, "write Newton's last matrix of each bias: NAME-1.mtx")  \
    item(PATH, checkpoint, NULL, 0, 0, NULL, "keep the last bias in a file")                       \
    item(BOOL, resume, "no", 0, 0, NULL, "go on from the checkpoint")                              \
    item(PATH, config, NULL, 0, 0, NULL, "read options from lines NAME = VALUE UNIT")              \
    CLI_JSON(item, "the run")                                                                      \
    item(BOOL, verbose, "no", 0, 0, NULL, "show every step of Newton's method")                    \
    item(BOOL, quiet, "no", 0, 0, NULL, "show no progress")

typedef struct semi_options {
    SEMI_OPTIONS(SPRY_OPTION_FIELD)
} semi_options;

/* --- material.c: what regions are made of ------------------------------------------------------*/

/* In eV, cm^-3, cm^2/Vs, cm/s, s, cm^6/s and masses of the electron, at 300 K. */
typedef struct semi_material {
    char name[SEMI_NAME];
    double permittivity, affinity, gap, nc, nv, varshni_a, varshni_b; /* nc 0: an insulator */
    double quantum_mass[CARRIERS], mobility[CARRIERS], least_mobility[CARRIERS],
        reference[CARRIERS], power[CARRIERS], cooling[CARRIERS], velocity[CARRIERS],
        saturation[CARRIERS], lifetime[CARRIERS], auger[CARRIERS], barrier_mass[CARRIERS],
        richardson[CARRIERS];
} semi_material;

typedef struct semi_materials {
    semi_material list[SEMI_REGIONS];
    int count;
} semi_materials;

/* The table, and those of a file. An exit status. */
int semi_materials_make(semi_materials *m, const char *path);
/* -1: there is none. */
int semi_materials_find(const semi_materials *m, const char *name);
/* A material at another temperature (K): gap and densities of states. */
void semi_material_heat(semi_material *m, double kelvin);

/* --- mesh.c: simplices, and the boxes around their nodes ---------------------------------------*/

typedef struct semi_mesh {
    int dim;         /* 1, 2, 3: lines, triangles, tetrahedra */
    double thick[2]; /* of what has fewer dimensions, along y and z */
    int64_t nodes, cells;
    double *place;   /* x y z of each node, m */
    int32_t *corner; /* dim + 1 of each cell */
    int32_t *region; /* of each cell */
    int8_t *contact; /* of each node; -1: none */
    int regions, contacts;
    char region_name[SEMI_REGIONS][SEMI_NAME], contact_name[SEMI_CONTACTS][SEMI_NAME];
    int material[SEMI_REGIONS]; /* -1: not known */
    const semi_materials *materials;
    /* Made by semi_mesh_finish(), lengths still in m. */
    int32_t *node_material; /* the semiconductor at a node; -1: none */
    double *volume;         /* of semiconductor, of each node */
    double *area;           /* of its contact */
    double *wall[CARRIERS]; /* area of insulators beside it, times the decay of waves into them */
    int64_t *start;         /* neighbours */
    int32_t *to;
    double *couple_eps, *couple_semi, *length; /* of each: dual area over length, with permittivity
                                                  and in semiconductors; length of the edge */
    int64_t negative; /* edges between carriers whose coupling is below 0 */
} semi_mesh;

/* Checks the mesh and makes its dual. An exit status. */
int semi_mesh_finish(semi_mesh *m);
void semi_mesh_free(semi_mesh *m);
double semi_cell_volume(const semi_mesh *m, int64_t cell);
/* Whether it is of a semiconductor. */
bool semi_conducts(const semi_mesh *m, int64_t cell);
/* The number of a name; -1: it is none of these. */
int semi_find(const char (*names)[SEMI_NAME], int count, const char *name);

/* boxes.c: a mesh of boxes along three axes, each cut into simplices. */
typedef struct semi_axis {
    int64_t count;
    double *at;
} semi_axis;
typedef struct semi_part {
    double from, to, h_from, h_to; /* intervals at both ends */
} semi_part;
/* Intervals that grow by a ratio at most, and to a size at most. */
void semi_axis_make(semi_axis *axis, const semi_part *parts, int count, double growth, double most);
/* region: of a place, -1: nothing is there; contact: of a place on the surface, -1: none */
typedef struct semi_boxes {
    semi_axis axis[3];
    int dim;
    int (*region)(const void *data, const double *place);
    int (*contact)(const void *data, const double *place);
    const void *data;
} semi_boxes;
void semi_boxes_make(const semi_boxes *b, semi_mesh *m);

/* gmsh.c; an exit status. */
int semi_gmsh_read(const char *path, double unit, semi_mesh *m);

/* shapes.c: built-in ones, with their contacts and (cm^-3, of a place) doping. */
typedef struct semi_shape {
    const semi_options *o;
    int kind, dim;
    double length, width, height, depth, extension, junction, oxide, spacing, donors, acceptors,
        work;
} semi_shape;
int semi_shape_make(spry_context *ctx, const semi_options *o, const app_config *config,
                    const char *name, semi_shape *shape, semi_mesh *m);
double semi_shape_doping(const semi_shape *shape, const double *place);

/* --- the device --------------------------------------------------------------------------------*/

enum { CONTACT_OHMIC, CONTACT_GATE, CONTACT_SCHOTTKY };
typedef struct semi_contact {
    int kind;
    double work;    /* eV */
    double voltage; /* V */
    double current; /* A, into the device */
    double charge;  /* C, on it */
} semi_contact;

/* What carriers of one kind are in a material, scaled. */
typedef struct semi_band {
    double edge, states;    /* eta = s (psi - phi) + lambda + edge; ln(states / N0) */
    double gradient;        /* 2 b of the density gradient */
    double lifetime, auger; /* scaled */
    double velocity, power; /* of saturation, and its exponent */
    double emission;        /* velocity into a metal */
    double mobility, least, reference, slope; /* by doping; over 1000 cm^2/Vs and N0 */
} semi_band;

typedef struct semi_matter {
    semi_band band[CARRIERS];
    double intrinsic; /* ni / N0 */
} semi_matter;

typedef struct semi_device {
    spry_context *ctx;
    const semi_options *o;
    const app_config *config;
    semi_mesh mesh;
    semi_contact contact[SEMI_CONTACTS];
    semi_matter matter[SEMI_REGIONS];
    double vt, n0, l0, j0, q0; /* V, cm^-3, m; A of a scaled flux of 1; C of a scaled charge */
    double level;              /* eV: work function of a metal whose psi is its voltage */
    double *doping;            /* of each node, over N0 */
    double *mobility[CARRIERS];
    int8_t *home; /* contact whose voltage potentials of a node are relative to; -1: 0 V */
    bool *still;  /* carriers of a node reach one contact alone: phi is its voltage */
    /* The state. */
    double *x[KINDS], *offset;
    double *u[CARRIERS], *du[CARRIERS]; /* ln of densities, and by eta */
    double quantum;                     /* factor of the density gradient on the way to it */
    int64_t newton_steps, linear_iterations, linear_solves;
    double linear_seconds;
} semi_device;

/* physics.c */
/* ln of n over the density of states by eta, and its slope. */
double semi_statistics(int kind, double eta, double *slope);
/* A flux of carriers into i from j per coupling: u are ln of densities, d is s (phi_j - phi_i). */
typedef struct semi_flux {
    double value, by_delta, from_j, from_i; /* delta: u_j - u_i + d; B(delta) n_j, B(-delta) n_i */
} semi_flux;
semi_flux semi_flux_of(double u_i, double u_j, double d);
/* Velocity saturation: the factor of a mobility at a field, and its slope. */
double semi_saturation(double mobility, double field, double velocity, double power, double *slope);
/* Net recombination, with its derivatives by u_n, u_p, phi_n, phi_p. */
double semi_recombination(const semi_device *d, const semi_matter *m, double un, double up,
                          double gap, double by[4]);

/* device.c: scaling, doping, contacts, the state of equilibrium as a first guess. */
int semi_device_make(semi_device *d, const semi_shape *shape);
void semi_device_free(semi_device *d);
/* The number of a contact that an option names; -1 after a message. */
int semi_device_contact(const semi_device *d, const char *option, const char *name);
/* Whether a contact gives the value of an unknown. */
bool semi_fixed(const semi_device *d, int64_t node, int kind);
/* Sets voltages of contacts, and potentials of their nodes with them. */
void semi_device_bias(semi_device *d, const double *volts);
/* u and du of all nodes. */
void semi_device_densities(semi_device *d);
/* Currents and charges of contacts. */
void semi_device_currents(semi_device *d);
/* doping.c: an exit status. */
int semi_doping_make(semi_device *d, const semi_shape *shape);
/* Calls it for each of the parts of a text between commas, until one fails. */
int semi_each_part(const char *text, int (*take)(void *data, const char *part), void *data);

/* --- system.c, assemble.c: the equations -------------------------------------------------------*/

/* Equations and unknowns of some kinds at all nodes: the pattern is made once. */
typedef struct semi_system {
    semi_device *d;
    unsigned kinds;
    int64_t rows;
    int64_t *first; /* row of each node, and their end */
    int64_t *offsets;
    int32_t *columns;
    double *values, *residual, *change; /* change: what the last solve gave */
    double norm;                        /* of the residual before; 0: there is none */
    spry_matrix *A;
    spry_vector *b, *x;
    spry_solver *solver;
    spry_operator *M;            /* NULL: the solver's own */
    int64_t iterations;          /* since M has its values */
    char method[32], precon[32]; /* of the last solve */
} semi_system;

/* Makes a system of some device and kinds, if that is still to be done. */
spry_status semi_system_make(semi_system *s);
/* Keeps what it is of. */
void semi_system_free(semi_system *s);
/* What was found to solve it is forgotten. */
spry_status semi_system_choose_again(semi_system *s);
/* Of the kinds asked for, those of a node. */
unsigned semi_kinds_at(const semi_device *d, unsigned kinds, int64_t node);
/* Unknowns that the equation of a kind depends on: of its own node, or of a neighbour. */
unsigned semi_columns(int row_kind, bool own);
/* Residual and Jacobian, rows divided by their diagonals. largest: of each kind, in kT/q. */
void semi_assemble(semi_system *s, double largest[KINDS]);
/* change = -A^-1 residual; tol: bounds of how far, between which Newton's method decides. */
spry_status semi_system_solve(semi_system *s, const double tol[2], spry_result *result);

/* What flows into node i along an edge, and by what it changes: of i and of its neighbour. */
typedef struct semi_flow {
    double value, by_i[KINDS], by_j[KINDS];
} semi_flow;
semi_flow semi_carrier_flow(const semi_device *d, int carrier, int64_t i, int64_t edge);
/* psi of the neighbour less that of i; the same of a quasi-Fermi potential. */
double semi_difference(const semi_device *d, int kind, int64_t i, int64_t edge);

/* --- newton.c ----------------------------------------------------------------------------------*/

typedef struct semi_solve {
    semi_device *d;
    semi_system poisson, carrier[CARRIERS], full;
    double residual[KINDS]; /* of the last step */
    int64_t steps, halvings;
    bool stopped;
    spry_reason reason; /* of the last linear solve */
    progress line;
    /* The bias before, to begin from, and the one to go back to. */
    double *before[KINDS], *saved[KINDS];
    double volts_before[SEMI_CONTACTS], volts_last[SEMI_CONTACTS];
    bool has_before;
} semi_solve;

void semi_solve_make(semi_device *d, semi_solve *s);
void semi_solve_free(semi_solve *s);
/* The state is one that was reached before, at volts_last. */
spry_status semi_resume(semi_solve *s);
/* All contacts at 0 V. converged: false after bounded work. */
spry_status semi_equilibrium(semi_solve *s, bool *converged);
/* How far currents of contacts are from adding up to 0, over the largest. */
double semi_imbalance(const semi_device *d);
/* From the present voltages to others; those that were reached stay. */
spry_status semi_reach(semi_solve *s, const double *volts, bool *converged);

/* --- semi.c, curve.c, show.c -------------------------------------------------------------------*/

/* A bias that was reached. */
typedef struct semi_point {
    double volts[SEMI_CONTACTS], current[SEMI_CONTACTS], charge[SEMI_CONTACTS];
    double imbalance, seconds, linear_seconds;
    double steps, solves, iterations;
} semi_point;

typedef struct semi_run {
    spry_context *ctx;
    const semi_options *o;
    const app_config *config;
    semi_materials materials;
    semi_shape shape;
    const char *name;
    semi_device device;
    semi_solve solve;
    int sweep, family;          /* contacts; -1: none */
    double bias[SEMI_CONTACTS]; /* of all others */
    double values[SEMI_POINTS]; /* of the family */
    int64_t lengths, members;   /* points of a sweep, sweeps */
    semi_point *point;
    int64_t points; /* reached */
    double mesh_seconds, seconds;
} semi_run;

void semi_print(const semi_run *r);
int semi_write_curves(const semi_run *r); /* CSV, SVG, JSON; an exit status */

/* Whether lines, planes and endings make sense; then .vtu, pictures and cuts. Exit statuses. */
int semi_check_fields(const semi_run *r);
int semi_write_fields(const semi_run *r);

#endif
