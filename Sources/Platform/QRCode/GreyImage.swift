// SPDX-License-Identifier: Apache-2.0
import RainCore
import CRainQRCode

/// A picture without colours: one byte for each pixel, row by row; 255 is white.
struct GreyImage: Equatable {
    var width: Int
    var height: Int
    var pixels: [UInt8]

    /// Phone photos have 12 to 50 million pixels.
    static let maximumPixels = 64 << 20

    static func isBounded(_ width: Int, _ height: Int) -> Bool {
        width > 0 && height > 0 && width <= 32_768 && height <= 32_768 && width * height <= maximumPixels
    }
}

extension QRMatrix {
    /// Returns a PNG picture of the code with its quiet zone.
    ///
    /// Throws `libraryMissing`.
    ///
    /// - Parameter scale: pixels for each module.
    public func png(scale: Int = 8) throws(QRCodeError) -> [UInt8] {
        let scale = min(max(scale, 1), 64)
        let side = positions.count * scale
        var pixels: [UInt8] = []
        pixels.reserveCapacity(side * side)
        for row in positions {
            let line = positions.flatMap { [UInt8](repeating: self[row, $0] ? 0 : 255, count: scale) }
            for _ in 0..<scale { pixels += line }
        }
        return try PNG.encoded(GreyImage(width: side, height: side, pixels: pixels))
    }
}

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
        let write = try library.required("png_image_write_to_memory", as: Write.self)
        let free = try library.required("png_image_free", as: Free.self)
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
        let begin = try library.required("png_image_begin_read_from_memory", as: Begin.self)
        let finish = try library.required("png_image_finish_read", as: Finish.self)
        let free = try library.required("png_image_free", as: Free.self)
        var image = image()
        defer { free(&image) }
        guard begin(&image, bytes, bytes.count) != 0 else { throw QRCodeError(.unreadableImage) }
        let (width, height) = (Int(image.width), Int(image.height))
        guard GreyImage.isBounded(width, height) else { throw QRCodeError(.imageTooLarge) }
        image.format = UInt32(RK_PNG_FORMAT_GRAY)
        var pixels = [UInt8](repeating: 0, count: width * height)
        // Transparent pixels become white.
        var paper = rk_png_color(red: 255, green: 255, blue: 255)
        guard finish(&image, &paper, &pixels, 0, nil) != 0 else { throw QRCodeError(.unreadableImage) }
        return GreyImage(width: width, height: height, pixels: pixels)
    }
}

/// TurboJPEG, libjpeg's own simple interface. Only libjpeg reads the file. So memory is allocated for exactly the size that it decodes.
enum JPEG {
    private typealias Create = @convention(c) () -> UnsafeMutableRawPointer?
    private typealias Destroy = @convention(c) (UnsafeMutableRawPointer?) -> Int32
    private typealias ErrorCode = @convention(c) (UnsafeMutableRawPointer?) -> Int32
    private typealias ReadHeader =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, UInt, UnsafeMutablePointer<Int32>?,
            UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<Int32>?
        ) -> Int32
    private typealias Decompress =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, UInt, UnsafeMutablePointer<UInt8>?, Int32, Int32, Int32,
            Int32, Int32
        ) -> Int32

    // turbojpeg.h 2.1: TJPF_GRAY, TJFLAG_LIMITSCANS (500 of a progressive picture), TJERR_WARNING.
    private static let grey: Int32 = 6
    private static let limitScans: Int32 = 32_768
    private static let warning: Int32 = 0

    /// The maximum memory for a picture, in bytes: 64 million pixels of a usual photo (4:2:0).
    static let maximumMemory = 256 << 20

    /// Returns the grey pixels, and whether the file is damaged or incomplete: libjpeg decodes such a file as far as it can.
    ///
    /// Throws `libraryMissing`, `unreadableImage` and `imageTooLarge`.
    static func decoded(_ bytes: [UInt8]) throws(QRCodeError) -> (picture: GreyImage, isDamaged: Bool) {
        let library = try SharedLibrary("libturbojpeg.so.0", package: "libturbojpeg0")
        let create = try library.required("tjInitDecompress", as: Create.self)
        let destroy = try library.required("tjDestroy", as: Destroy.self)
        let readHeader = try library.required("tjDecompressHeader3", as: ReadHeader.self)
        let decompress = try library.required("tjDecompress2", as: Decompress.self)
        let errorCode = try library.required("tjGetErrorCode", as: ErrorCode.self)
        guard let decoder = create() else { throw QRCodeError(.failed) }
        defer { _ = destroy(decoder) }

        var (width, height, subsampling, colours): (Int32, Int32, Int32, Int32) = (0, 0, -1, -1)
        // The size stays 0 if libjpeg cannot read the header. The status is not used, because it also reports a rare subsampling as an
        // error, although libjpeg decodes it.
        _ = readHeader(decoder, bytes, UInt(bytes.count), &width, &height, &subsampling, &colours)
        guard width > 0, height > 0 else { throw QRCodeError(.unreadableImage) }
        let count = Int(width) * Int(height)
        guard GreyImage.isBounded(Int(width), Int(height)),
            count * (1 + bytesOfCoefficients(subsampling)) <= maximumMemory
        else { throw QRCodeError(.imageTooLarge) }

        var pixels = [UInt8](repeating: 255, count: count)
        let status = decompress(
            decoder, bytes, UInt(bytes.count), &pixels, width, width, height, grey, limitScans)
        guard status == 0 || errorCode(decoder) == warning else { throw QRCodeError(.unreadableImage) }
        return (GreyImage(width: Int(width), height: Int(height), pixels: pixels), status != 0)
    }

    /// Returns how many bytes libjpeg keeps for each pixel of a progressive picture: two bytes for each coefficient, by `enum TJSAMP`.
    private static func bytesOfCoefficients(_ subsampling: Int32) -> Int {
        switch subsampling {
        case 3: 2  // grey
        case 2, 5: 3  // 4:2:0, 4:1:1
        case 1, 4: 4  // 4:2:2, 4:4:0
        default: 8  // 4:4:4, some of which have four components
        }
    }
}
