// SPDX-License-Identifier: Apache-2.0

extension QRMatrix {
    /// A drawing of one path, to be printed at any size, with lines of text below the code.
    ///
    /// Lengths are in modules; `side` is the printed width of the code with its quiet zone, in millimetres.
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

    /// A long line is squeezed into the label; a short one has its natural width, roughly.
    private static func textLength(_ text: String, within all: Int) -> Int { min(all - 2, max(1, text.count * 5 / 4)) }

    private static func millimetres(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }

    /// XML has no place for control characters.
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
