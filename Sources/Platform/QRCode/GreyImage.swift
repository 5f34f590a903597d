// SPDX-License-Identifier: Apache-2.0

/// A picture without colours: a byte for each pixel, row by row, 255 is white.
struct GreyImage: Equatable {
    var width: Int
    var height: Int
    var pixels: [UInt8]

    /// Photos of phones have 12 to 50 million pixels.
    static let maximumPixels = 64 << 20

    static func isBounded(_ width: Int, _ height: Int) -> Bool {
        width > 0 && height > 0 && width <= 32_768 && height <= 32_768 && width * height <= maximumPixels
    }
}

extension QRMatrix {
    /// A PNG with so many pixels for each module, quiet zone included.
    ///
    /// Throws `libraryMissing`.
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
