// SPDX-License-Identifier: Apache-2.0
import RainCore
import CRainQRCode

/// The dark and light modules of a QR code, made by libqrencode.
public struct QRMatrix: Sendable, Equatable {
    /// The number of modules on each side, without the quiet zone.
    public let width: Int
    /// The modules row by row; true is dark.
    let modules: [Bool]

    /// The light border that scanners need, in modules (ISO/IEC 18004).
    static let quietZone = 4

    /// Encodes the unchanged bytes with a medium level of error correction, in the smallest code that holds them.
    ///
    /// Throws `libraryMissing`, and `unsuitableLength` for an empty text and for more than 2331 bytes.
    public init(_ text: [UInt8]) throws(QRCodeError) {
        typealias Encode =
            @convention(c) (Int32, UnsafePointer<UInt8>?, Int32, UInt32) -> UnsafeMutablePointer<rk_qrcode>?
        typealias Free = @convention(c) (UnsafeMutablePointer<rk_qrcode>?) -> Void
        guard !text.isEmpty, text.count <= Self.maximumBytes else { throw QRCodeError(.unsuitableLength) }
        let library = try SharedLibrary("libqrencode.so.4", package: "libqrencode4")
        let encode = try library.required("QRcode_encodeData", as: Encode.self)
        let free = try library.required("QRcode_free", as: Free.self)
        let mediumCorrection: UInt32 = 1
        guard let code = encode(Int32(text.count), text, 0, mediumCorrection) else { throw QRCodeError(.failed) }
        defer { free(code) }
        width = Int(code.pointee.width)
        modules = (0..<(width * width)).map { code.pointee.data[$0] & 1 == 1 }
    }

    /// The capacity of version 40 with medium error correction.
    public static let maximumBytes = 2331

    /// Whether a module is dark. Positions outside belong to the quiet zone, which is light.
    subscript(row: Int, column: Int) -> Bool {
        (0..<width).contains(row) && (0..<width).contains(column) && modules[row * width + column]
    }

    /// The range of rows, and of columns, with the quiet zone.
    var positions: Range<Int> { -Self.quietZone..<(width + Self.quietZone) }
}

extension QRMatrix {
    /// Returns a drawing for terminals: two rows of modules in one line of text. The *light* modules are drawn, since most terminals show
    /// light text on a dark background. For other terminals, `isInverted` draws the dark modules.
    public func halfBlocks(isInverted: Bool = false) -> String {
        stride(from: positions.lowerBound, to: positions.upperBound, by: 2).map { row in
            String(
                positions.map { column -> Character in
                    let upper = self[row, column] == isInverted
                    // There is nothing to draw below the last row.
                    let lower = row + 1 < positions.upperBound ? self[row + 1, column] == isInverted : false
                    return switch (upper, lower) {
                    case (true, true): "█"
                    case (true, false): "▀"
                    case (false, true): "▄"
                    case (false, false): " "
                    }
                })
        }
        .joined(separator: "\n") + "\n"
    }

    /// Returns a drawing in ASCII only: a line for each row, two characters for each module. `#` is light, for the same reason as in
    /// ``halfBlocks(isInverted:)``.
    public func ascii(isInverted: Bool = false) -> String {
        positions.map { row in
            positions.map { self[row, $0] == isInverted ? "##" : "  " }.joined()
        }
        .joined(separator: "\n") + "\n"
    }
}

extension QRMatrix {
    /// Returns a drawing with one path, which can be printed at any size, and lines of text below the code.
    ///
    /// Lengths are in modules. `side` is the printed width of the code with its quiet zone, in millimetres.
    public func svg(label: [String] = [], side: Double = 25) -> String {
        let all = width + 2 * Self.quietZone
        let lineHeight = 3
        let height = all + label.count * lineHeight
        let scale = side / Double(all)
        var path = ""
        for row in 0..<width {
            var column = 0
            while column < width {
                let run = (column..<width).prefix { self[row, $0] }.count
                if run > 0 { path += "M\(column + Self.quietZone) \(row + Self.quietZone)h\(run)v1h-\(run)z" }
                column += max(run, 1)
            }
        }
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<svg xmlns="http://www.w3.org/2000/svg" width="\#(Self.millimetres(side))mm" "#
                + #"height="\#(Self.millimetres(Double(height) * scale))mm" viewBox="0 0 \#(all) \#(height)">"#,
            #"<rect width="\#(all)" height="\#(height)" fill="white"/>"#, #"<path d="\#(path)" fill="black"/>"#,
        ]
        for (index, text) in label.enumerated() {
            let baseline = all + index * lineHeight + 1
            lines.append(
                #"<text x="\#(Double(all) / 2)" y="\#(baseline)" font-family="sans-serif" font-size="2.4" "#
                    + #"text-anchor="middle" textLength="\#(Self.textLength(text, within: all))" lengthAdjust="spacingAndGlyphs">\#(Self.escaped(text))</text>"#
            )
        }
        return (lines + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    /// A long line is compressed to fit the label; a short one has roughly its natural width.
    private static func textLength(_ text: String, within all: Int) -> Int { min(all - 2, max(1, text.count * 5 / 4)) }

    private static func millimetres(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }

    /// XML does not allow control characters.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "<": "&lt;"
            case ">": "&gt;"
            case "&": "&amp;"
            case "\"": "&quot;"
            default: scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? "\u{FFFD}" : String(scalar)
            }
        }
        .joined()
    }
}
