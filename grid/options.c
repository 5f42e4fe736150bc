/* The options of each object of libspry_grid, by the object's name. */
#include "grid/options.h"

#include <spry/grid/grid.h>
#include <string.h>

spry_option_list spry_grid_options(const char *object)
{
    static const struct {
        const char *name;
        spry_option_list (*options)(void);
    } objects[] = {
        {"absorb", absorb_option_list},       {"bounded", bounded_option_list},
        {"field", field_option_list},         {"field-wave", field_wave_option_list},
        {"fourier", fourier_option_list},     {"grid", grid_option_list},
        {"helmholtz", helmholtz_option_list}, {"newton", newton_option_list},
        {"parareal", parareal_option_list},   {"stencil", stencil_option_list},
        {"stepper", stepper_option_list},     {"wave", wave_option_list},
    };
    for (size_t i = 0; object && i < sizeof objects / sizeof *objects; i++)
        if (strcmp(objects[i].name, object) == 0)
            return objects[i].options();
    return (spry_option_list){0};
}
