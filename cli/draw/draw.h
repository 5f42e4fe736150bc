/*
 * Pictures as SVG, for `spry plot`, for reports and for whoever shows them in a page: what is drawn
 * is in plain structs, so that it may come from a run, or from a file of one. A picture is
 * light or dark by the reader's own setting, has a title and a description for those who cannot
 * see it, and takes any text: names of files come from others.
 */
#ifndef SPRY_CLI_DRAW_H
#define SPRY_CLI_DRAW_H

#include "../output.h"

/* --- svg.c: elements ---------------------------------------------------------------------------*/

enum { DRAW_COLOURS = 6 }; /* classes c0 to c5 */

/* The colours and texts of all pictures, for light and dark: what a page has once, and a picture
 * that is complete in itself. */
extern const char draw_style[];

typedef struct picture {
    FILE *out;
    bool alone; /* a file of its own, not a part of a page */
    double width, height;
} picture;

/* What SVG and HTML would read as markup is written as they want it; what is no text becomes
 * U+FFFD. */
void draw_escaped(FILE *out, const char *text);
/* A file's name without its folder. */
const char *draw_name(const char *path);
void draw_begin(picture *p, const char *title, const char *description);
void draw_end(const picture *p);
/* `anchor` is start, middle or end; classes are those of draw_style. */
void draw_text(const picture *p, double x, double y, const char *class, const char *anchor,
               const char *format, ...) SPRY_PRINTF(6, 7);
/* One of at most `width`: of a longer text the middle goes, and the pointer shows all of it. */
void draw_fitted(const picture *p, double x, double y, const char *class, const char *anchor,
                 double width, const char *format, ...) SPRY_PRINTF(7, 8);
/* About as wide as a text is in the widest of usual fonts. */
double draw_width(const char *text, const char *class);
void draw_line(const picture *p, double x1, double y1, double x2, double y2, const char *class);
/* With a text that shows at the pointer; NULL: none. */
void draw_rect(const picture *p, double x, double y, double width, double height, const char *class,
               const char *title);
void draw_mark(const picture *p, double x, double y, char kind, const char *class,
               const char *title); /* 'o' ring, '.' dot, 'x' cross, 'v' triangle, 's' square */
void draw_base64(FILE *out, const void *bytes, size_t size);

/* --- axis.c ------------------------------------------------------------------------------------*/

enum { AXIS_TICKS = 16 };

/* From numbers to places: `at` is where `from` is, `at + length` where `to` is. */
typedef struct axis {
    double from, to;
    bool log;
    double at, length;
} axis;

/* Limits that have all of low to high, at numbers that people like. */
axis axis_new(double low, double high, bool log, double at, double length);
double axis_place(const axis *a, double value);
/* Both of a chart with their ticks, and a line over the chart at each. */
void axis_draw(const picture *p, const axis *x, const axis *y, const char *x_name,
               const char *y_name);

/* --- curves.c: how residuals fall --------------------------------------------------------------*/

enum { CURVE_MARKS = 64 };

/* The true residual, where it was computed on the way. */
typedef struct curve_mark {
    int64_t iteration;
    double truth;
    bool restart; /* the run restarted from it */
} curve_mark;

typedef struct curve {
    char label[160];
    const double *history; /* residual of iteration 0, 1, ... as the method has it */
    int64_t count;
    double first, truth; /* true residuals at both ends; NaN: not known */
    double tolerance;    /* asked for; NaN: not known */
    bool converged;
    char end[240]; /* how it ended, in words */
    int64_t cycle; /* the method restarts after this number of iterations; 0: never */
    int mark_count;
    curve_mark marks[CURVE_MARKS];
} curve;

/* Adds a mark, as long as there is room for it. */
void curve_add(curve *c, curve_mark mark);
/* Finds marks in a line of warnings of a result. */
void curve_take_warning(curve *c, const char *line);
void draw_curves(picture *p, const curve *curves, int count);

/* --- bars.c ------------------------------------------------------------------------------------*/

typedef struct bar {
    char group[320]; /* a heading above, where it differs from that of the bar before */
    char label[136], text[96];
    double length, second; /* the second part follows the first, in another colour */
    int colour;            /* of the first part */
} bar;

typedef struct bars {
    const char *title, *description, *note; /* note: below the title; may be NULL */
    const char *first, *second;             /* what parts are, where there are two; or NULL */
    const bar *bar;
    int count;
} bars;

void draw_bars(picture *p, const bars *b);

/* --- roofline.c --------------------------------------------------------------------------------*/

typedef struct roof_point {
    char label[320];
    double intensity, speed; /* operations per byte, and per second */
} roof_point;

typedef struct roof {
    const char *place;  /* "cpu" */
    double read, triad; /* bytes per second; 0: not known */
    const roof_point *points;
    int count;
} roof;

void draw_roof(picture *p, const roof *r);

/* --- density.c, spy.c: where entries are -------------------------------------------------------*/

/* Entries counted by cells of 2^row_shift x 2^col_shift places. */
typedef struct density {
    int64_t rows, cols, nnz;
    int row_shift, col_shift, height, width; /* cells */
    uint32_t *count;                         /* by rows of cells; to be freed by density_free() */
    uint32_t most;
} density;

/* At most `side` cells along each side. One pass over the entries, by the context's threads. */
spry_status density_count(spry_context *ctx, const spry_matrix *A, int side, density *d);
void density_free(density *d);
/* Pixels of a cell: 255 where there is no entry, dark where there are many. */
void density_colour(const density *d, uint32_t count, unsigned char pixel[3]);
/* The cells as a picture: a PNG in memory of the context, and the places that it covers. */
typedef struct spy_level {
    void *png;
    size_t size;
    double wide, high;
} spy_level;

enum { SPY_LEVELS = 2, SPY_SIDE = 512 };

/* A cell has `scale` x `scale` pixels. */
spry_status density_level(spry_context *ctx, const density *d, int scale, spy_level *level);
/* With a finer picture as well, for those who zoom into it; or none, png being NULL. */
void draw_spy(picture *p, const density *d, const char *name, const spy_level levels[SPY_LEVELS]);

/* --- values.c: how large entries are -----------------------------------------------------------*/

enum { DECADE_LEAST = -324, DECADE_MOST = 308, DECADES = DECADE_MOST - DECADE_LEAST + 1 };

/* Entries by the decade of their magnitude: 10^k <= |a| < 10^(k+1). Of complex ones those with a
 * real part below 0 count as negative. */
typedef struct magnitudes {
    int64_t positive[DECADES], negative[DECADES], zero, nonfinite;
} magnitudes;

spry_status magnitudes_count(spry_context *ctx, const spry_matrix *A, magnitudes *m);
void draw_magnitudes(picture *p, const magnitudes *m, const char *name);
/* Rows by their number of entries, in bins of spry_stats. */
void draw_rows(picture *p, const spry_stats *s, const char *name);

/* --- sweeps.c: what becomes of a method's text ---------------------------------------------------
 */

/* Both texts are of spry_solver_explain(): statement by statement, and fused. */
void draw_sweeps(picture *p, const char *method, const char *apart, const char *fused);

/* --- pool.c: work by several threads -----------------------------------------------------------*/

/* Calls work(data, unit, thread) for all units, each once, by the context's threads; POOL_MOST at
 * most. */
enum { POOL_MOST = 64 };
void thread_pool_run(const spry_context *ctx, int units,
                     void (*work)(void *data, int unit, int thread), void *data);
int thread_pool_size(const spry_context *ctx);

#endif
