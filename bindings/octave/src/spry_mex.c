/* The MEX function itself: finds the command, raises errors. */
#include "gate.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char error_id[64], error_text[4096];

bool gate_fail(const char *id, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    snprintf(error_id, sizeof error_id, "spry:%s", id);
    vsnprintf(error_text, sizeof error_text, format, args);
    va_end(args);
    return false;
}

bool gate_check_of(spry_status status, const spry_context *ctx)
{
    static const char *const ids[SPRY_STATUS_COUNT] = {
        [SPRY_STATUS_BAD_USAGE] = "badUsage",
        [SPRY_STATUS_BAD_INPUT] = "badInput",
        [SPRY_STATUS_IO] = "io",
        [SPRY_STATUS_NO_MEMORY] = "noMemory",
        [SPRY_STATUS_UNSUPPORTED] = "unsupported",
        [SPRY_STATUS_INTERRUPTED] = "interrupted",
        [SPRY_STATUS_DEVICE] = "device",
        [SPRY_STATUS_DEVICE_LOST] = "deviceLost",
    };
    if (status == SPRY_STATUS_OK)
        return true;
    const char *text = ctx ? spry_message(ctx) : "";
    const char *id = (unsigned)status < SPRY_STATUS_COUNT ? ids[status] : NULL;
    char *words = gate_words(*text ? text : spry_status_text(status));
    gate_fail(id ? id : "failed", "%s", words);
    mxFree(words);
    return false;
}

bool gate_check(spry_status status)
{
    return status == SPRY_STATUS_OK || gate_check_of(status, gate_context());
}

bool gate_count(const gate_call *call, int least, int most)
{
    if (call->in_count >= least && call->in_count <= most)
        return true;
    return gate_fail("badUsage", "%d arguments follow the command, %d to %d can", call->in_count,
                     least, most);
}

char *gate_text(const mxArray *array, const char *what)
{
    char *text = array && mxIsChar(array) ? mxArrayToString(array) : NULL;
    if (!text)
        gate_fail("badType", "%s is to be a text, and is of class %s", what,
                  array ? mxGetClassName(array) : "none");
    return text;
}

static bool command_version(gate_call *call)
{
    call->out[0] = mxCreateString(spry_version());
    return true;
}

static const struct {
    const char *name;
    gate_command run;
} commands[] = {
    {"multiply", command_multiply}, {"solve", command_solve},         {"keep", command_keep},
    {"free", command_free},         {"matches", command_matches},     {"update", command_update},
    {"describe", command_describe}, {"info", command_info},           {"tune", command_tune},
    {"list", command_list},         {"devices", command_devices},     {"read", command_read},
    {"write", command_write},       {"generate", command_generate},   {"open", command_open},
    {"stencil", command_stencil},   {"helmholtz", command_helmholtz}, {"places", command_places},
    {"step", command_step},         {"bounded", command_bounded},     {"version", command_version},
    {"arrays", command_arrays},
};

static gate_command find(const char *name)
{
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++)
        if (strcmp(commands[k].name, name) == 0)
            return commands[k].run;
    gate_fail("badUsage", "unknown command '%s'", name);
    return NULL;
}

/* Octave writes the function's name before a text that mexErrMsgIdAndTxt() is given. */
static void raise_error(void)
{
    mxArray *in[] = {mxCreateString(error_id), mxCreateString("%s"), mxCreateString(error_text)};
    mexCallMATLAB(0, NULL, 3, in, "error");
}

/* MEX functions are exported by name alone where the compiler hides the rest. */
SPRY_API void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    char name[32] = "";
    gate_call call = {nrhs - 1, nlhs, prhs + 1, plhs};
    gate_command run = NULL;
    if (nrhs < 1 || !mxIsChar(prhs[0]) || mxGetString(prhs[0], name, sizeof name) != 0)
        gate_fail("badUsage", "spry_mex(COMMAND, ...): the first argument is a command");
    else
        run = find(name);
    if (!run || !run(&call))
        raise_error();
}
