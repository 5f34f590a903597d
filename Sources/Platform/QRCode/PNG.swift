// SPDX-License-Identifier: Apache-2.0
import CRainQRCode

/// libpng's simplified interface, for grey images.
enum PNG {
    private typealias Free = @convention(c) (UnsafeMutablePointer<rk_png_image>?) -> Void

    static func library() throws(QRCodeError) -> SharedLibrary {
        try SharedLibrary("libpng16.so.16", package: "libpng16-16")
    }

    private static func image() -> rk_png_image {
        var image = rk_png_image()
        image.version = UInt32(RK_PNG_IMAGE_VERSION)
        return image
    }

    static func encoded(_ picture: GreyImage) throws(QRCodeError) -> [UInt8] {
        typealias Write =
            @convention(c) (
                UnsafeMutablePointer<rk_png_image>?, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int>?, Int32,
                UnsafeRawPointer?, Int32, UnsafeRawPointer?
            ) -> Int32
        let library = try library()
        let write = try library.function("png_image_write_to_memory", as: Write.self)
        let free = try library.function("png_image_free", as: Free.self)
        var image = image()
        (image.width, image.height) = (UInt32(picture.width), UInt32(picture.height))
        image.format = UInt32(RK_PNG_FORMAT_GRAY)
        defer { free(&image) }
        var count = 0
        guard write(&image, nil, &count, 0, picture.pixels, 0, nil) != 0, count > 0 else { throw QRCodeError(.failed) }
        var bytes = [UInt8](repeating: 0, count: count)
        guard write(&image, &bytes, &count, 0, picture.pixels, 0, nil) != 0 else { throw QRCodeError(.failed) }
        return Array(bytes.prefix(count))
    }

    static func decoded(_ bytes: [UInt8]) throws(QRCodeError) -> GreyImage {
        typealias Begin = @convention(c) (UnsafeMutablePointer<rk_png_image>?, UnsafeRawPointer?, Int) -> Int32
        typealias Finish =
            @convention(c) (
                UnsafeMutablePointer<rk_png_image>?, UnsafePointer<rk_png_color>?, UnsafeMutableRawPointer?, Int32,
                UnsafeMutableRawPointer?
            ) -> Int32
        let library = try library()
        let begin = try library.function("png_image_begin_read_from_memory", as: Begin.self)
        let finish = try library.function("png_image_finish_read", as: Finish.self)
        let free = try library.function("png_image_free", as: Free.self)
        var image = image()
        defer { free(&image) }
        guard begin(&image, bytes, bytes.count) != 0 else { throw QRCodeError(.unreadableImage) }
        let (width, height) = (Int(image.width), Int(image.height))
        guard GreyImage.isBounded(width, height) else { throw QRCodeError(.imageTooLarge) }
        image.format = UInt32(RK_PNG_FORMAT_GRAY)
        var pixels = [UInt8](repeating: 0, count: width * height)
        // What is transparent lies on white paper.
        var paper = rk_png_color(red: 255, green: 255, blue: 255)
        guard finish(&image, &paper, &pixels, 0, nil) != 0 else { throw QRCodeError(.unreadableImage) }
        return GreyImage(width: width, height: height, pixels: pixels)
    }
}
