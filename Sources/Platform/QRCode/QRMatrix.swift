// SPDX-License-Identifier: Apache-2.0
import CRainQRCode

/// The dark and light modules of a QR code, made by libqrencode.
public struct QRMatrix: Sendable, Equatable {
    /// Modules on each side, without the quiet zone.
    public let width: Int
    /// Row by row; true is dark.
    let modules: [Bool]

    /// The light border that scanners need, in modules (ISO/IEC 18004).
    static let quietZone = 4

    /// Encodes bytes as they are, with a medium level of error correction, in the smallest code that holds them.
    ///
    /// Throws `libraryMissing`, and `unsuitableLength` for nothing and for more than 2331 bytes.
    public init(_ text: [UInt8]) throws(QRCodeError) {
        typealias Encode =
            @convention(c) (Int32, UnsafePointer<UInt8>?, Int32, UInt32) -> UnsafeMutablePointer<rk_qrcode>?
        typealias Free = @convention(c) (UnsafeMutablePointer<rk_qrcode>?) -> Void
        guard !text.isEmpty, text.count <= Self.maximumBytes else { throw QRCodeError(.unsuitableLength) }
        let library = try SharedLibrary("libqrencode.so.4", package: "libqrencode4")
        let encode = try library.function("QRcode_encodeData", as: Encode.self)
        let free = try library.function("QRcode_free", as: Free.self)
        let mediumCorrection: UInt32 = 1
        guard let code = encode(Int32(text.count), text, 0, mediumCorrection) else { throw QRCodeError(.failed) }
        defer { free(code) }
        width = Int(code.pointee.width)
        modules = (0..<(width * width)).map { code.pointee.data[$0] & 1 == 1 }
    }

    /// Of version 40 with medium error correction.
    public static let maximumBytes = 2331

    /// Whether a module is dark. What lies outside is the quiet zone, which is light.
    subscript(row: Int, column: Int) -> Bool {
        (0..<width).contains(row) && (0..<width).contains(column) && modules[row * width + column]
    }

    /// The rows, and the columns, with the quiet zone.
    var positions: Range<Int> { -Self.quietZone..<(width + Self.quietZone) }
}
