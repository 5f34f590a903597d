// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

// The structures of libqrencode and libpng, as in their public headers. The libraries are opened when they are needed, so nothing else
// needs their headers or the libraries.

// qrencode.h 4.1: QRcode. The lowest bit of each byte of `data` is set for a dark module.
typedef struct {
    int version;
    int width;
    unsigned char *data;
} rk_qrcode;

// png.h 1.6: png_image and the constants of its simplified interface.
typedef struct {
    void *opaque;
    uint32_t version;
    uint32_t width;
    uint32_t height;
    uint32_t format;
    uint32_t flags;
    uint32_t colormap_entries;
    uint32_t warning_or_error;
    char message[64];
} rk_png_image;
enum { RK_PNG_IMAGE_VERSION = 1, RK_PNG_FORMAT_GRAY = 0 };

typedef struct { uint8_t red, green, blue; } rk_png_color;
