/* The vertical axis: see vertical.h. */
#include "ocean/vertical.h"

#include "ocean/dense.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

void ocean_difference(int q, double place, int count, const double *node, bool sloped, double *w)
{
    enum { MOST = WIDTH_MOST + 1 };
    const int size = count + sloped;
    double A[MOST * MOST] = {0}, unit = 0;
    for (int j = 0; j < count; j++)
        unit = fmax(unit, fabs(node[j] - place));
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < count; j++)
            A[i * size + j] = pow((node[j] - place) / unit, i);
        if (sloped)
            A[i * size + count] = i == 0 ? 0 : i * pow((node[0] - place) / unit, i - 1) / unit;
        w[i] = i == q ? (q == 2 ? 2 : 1) / pow(unit, q) : 0;
    }
    dense_solve(size, A, w); /* of places that differ: not singular */
}

static void make_differences(ocean_vertical *v)
{
    const int n = v->intervals;
    double w[WIDTH_MOST + 1];
    for (int k = 0; k <= n; k++) {
        int first = k - v->order / 2;
        first = first < 0 ? 0 : first > n - v->order ? n - v->order : first;
        v->first[k] = first;
        ocean_difference(1, v->sigma[k], v->width, v->sigma + first, false, w);
        for (int j = 0; j < v->width; j++)
            v->d1[k * v->width + j] = w[j];
        ocean_difference(2, v->sigma[k], v->width, v->sigma + first, k == 0, w);
        for (int j = 0; j < v->width; j++)
            v->d2[k * v->width + j] = w[j];
        if (k == 0)
            v->slope = w[v->width];
    }
}

/* Of three points, the first row with its mirror image below the bottom. The matrix is made
 * symmetric by a diagonal one. */
static void make_modes(ocean_vertical *v)
{
    const int n = v->intervals;
    double A[LEVELS_MOST * LEVELS_MOST] = {0}, Q[LEVELS_MOST * LEVELS_MOST];
    double scale[LEVELS_MOST], above[LEVELS_MOST], below[LEVELS_MOST];
    for (int k = 0; k < n; k++) {
        const double up = v->sigma[k + 1] - v->sigma[k];
        const double down = k > 0 ? v->sigma[k] - v->sigma[k - 1] : up;
        above[k] = 2 / (up * (up + down)) * (k > 0 ? 1 : 2);
        below[k] = k > 0 ? 2 / (down * (up + down)) : 0;
        scale[k] = k > 0 ? scale[k - 1] * sqrt(below[k] / above[k - 1]) : 1;
        A[k * n + k] = above[k] + below[k];
        if (k > 0)
            A[k * n + k - 1] = A[(k - 1) * n + k] = -sqrt(below[k] * above[k - 1]);
    }
    dense_eigen(n, A, v->mu, Q);
    for (int m = 0; m < n; m++)
        for (int k = 0; k < n; k++) {
            v->into[m * n + k] = Q[k * n + m] / scale[k];
            v->back[k * n + m] = Q[k * n + m] * scale[k];
        }
}

void ocean_vertical_make(int intervals, int order, bool clustered, ocean_vertical *v)
{
    v->intervals = intervals;
    v->order = order;
    v->width = order + 1;
    for (int k = 0; k <= intervals; k++) {
        const double part = (double)k / intervals;
        v->sigma[k] = clustered ? sin(PI / 2 * part) : part;
    }
    v->sigma[intervals] = 1;
    make_differences(v);
    make_modes(v);
}

double ocean_vertical_response(const ocean_vertical *v, double depth, double square)
{
    const int n = v->intervals;
    double A[LEVELS_MOST * LEVELS_MOST] = {0}, b[LEVELS_MOST], w = 0;
    for (int k = 0; k < n; k++) {
        b[k] = 0;
        for (int j = 0; j < v->width; j++) {
            const double c = v->d2[k * v->width + j] / (depth * depth);
            if (v->first[k] + j < n)
                A[k * n + v->first[k] + j] += c;
            else
                b[k] -= c;
        }
        A[k * n + k] -= square;
    }
    if (!dense_solve(n, A, b))
        return NAN;
    for (int j = 0; j < v->width; j++)
        w += v->d1[n * v->width + j] * (v->first[n] + j < n ? b[v->first[n] + j] : 1);
    return w / depth;
}

/* Centred differences of derivative number q, spacing 1. */
static void centred(int q, int order, double w[WIDTH_MOST + 1])
{
    const int middle = order / 2;
    double node[WIDTH_MOST] = {0};
    for (int j = 0; j <= order; j++)
        node[j] = j - middle;
    ocean_difference(q, 0, order + 1, node, false, w);
}

double ocean_shortest(int order, double spacing)
{
    double w[WIDTH_MOST + 1], sum = 0;
    centred(2, order, w);
    for (int j = 0; j <= order; j++)
        sum += fabs(w[j]); /* signs alternate */
    return sum / (spacing * spacing);
}

double ocean_steepest(int order, double spacing)
{
    enum { WAVES = 1000 }; /* flat where it is largest: 1e-6 of it may be missed */
    double w[WIDTH_MOST + 1], most = 0;
    centred(1, order, w);
    for (int i = 0; i <= WAVES; i++) {
        double sum = 0;
        for (int j = 1; j <= order / 2; j++)
            sum += 2 * w[order / 2 + j] * sin(PI * j * i / WAVES);
        most = fmax(most, sum);
    }
    return most / spacing;
}

void ocean_filter_weights(double weights[FILTER_REACH + 1])
{
    /* By the normal equations of a least-squares fit of even powers, at its middle. */
    enum { POWERS = 6 };
    double A[POWERS * POWERS] = {0}, b[POWERS] = {1};
    for (int i = 0; i < POWERS; i++)
        for (int j = 0; j < POWERS; j++)
            for (int p = -FILTER_REACH; p <= FILTER_REACH; p++)
                A[i * POWERS + j] += pow((double)p / FILTER_REACH, 2 * (i + j));
    dense_solve(POWERS, A, b);
    for (int p = 0; p <= FILTER_REACH; p++) {
        weights[p] = 0;
        for (int i = 0; i < POWERS; i++)
            weights[p] += b[i] * pow((double)p / FILTER_REACH, 2 * i);
    }
}
