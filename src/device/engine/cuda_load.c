/* Loading the CUDA driver and NVRTC, and what their errors mean. */
#include "device/engine/cuda.h"

#include <dlfcn.h>
#include <stdlib.h>

#define DRIVER_SYMBOL(name, symbol, signature) {symbol, offsetof(cuda_driver, name)},
static const base_symbol driver_symbols[] = {CUDA_DRIVER_CALLS(DRIVER_SYMBOL)};
#define NVRTC_SYMBOL(name, symbol, signature) {symbol, offsetof(nvrtc_library, name)},
static const base_symbol nvrtc_symbols[] = {
    NVRTC_CALLS(NVRTC_SYMBOL){"nvrtcGetErrorString", offsetof(nvrtc_library, nvrtcGetErrorString)}};

/* A library is never unloaded: drivers keep threads and handlers of their own. */
static void *open_library(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static const char *load_error(void)
{
    const char *text = dlerror();
    return text ? text : "no reason is given";
}

/* --- the driver ----------------------------------------------------------------------------------
 */

bool cuda_driver_load(cuda_driver *driver, char *why, size_t size)
{
    const char *own = getenv("SPRY_CUDA_LIBRARY");
    const char *name = own ? own : "libcuda.so.1";
    cuda_result (*get_version)(int *) = NULL;
    const base_symbol first = {"cuDriverGetVersion", 0};
    *driver = (cuda_driver){0};
    if (!*name) {
        snprintf(why, size, "SPRY_CUDA_LIBRARY is empty, which switches CUDA off: unset it");
        return false;
    }
    driver->library = open_library(name);
    if (!driver->library) {
        snprintf(why, size,
                 "the CUDA driver cannot be loaded (%.90s): install NVIDIA's driver, or name its "
                 "library in SPRY_CUDA_LIBRARY",
                 load_error());
        return false;
    }
    if (base_find_symbols(driver->library, &first, 1, &get_version) ||
        get_version(&driver->version) != CUDA_OK) {
        snprintf(why, size, "%s does not report its version: is it a CUDA driver?", name);
        return false;
    }
    if (driver->version < CUDA_LEAST_DRIVER) {
        snprintf(why, size,
                 "the driver is for CUDA %d.%d, and %d.%d is needed: install NVIDIA's driver 470 "
                 "or newer",
                 driver->version / 1000, driver->version % 1000 / 10, CUDA_LEAST_DRIVER / 1000,
                 CUDA_LEAST_DRIVER % 1000 / 10);
        return false;
    }
    const char *missing = base_find_symbols(driver->library, driver_symbols,
                                            sizeof driver_symbols / sizeof *driver_symbols, driver);
    if (missing)
        snprintf(why, size,
                 "the driver is for CUDA %d.%d but has no %s: its installation is damaged or mixes "
                 "versions; install NVIDIA's driver again",
                 driver->version / 1000, driver->version % 1000 / 10, missing);
    return !missing;
}

/* Errors after which a context answers nothing but errors. */
static bool is_final(cuda_result result)
{
    switch (result) {
    case CUDA_DEINITIALIZED:
    case CUDA_DEVICE_UNAVAILABLE:
    case CUDA_ECC_UNCORRECTABLE:
    case CUDA_NVLINK_UNCORRECTABLE:
    case CUDA_CONTAINED:
    case CUDA_ILLEGAL_ADDRESS:
    case CUDA_LAUNCH_TIMEOUT:
    case CUDA_CONTEXT_IS_DESTROYED:
    case CUDA_ASSERT:
    case CUDA_UNKNOWN:
        return true;
    default:
        return result >= CUDA_HARDWARE_STACK_ERROR && result <= CUDA_LAUNCH_FAILED;
    }
}

spry_status cuda_check(spry_device *d, cuda_result result, const char *call)
{
    const char *name = NULL, *words = NULL;
    const cuda_driver *driver = &cuda_of(d)->driver;
    if (result == CUDA_OK)
        return SPRY_STATUS_OK;
    if (driver->cuGetErrorName(result, &name) != CUDA_OK || !name)
        name = "an error without a name";
    if (driver->cuGetErrorString(result, &words) != CUDA_OK || !words)
        words = "the driver has no words for it";
    if (is_final(result))
        return SPRY_FAIL(d->ctx, SPRY_STATUS_DEVICE_LOST,
                         "%s: %s (%d): %.100s; run again, and under compute-sanitizer if it "
                         "happens again",
                         call, name, result, words);
    return SPRY_FAIL(d->ctx,
                     result == CUDA_OUT_OF_MEMORY ? SPRY_STATUS_NO_MEMORY : SPRY_STATUS_DEVICE,
                     "%s: %s (%d): %.100s", call, name, result, words);
}

bool cuda_enter(const spry_device *d)
{
    const cuda_state *state = cuda_of(d);
    cuda_handle now = NULL;
    if (state->driver.cuCtxGetCurrent(&now) == CUDA_OK && now == state->context)
        return false;
    return state->driver.cuCtxPushCurrent(state->context) == CUDA_OK;
}

void cuda_leave(const spry_device *d, bool entered)
{
    cuda_handle own;
    if (entered)
        cuda_of(d)->driver.cuCtxPopCurrent(&own);
}

/* --- NVRTC ---------------------------------------------------------------------------------------
 */

/* By its plain name, then where toolkits are put. */
static void *open_nvrtc(const char *file)
{
    const char *const roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    void *library = open_library(file);
    for (size_t i = 0; !library && i < sizeof roots / sizeof *roots; i++) {
        char path[1024];
        const int length =
            roots[i] ? snprintf(path, sizeof path, "%s/lib64/%s", roots[i], file) : 0;
        if (length > 0 && (size_t)length < sizeof path)
            library = open_library(path);
    }
    return library;
}

/* The newest that the driver can take: a driver for CUDA 12 loads nothing that NVRTC 13 makes. */
static void *find_nvrtc(int driver_version)
{
    enum { NEWEST = 15 };
    void *library = NULL;
    const int newest = driver_version > 0 ? driver_version / 1000 : NEWEST;
    for (int major = newest; !library && major >= 12; major--) {
        char file[32];
        snprintf(file, sizeof file, "libnvrtc.so.%d", major);
        library = open_nvrtc(file);
    }
    if (!library)
        library = open_nvrtc("libnvrtc.so.11.2"); /* so is every one from 11.2 to 11.8 called */
    return library ? library : open_nvrtc("libnvrtc.so");
}

static bool nvrtc_found(nvrtc_library *nvrtc, int driver_version, char *why, size_t size)
{
    int major = 0, minor = 0;
    const char *missing = base_find_symbols(nvrtc->library, nvrtc_symbols,
                                            sizeof nvrtc_symbols / sizeof *nvrtc_symbols, nvrtc);
    if (missing) {
        snprintf(why, size, "NVRTC is too old, it has no %s: install version 11.2 or newer",
                 missing);
        return false;
    }
    nvrtc->nvrtcVersion(&major, &minor);
    nvrtc->version = major * 1000 + minor * 10;
    if (driver_version > 0 && major > driver_version / 1000) {
        snprintf(why, size,
                 "NVRTC %d.%d is newer than the driver, which is for CUDA %d.%d: install a driver "
                 "for CUDA %d, or libnvrtc of CUDA %d and name it in SPRY_NVRTC_LIBRARY",
                 major, minor, driver_version / 1000, driver_version % 1000 / 10, major,
                 driver_version / 1000);
        return false;
    }
    return true;
}

bool nvrtc_load(nvrtc_library *nvrtc, int driver_version, char *why, size_t size)
{
    static const char advice[] =
        "install libnvrtc, which comes with the CUDA toolkit and with \"pip install "
        "nvidia-cuda-nvrtc\", and name its file in SPRY_NVRTC_LIBRARY unless the system finds it";
    const char *own = getenv("SPRY_NVRTC_LIBRARY");
    *nvrtc = (nvrtc_library){0};
    if (own && !*own) {
        snprintf(why, size, "SPRY_NVRTC_LIBRARY is empty, which switches NVRTC off: unset it");
        return false;
    }
    nvrtc->library = own ? open_library(own) : find_nvrtc(driver_version);
    if (!nvrtc->library && own)
        snprintf(why, size, "NVRTC, CUDA's compiler, cannot be loaded (%.200s): %s", load_error(),
                 advice);
    else if (!nvrtc->library)
        snprintf(why, size, "NVRTC, CUDA's compiler, was not found: %s", advice);
    else if (nvrtc_found(nvrtc, driver_version, why, size))
        return true;
    *nvrtc = (nvrtc_library){0};
    return false;
}
