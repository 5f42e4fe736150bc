/*
 * usage: bench_scatter [sphere | steps | lens] [POINTS...]
 * A plane wave on a sphere, one wavelength wide and of index 1.3, or on a lens, k^2 higher by 0.4
 * exp(-r^2 / (2 0.2^2)) with lengths in wavelengths: by differences, with POINTS (10 14 20) per
 * wavelength outside, compared with the series in spherical waves. For each scheme the rms error on
 * a sphere of one wavelength around it, relative to the whole field on it, and in brackets over
 * what is scattered. The box ends 1.5 wavelengths from the middle, layers are as wide. sphere: k^2
 * is its mean over the cell of each point; steps: that of the point itself.
 */
#include "support/scatter.h"
#include "peers/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const schemes[] = {"scheme=second", "scheme=compact4", "scheme=optimal",
                                      "scheme=optimal symmetric=no"};

/* A row of the table. */
static void report(spry_context *ctx, const char *what, int points)
{
    const bool lens = strcmp(what, "lens") == 0;
    printf("%6d", points);
    for (int k = 0; k < 4; k++) {
        scatter s = {.points = points,
                     .half = 1.5,
                     .layer = 1.5,
                     .options = schemes[k],
                     .solver = "method=gmres restart=50 precon=gmg:shift=0.3 tol=1e-5",
                     .contrast = lens ? 0.4 : 0.69,
                     .radius = lens ? 0 : 0.5,
                     .width = 0.2,
                     .cuts = strcmp(what, "steps") == 0 ? 1 : 10,
                     .around = 1};
        peer_need(ctx, scatter_run(ctx, &s));
        printf(" | %.2g (%.2g)", s.error, s.error_scattered);
        fflush(stdout);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    static char *usual[] = {"10", "14", "20"};
    const char *what = argc > 1 ? argv[1] : "sphere";
    const int count = argc > 2 ? argc - 2 : 3;
    char **points = argc > 2 ? argv + 2 : usual;
    spry_context *ctx = NULL;
    if (spry_context_new(NULL, &ctx) != SPRY_STATUS_OK)
        return 1;
    printf("points | second | compact4 | optimal | optimal symmetric=no\n");
    for (int k = 0; k < count; k++)
        report(ctx, what, atoi(points[k]));
    spry_context_free(ctx);
    return 0;
}
