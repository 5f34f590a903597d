// SPDX-License-Identifier: Apache-2.0

/// The few functions of libzbar that are needed.
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

    /// The texts of the QR codes in a grey picture.
    func codes(in picture: GreyImage) throws(QRCodeError) -> [[UInt8]] {
        // libzbar walks by the width and the height, whatever the length is.
        precondition(picture.pixels.count == picture.width * picture.height)
        let create = try library.function("zbar_image_create", as: Create.self)
        let destroy = try library.function("zbar_image_destroy", as: Destroy.self)
        let setFormat = try library.function("zbar_image_set_format", as: SetNumber.self)
        let setSize = try library.function("zbar_image_set_size", as: SetSize.self)
        let setData = try library.function("zbar_image_set_data", as: SetData.self)
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
        let create = try library.function("zbar_image_scanner_create", as: Create.self)
        let destroy = try library.function("zbar_image_scanner_destroy", as: Destroy.self)
        let configure = try library.function("zbar_image_scanner_set_config", as: Configure.self)
        let scan = try library.function("zbar_scan_image", as: Scan.self)
        let first = try library.function("zbar_image_first_symbol", as: Next.self)
        let next = try library.function("zbar_symbol_next", as: Next.self)
        let data = try library.function("zbar_symbol_get_data", as: Data.self)
        let length = try library.function("zbar_symbol_get_data_length", as: Length.self)
        guard let scanner = create() else { throw QRCodeError(.failed) }
        defer { destroy(scanner) }
        _ = configure(scanner, Self.anySymbol, Self.enable, 0)
        _ = configure(scanner, Self.qrCode, Self.enable, 1)
        // Otherwise it guesses an encoding, at times the wrong one.
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
