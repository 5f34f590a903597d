// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Finds QR codes in pictures, by libzbar.
public enum QRScanner {
    /// The maximum size of a file.
    public static let maximumBytes = 32 << 20

    /// Whether the bytes begin like a supported picture: PNG or JPEG.
    public static func isPicture(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: pngMark) || bytes.starts(with: jpegMark)
    }

    static let pngMark: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    static let jpegMark: [UInt8] = [0xFF, 0xD8, 0xFF]

    /// Returns the contents of all codes in a PNG or JPEG file, each once, as bytes: a code's text has no declared encoding.
    ///
    /// Throws `libraryMissing`, `unreadableImage`, `imageTooLarge`, and `noCode` if there are none.
    public static func payloads(inPicture bytes: [UInt8]) throws(QRCodeError) -> [[UInt8]] {
        guard bytes.count <= maximumBytes else { throw QRCodeError(.imageTooLarge) }
        let picture: GreyImage
        var isDamaged = false
        if bytes.starts(with: pngMark) {
            picture = try PNG.decoded(bytes)
        } else if bytes.starts(with: jpegMark) {
            (picture, isDamaged) = try JPEG.decoded(bytes)
        } else {
            throw QRCodeError(.unreadableImage)
        }
        let found = try ZBar().codes(in: picture)
        if found.isEmpty { throw QRCodeError(isDamaged ? .unreadableImage : .noCode) }
        var seen: Set<[UInt8]> = []
        return found.filter { seen.insert($0).inserted }
    }
}

extension QRScanner {
    /// The Debian packages of the missing libraries; empty if codes can be drawn, and read from pictures.
    public static var missingPackages: [String] {
        [
            ("libqrencode.so.4", "libqrencode4"), ("libzbar.so.0", "libzbar0"), ("libpng16.so.16", "libpng16-16"),
            ("libturbojpeg.so.0", "libturbojpeg0"),
        ]
        .compactMap { (try? SharedLibrary($0.0, package: $0.1)) == nil ? $0.1 : nil }
    }
}

extension QRScanner {
    /// Returns the type of a file that is neither text nor a supported picture, such as "a GIF picture"; nil for other files.
    public static func otherFormat(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: "GIF8".utf8) { return "a GIF picture" }
        if bytes.starts(with: "%PDF".utf8) { return "a PDF document" }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return "a WebP picture" }
        if bytes.starts(with: "BM".utf8), bytes.contains(0) { return "a BMP picture" }
        if bytes.starts(with: "II*\0".utf8) || bytes.starts(with: "MM\0*".utf8) { return "a TIFF picture" }
        guard bytes.dropFirst(4).starts(with: "ftyp".utf8) else { return nil }
        let brand = bytes.dropFirst(8).prefix(4)
        if brand.elementsEqual("avif".utf8) { return "an AVIF picture" }
        let isHEIF = ["heic", "heix", "mif1", "msf1"].contains { brand.elementsEqual($0.utf8) }
        return isHEIF ? "a HEIC picture, the format of iPhones" : "a video"
    }

    /// Returns a sentence about a file that cannot be decoded as a picture, by its bytes: it is empty, incomplete, damaged, or something
    /// else.
    ///
    /// - Parameter name: the file, as the subject of the sentence.
    public static func fault(_ bytes: [UInt8], of name: String) -> String {
        if bytes.isEmpty { return "\(name) is empty: it has no bytes." }
        if let other = otherFormat(bytes) {
            return
                "\(name) is \(other): codes are read from PNG and JPEG pictures only. Convert the picture, or take a screenshot."
        }
        let isPNG = bytes.starts(with: pngMark)
        if isPNG || bytes.starts(with: jpegMark) {
            let kind = isPNG ? "PNG" : "JPEG"
            // IEND with its length and checksum, and EOI. Cameras may write more data after EOI.
            let isWhole =
                isPNG
                ? bytes.suffix(12).elementsEqual([0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82])
                : bytes.indices.dropLast().last { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xD9 } != nil
            return isWhole
                ? "The \(kind) picture \(name) is damaged. Take or copy the picture again."
                : "The \(kind) picture \(name) is incomplete: its end is missing. Take or copy the picture again."
        }
        let start = String(decoding: bytes.prefix(64).drop { $0 <= 0x20 || $0 > 0x7E }, as: UTF8.self).lowercased()
        if ["<!doctype html", "<html", "<head", "<body"].contains(where: start.hasPrefix) {
            return "\(name) is a web page, not a picture: give the picture itself, or its own address."
        }
        return "\(name) is not a PNG or JPEG picture."
    }
}

