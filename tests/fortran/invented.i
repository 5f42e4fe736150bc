# 1 "include/spry/invented.h"
typedef enum spry_colour { SPRY_COLOUR_RED, SPRY_COLOUR_BLUE = 7, SPRY_COLOUR_COUNT } spry_colour;
enum { SPRY_INVENTED_ROOM = 3 };
typedef struct spry_invented {
    size_t size;
    double a, b[SPRY_INVENTED_ROOM];
    char *text, name[16];
    spry_colour colour;
    _Bool (*ask)(void *data, int n);
} spry_invented;
typedef void (*spry_invented_fn)(void *data, const spry_invented *it);
__attribute__((visibility("default"))) spry_status spry_invented_make(spry_context *ctx, const char *text, const double *numbers, double *mean, spry_invented *it, spry_invented *inventeds, spry_colour colour, const spry_vector *const *v, spry_vector **w, spry_invented_fn report, void (*progress)(void *data, int done), char *room, size_t A, int a);
__attribute__((visibility("default"))) const char *spry_invented_word(spry_invented it);
