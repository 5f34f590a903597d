// SPDX-License-Identifier: Apache-2.0

/// TurboJPEG, libjpeg's own simple interface. libjpeg alone reads the file: the size that memory is taken for is the size that it decodes.
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

    /// The memory that a picture may take, in bytes: 64 million pixels of a usual photo (4:2:0).
    static let maximumMemory = 256 << 20

    /// The grey pixels, and whether the file is damaged or cut short: libjpeg decodes such a file as far as it can.
    ///
    /// Throws `libraryMissing`, `unreadableImage` and `imageTooLarge`.
    static func decoded(_ bytes: [UInt8]) throws(QRCodeError) -> (picture: GreyImage, isDamaged: Bool) {
        let library = try SharedLibrary("libturbojpeg.so.0", package: "libturbojpeg0")
        let create = try library.function("tjInitDecompress", as: Create.self)
        let destroy = try library.function("tjDestroy", as: Destroy.self)
        let readHeader = try library.function("tjDecompressHeader3", as: ReadHeader.self)
        let decompress = try library.function("tjDecompress2", as: Decompress.self)
        let errorCode = try library.function("tjGetErrorCode", as: ErrorCode.self)
        guard let decoder = create() else { throw QRCodeError(.failed) }
        defer { _ = destroy(decoder) }

        var (width, height, subsampling, colours): (Int32, Int32, Int32, Int32) = (0, 0, -1, -1)
        // The size stays 0 if libjpeg cannot read the header. The status also counts a rare subsampling as an error, which libjpeg decodes.
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

    /// What libjpeg keeps of a progressive picture for each pixel: two bytes for each coefficient, by `enum TJSAMP`.
    private static func bytesOfCoefficients(_ subsampling: Int32) -> Int {
        switch subsampling {
        case 3: 2  // grey
        case 2, 5: 3  // 4:2:0, 4:1:1
        case 1, 4: 4  // 4:2:2, 4:4:0
        default: 8  // 4:4:4, of which some have four components
        }
    }
}
