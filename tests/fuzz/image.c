/* Camera images of spry odt, PNG and TIFF. What is read has as many numbers as it says. */
#include "fuzz.h"

#include "odt/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t memory = 0;
    spry_context *ctx = fuzz_begin(&memory);
    image picture;
    const spry_status status = image_parse(ctx, "fuzz.png", data, size, &picture);
    if (status == SPRY_STATUS_OK) {
        double sum = 0;
        fuzz_require(picture.width > 0 && picture.height > 0);
        for (int64_t k = 0; k < picture.width * picture.height; k++)
            sum += picture.grey[k];
        fuzz_require(sum >= 0 && sum <= 65535.0 * (double)(picture.width * picture.height));
    } else {
        fuzz_require(!picture.grey && spry_message(ctx)[0] != '\0');
    }
    image_free(ctx, &picture);
    fuzz_end(ctx, memory);
    return 0;
}