/// The required functions of libzbar.
struct ZBar {
    private typealias Create = @convention(c) () -> OpaquePointer?
    private typealias Destroy = @convention(c) (OpaquePointer?) -> Void
    private typealias Configure = @convention(c) (OpaquePointer?, UInt32, UInt32, Int32) -> Int32
    private typealias SetNumber = @convention(c) (OpaquePointer?, UInt) -> Void
    private typealias SetSize = @convention(c) (OpaquePointer?, UInt32, UInt32) -> Void
    private typealias SetData = @convention(c) (OpaquePointer?, UnsafeRawPointer?, UInt, UnsafeRawPointer?) -> Void
    private typealias Scan = @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32
    private typealias Next = @convention(c) (OpaquePointer?) -> OpaquePointer?
    private typealias Data = @convention(c) (OpaquePointer?) -> UnsafePointer<UInt8>?
    private typealias Length = @convention(c) (OpaquePointer?) -> UInt32

    // zbar.h: ZBAR_NONE and ZBAR_QRCODE; ZBAR_CFG_ENABLE and ZBAR_CFG_BINARY.
    private static let anySymbol: UInt32 = 0
    private static let qrCode: UInt32 = 64
    private static let enable: UInt32 = 0
    private static let binary: UInt32 = 4

    private static func fourCC(_ text: StaticString) -> UInt {
        text.withUTF8Buffer { $0.reversed().reduce(0) { $0 << 8 | UInt($1) } }
    }

    private let library: SharedLibrary

    init() throws(QRCodeError) { library = try SharedLibrary("libzbar.so.0", package: "libzbar0") }

    /// Returns the texts of the QR codes in a grey picture.
    func codes(in picture: GreyImage) throws(QRCodeError) -> [[UInt8]] {
        // libzbar uses the width and the height, whatever the length of the buffer is.
        precondition(picture.pixels.count == picture.width * picture.height)
        let create = try library.required("zbar_image_create", as: Create.self)
        let destroy = try library.required("zbar_image_destroy", as: Destroy.self)
        let setFormat = try library.required("zbar_image_set_format", as: SetNumber.self)
        let setSize = try library.required("zbar_image_set_size", as: SetSize.self)
        let setData = try library.required("zbar_image_set_data", as: SetData.self)
        guard let image = create() else { throw QRCodeError(.failed) }
        defer { destroy(image) }
        setFormat(image, Self.fourCC("Y800"))
        setSize(image, UInt32(picture.width), UInt32(picture.height))
        let result = picture.pixels.withUnsafeBytes { buffer -> Result<[[UInt8]], QRCodeError> in
            setData(image, buffer.baseAddress, UInt(buffer.count), nil)
            do throws(QRCodeError) { return .success(try scan(image)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func scan(_ image: OpaquePointer) throws(QRCodeError) -> [[UInt8]] {
        let create = try library.required("zbar_image_scanner_create", as: Create.self)
        let destroy = try library.required("zbar_image_scanner_destroy", as: Destroy.self)
        let configure = try library.required("zbar_image_scanner_set_config", as: Configure.self)
        let scan = try library.required("zbar_scan_image", as: Scan.self)
        let first = try library.required("zbar_image_first_symbol", as: Next.self)
        let next = try library.required("zbar_symbol_next", as: Next.self)
        let data = try library.required("zbar_symbol_get_data", as: Data.self)
        let length = try library.required("zbar_symbol_get_data_length", as: Length.self)
        guard let scanner = create() else { throw QRCodeError(.failed) }
        defer { destroy(scanner) }
        _ = configure(scanner, Self.anySymbol, Self.enable, 0)
        _ = configure(scanner, Self.qrCode, Self.enable, 1)
        // Otherwise libzbar guesses an encoding, sometimes a wrong one.
        _ = configure(scanner, Self.qrCode, Self.binary, 1)
        guard scan(scanner, image) >= 0 else { throw QRCodeError(.failed) }
        var codes: [[UInt8]] = []
        var symbol = first(image)
        while let found = symbol {
            if let bytes = data(found) {
                codes.append(Array(UnsafeBufferPointer(start: bytes, count: Int(length(found)))))
            }
            symbol = next(found)
        }
        return codes
    }
}
