// SPDX-License-Identifier: Apache-2.0
import RainSerialPort

/// Takes the secrets out of a board's log before it is shown or kept: firmware prints the Wi-Fi password, the mapping's secret and its own
/// proof of possession in clear.
public enum LogMask {
    /// Behind the mark a secret stands, up to the end or the end of the line.
    private static let rules: [(mark: String, end: String?)] = [
        ("Password : ", nil), ("POP : ", nil), ("secret_key = ", nil), ("secret_key\":\"", "\""),
        ("MQTT Publish: ", nil),
        ("\"pop\":\"", "\""), ("\"pop\": \"", "\""), ("%22pop%22:%22", "%22"), ("%22pop%22%3A%22", "%22"),
        ("\"password\":\"", "\""), ("Network Key", nil), ("wifi-prov ", nil), ("add-user ", nil), ("prov-config ", nil),
    ]
    private static let shown = "***"

    /// - Parameter line: without its end. Terminal escapes are taken off, and what is no UTF-8 is replaced.
    public static func text(_ line: [UInt8]) -> String {
        var text = String(decoding: removingTerminalEscapes(line), as: UTF8.self)
        // A drawn QR code holds what its text does.
        guard text.unicodeScalars.count(where: { (0x2580...0x259F).contains($0.value) }) < 8 else { return "(QR code)" }
        for rule in rules { text = masked(text, rule.mark, rule.end) }
        return maskedCompactCode(text)
    }

    private static func masked(_ text: String, _ mark: String, _ end: String?) -> String {
        guard let secret = text.behind(mark), !secret.isEmpty else { return text }
        let head = text[..<secret.startIndex]
        guard let end, let rest = secret.behind(end) else { return head + shown }
        return head + shown + end + rest
    }

    /// `NP:name|pop|b`
    private static func maskedCompactCode(_ text: String) -> String {
        guard let code = text.behind("NP:"), let proof = code.behind("|"), let last = proof.lastIndex(of: "|") else {
            return text
        }
        return text[..<proof.startIndex] + shown + text[last...]
    }
}
