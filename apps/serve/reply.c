/* Replies: what all of them have in their heads, texts, faults and JSON. */
#include "serve/serve.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *content, *referrer;
} policies[] = {
    [POLICY_PAGE] = {"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "
                     "data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                     "frame-ancestors 'none'",
                     "no-referrer"},
    [POLICY_PICTURE] = {"default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
                        "frame-ancestors 'none'; sandbox",
                        "no-referrer"},
    /* it zooms by a script of its own, and is of no origin: it can ask this server for nothing */
    [POLICY_REPORT] =
        {"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
         "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
         "sandbox allow-scripts",
         "no-referrer"},
    /* a form's request says where it comes from only with this referrer */
    [POLICY_LOGIN] = {"default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
                      "form-action 'self'; frame-ancestors 'none'",
                      "same-origin"},
};

enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                       int policy, struct MHD_Response *response)
{
    if (!response)
        return MHD_NO;
    const char *const heads[][2] = {{"Content-Type", type},
                                    {"Content-Security-Policy", policies[policy].content},
                                    {"Referrer-Policy", policies[policy].referrer},
                                    {"X-Content-Type-Options", "nosniff"},
                                    {"X-Frame-Options", "DENY"},
                                    {"Cross-Origin-Resource-Policy", "same-origin"},
                                    {"Cross-Origin-Opener-Policy", "same-origin"},
                                    {"Cache-Control", "no-store"}};
    enum MHD_Result result = MHD_YES;
    for (size_t k = 0; k < sizeof heads / sizeof *heads && result == MHD_YES; k++)
        result = MHD_add_response_header(response, heads[k][0], heads[k][1]);
    if (result == MHD_YES && status == MHD_HTTP_TOO_MANY_REQUESTS)
        result = MHD_add_response_header(response, "Retry-After", "5");
    /* what follows a request that was not understood may be a part of it */
    if (result == MHD_YES && status == MHD_HTTP_BAD_REQUEST)
        result = MHD_add_response_header(response, "Connection", "close");
    if (result == MHD_YES)
        result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status, const char *type,
                            int policy, char *text, size_t size)
{
    struct MHD_Response *response =
        text ? MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE) : NULL;
    if (!response)
        free(text);
    return answer(connection, status, type, policy, response);
}

enum MHD_Result answer_fault(struct MHD_Connection *connection, unsigned status, const char *format,
                             ...)
{
    char message[2 * LINE_MOST], *text = NULL;
    size_t size = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return MHD_NO;
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_text(&j, "error", message);
    json_close(&j, '}');
    if (fclose(out) != 0) {
        free(text);
        return MHD_NO;
    }
    return answer_text(connection, status, "application/json", POLICY_PAGE, text, size);
}

const char *answer_parameter(struct MHD_Connection *connection, const char *name)
{
    const char *value = NULL;
    size_t size = 0;
    if (MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, name, strlen(name), &value,
                                      &size) != MHD_YES ||
        !value || strlen(value) != size) /* a 0 within it is none of ours */
        return "";
    return value;
}

bool draft_begin(draft *d)
{
    *d = (draft){0};
    d->j.out = open_memstream(&d->text, &d->size);
    return d->j.out != NULL;
}

enum MHD_Result draft_send(draft *d, struct MHD_Connection *connection, unsigned status)
{
    if (fclose(d->j.out) != 0) {
        free(d->text);
        return MHD_NO;
    }
    return answer_text(connection, status, "application/json", POLICY_PAGE, d->text, d->size);
}

/* Takes a body of JSON apart by one of spec.h's functions; false after the request was refused. */
bool answer_take_spec(const request *q, spec *asked, struct MHD_Connection *connection,
                      bool (*take)(spec *s, const reader *r, const reader_value *from,
                                   char fault[FAULT_SIZE]),
                      enum MHD_Result *refused)
{
    reader r;
    char fault[FAULT_SIZE];
    *asked = (spec){0};
    bool good = reader_parse(&r, q->body ? q->body : "", q->size);
    if (!good)
        snprintf(fault, sizeof fault, "no JSON, in line %zu: %s", r.line, r.fault);
    else
        good = take(asked, &r, r.values, fault);
    reader_free(&r);
    if (!good) {
        spec_free(asked);
        *refused = answer_fault(connection, MHD_HTTP_BAD_REQUEST, "%s", fault);
    }
    return good;
}
