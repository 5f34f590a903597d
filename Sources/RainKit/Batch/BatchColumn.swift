// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// A column of a file of boards.
enum BatchColumn: String, Sendable, CaseIterable {
    case qr, name, port, address, transport, pop, ssid, passphrase, tags, metadata, group
    case nodeName = "node_name"
    case customData = "custom_data"

    /// The column with this name, in any case and with blanks around it.
    init?(spelled text: String) {
        self.init(rawValue: text.trimmed.lowercased())
    }

    /// The column that was probably meant; nil if none is similar.
    static func nearest(to text: String) -> BatchColumn? {
        let name = text.trimmed.lowercased().replacing(" ", with: "_").replacing("-", with: "_")
        if let column = others[name] ?? BatchColumn(rawValue: name) { return column }
        let ranked = allCases.map { (column: $0, distance: distance(Array(name.utf8), Array($0.rawValue.utf8))) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        // In a short name, two other letters make another word.
        return best.distance <= (best.column.rawValue.utf8.count < 5 ? 1 : 2) ? best.column : nil
    }

    /// Other words for a column.
    private static let others: [String: BatchColumn] = [
        "qrcode": .qr, "qr_code": .qr, "code": .qr, "label": .qr, "device_name": .name, "board": .name,
        "service_name": .name, "tty": .port, "serial": .port, "serial_port": .port, "mac": .address, "host": .address,
        "ip": .address, "device_host": .address, "proof": .pop, "pin": .pop, "proof_of_possession": .pop,
        "wifi": .ssid, "network": .ssid, "password": .passphrase, "wifi_password": .passphrase, "key": .passphrase,
        "meta": .metadata, "groups": .group, "nodename": .nodeName, "data": .customData, "customdata": .customData,
    ]

    /// How many letters differ (Levenshtein). Only the first 32 bytes count.
    private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        let (first, second) = (first.prefix(32), second.prefix(32))
        var row = Array(0...second.count)
        for (index, letter) in first.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (other, candidate) in second.enumerated() {
                let replaced = diagonal + (letter == candidate ? 0 : 1)
                diagonal = row[other + 1]
                row[other + 1] = min(replaced, diagonal + 1, row[other] + 1)
            }
        }
        return row[second.count]
    }

    static let list = allCases.map(\.rawValue).joined(separator: ", ")
}

/// A value of a column.
enum BatchValue: Sendable {
    /// A field of CSV, or a string of JSON in UTF-8.
    case text([UInt8])
    /// Another value of JSON.
    case json(JSONValue)
}

extension String {
    /// The text without spaces and tabs at its ends, and without no-break spaces, which come from web pages.
    var trimmed: String {
        func isBlank(_ scalar: Unicode.Scalar) -> Bool { [" ", "\t", "\u{A0}"].contains(scalar) }
        let scalars = unicodeScalars.drop(while: isBlank)
        guard let last = scalars.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(String.UnicodeScalarView(scalars[...last]))
    }
}
