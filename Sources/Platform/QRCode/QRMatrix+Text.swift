// SPDX-License-Identifier: Apache-2.0

extension QRMatrix {
    /// For terminals: two rows of modules in one line of text, the *light* ones drawn, since most terminals write light on dark. On one that
    /// is the other way round, `isInverted` draws the dark ones.
    public func halfBlocks(isInverted: Bool = false) -> String {
        stride(from: positions.lowerBound, to: positions.upperBound, by: 2).map { row in
            String(
                positions.map { column -> Character in
                    let upper = self[row, column] == isInverted
                    // Below the last row there is nothing to draw.
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

    /// In ASCII alone: a line for each row, two characters for each module. `#` is light, for the reason that ``halfBlocks(isInverted:)`` has.
    public func ascii(isInverted: Bool = false) -> String {
        positions.map { row in
            positions.map { self[row, $0] == isInverted ? "##" : "  " }.joined()
        }
        .joined(separator: "\n") + "\n"
    }
}
