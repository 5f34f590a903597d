// SPDX-License-Identifier: Apache-2.0
import Protocomm
import RainCore
import RainJSON

/// The content of a board's QR code, in each of its forms: a JSON object, a URL with that object after `data=`, and the compact
/// `NP:name|pop|b`.
///
/// The forms are those of Espressif's provisioning apps and of RainMaker's firmware.
public struct QRPayload: Sendable {
    /// The transport that the code names: Bluetooth LE (`ble`) or the board's own access point (`softap`).
    public enum Transport: String, Sendable { case ble, softap }

    /// The board's service name, such as `PROV_a1b2c3`.
    public var name: String
    /// The board's proof of possession (`pop`); nil if the code has none.
    public var proofOfPossession: ProofOfPossession?
    /// The board's transport; nil if a JSON object names none.
    public var transport: Transport?
    /// The user name of Security 2.
    public var username: String?
    /// The passphrase of the board's own access point.
    public var accessPointPassphrase: Secret?
    /// The scheme, if the code names one.
    public var securityVersion: Int?
    /// The minimum security that the labelled board must report, since it reports it in clear.
    ///
    /// It is the scheme that the code names, or the one that it implies. Firmware prints a proof of possession only under Security 1 and 2,
    /// and a user name only under Security 2 (ESP-IDF's wifi_prov example, RainMaker's app_wifi). The compact form has neither key.
    public private(set) var leastSecurity = SecurityRequirement(version: 0, needsProofOfPossession: false)
    /// The kind of network that the board joins: `wifi` or `thread`; nil if the code does not name one, which means Wi-Fi.
    public var network: String?

    /// No board's QR code is longer.
    public static let maximumBytes = 1024

    /// Reads the text of a scanned code, in any of the forms; white space around it is ignored.
    ///
    /// - Throws: `malformed` for a text that is longer than ``maximumBytes``, has none of the forms or names no board. Also for a security
    ///   version other than 0, 1 and 2, for an unknown version (`ver`) or transport, and for a member of the wrong JSON type. The message
    ///   names them.
    public init(_ text: [UInt8]) throws(BoardError) {
        guard text.count <= Self.maximumBytes else { throw Self.unreadable("it is longer than a board's code") }
        var text = text[...]
        // Some editors put a byte order mark before a file's text.
        if text.starts(with: Self.mark) { text = text.dropFirst(Self.mark.count) }
        while let last = text.last, Self.isSpace(last) { text = text.dropLast() }
        text = text.drop(while: Self.isSpace)
        if let found = ForeignCode.name(of: text) { throw Self.unreadable("it is \(found)") }
        if text.prefix(4).map({ $0 | 0x20 }) == Array("http".utf8) {
            guard let start = Self.start(ofData: text) else {
                throw Self.unreadable("it is a web address without a board's data (data=)")
            }
            let data = text[start...].drop(while: Self.isSpace)
            // Firmware prints the text without encoding, so a "%" in it is literal; some label printers encode all of it.
            text = Self.isRaw(data) ? data : PercentEncoding.decoded(data)[...]
        }
        if text.starts(with: Self.compactPrefix) {
            try self.init(compact: text.dropFirst(Self.compactPrefix.count))
        } else {
            try self.init(json: Array(text))
        }
    }

    private static let compactPrefix = Array("NP:".utf8)
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Whether the part after `data=` is not encoded: JSON with its brace and quotation marks, or the compact form with its bars.
    private static func isRaw(_ data: ArraySlice<UInt8>) -> Bool {
        if data.first == UInt8(ascii: "{") { return data.contains(UInt8(ascii: "\"")) }
        return data.starts(with: compactPrefix) && data.contains(UInt8(ascii: "|"))
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D || byte == 0x20 || byte == 0x09 }

    private init(json: [UInt8]) throws(BoardError) {
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(
                parsing: json, limits: JSONLimits(maximumBytes: Self.maximumBytes, maximumDepth: 4))
        } catch {
            throw Self.unreadable(
                json.first == UInt8(ascii: "{")
                    ? "its JSON is damaged: \(error)" : "it is neither JSON nor NP:name|pop|transport")
        }
        guard document.members != nil else { throw Self.unreadable("its JSON is not an object") }
        try self.init(object: document)
    }

    /// Throws for a member of the wrong type. If it counted as absent, the protection that the label promises would be lost.
    private init(object document: JSONValue) throws(BoardError) {
        // The members of a code with another version may have other meanings.
        if let version = document.members?.last(where: { $0.name == "ver" })?.value,
            ![.string("v1"), .integer(1)].contains(version)
        {
            throw Self.unusable("\"ver\" is \(Self.shown(version)), but the only known version is \"v1\"")
        }
        let wanted: String?
        do throws(JSONError) {
            let members = try JSONMembers(document, takesNull: false)
            func text(_ name: String) throws(JSONError) -> String? {
                guard let text = try members.text(name), !text.isEmpty else { return nil }
                return text
            }
            name = try text("name") ?? ""
            proofOfPossession = try text("pop").map { ProofOfPossession($0) }
            wanted = try text("transport")
            transport = wanted.flatMap { Transport(rawValue: $0.lowercased()) }
            username = try text("username")
            accessPointPassphrase = try text("password").map { Secret($0) }
            securityVersion = try members.integer("security")
            network = try text("network")
        } catch {
            throw Self.unusable(error.message)
        }
        // Another reader might accept `Pop` for `pop`.
        if let name = (document.members ?? []).map(\.name).first(where: Self.isMisspelt) {
            throw Self.unusable("\"\(name)\" has capital letters and must be \"\(name.lowercased())\"")
        }
        guard !name.isEmpty else { throw Self.nameless }
        if let wanted, transport == nil {
            throw Self.unusable(
                "\"transport\" is \(Self.shown(.string(wanted))), but only \"ble\" and \"softap\" are known")
        }
        if let version = securityVersion, !(0...2).contains(version) {
            throw Self.unusable("\"security\" is \(version), but only Security 0, 1 and 2 are known")
        }
        leastSecurity = least(username == nil ? 1 : 2)
    }

    /// Returns the beginning of a value, as JSON.
    private static func shown(_ value: JSONValue) -> String {
        ShownText.plain(String(String(decoding: value.serialized(), as: UTF8.self).prefix(24)))
    }

    private static func isMisspelt(_ name: String) -> Bool {
        let known = ["ver", "name", "pop", "transport", "username", "password", "security", "network"]
        return known.contains(name.lowercased()) && !known.contains(name)
    }

    /// - Parameter implied: the scheme of a code with a proof of possession but without a scheme.
    private func least(_ implied: Int) -> SecurityRequirement {
        let version = securityVersion ?? (proofOfPossession == nil ? 0 : implied)
        return SecurityRequirement(
            version: version, needsProofOfPossession: version > 0 && proofOfPossession != nil)
    }

    /// Reads `name|pop|b` or `name|pop|s`. Nothing is escaped, so the text between the first bar and the last is the proof of possession.
    /// It implies the usual user name under Security 2.
    private init(compact: ArraySlice<UInt8>) throws(BoardError) {
        let bar = UInt8(ascii: "|")
        guard let first = compact.firstIndex(of: bar), let last = compact.lastIndex(of: bar), first < last,
            first > compact.startIndex
        else { throw Self.unreadable("the compact form is NP:name|pop|b") }
        name = String(decoding: compact[..<first], as: UTF8.self)
        let proof = Array(compact[(first + 1)..<last])
        proofOfPossession = proof.isEmpty ? nil : ProofOfPossession(Secret(proof))
        username = BoardCredentials.defaultUsername
        leastSecurity = least(1)
        switch Array(compact[(last + 1)...]) {
        case Array("b".utf8): transport = .ble
        case Array("s".utf8): transport = .softap
        default: throw Self.unreadable("a compact code must end in b (Bluetooth) or s (SoftAP)")
        }
    }

    private static func start(ofData text: ArraySlice<UInt8>) -> Int? {
        let key = Array("data=".utf8)
        guard text.count >= key.count else { return nil }
        return (text.startIndex...(text.endIndex - key.count)).first { text[$0...].starts(with: key) }.map {
            $0 + key.count
        }
    }

    /// The error for a board's code with a fault. Only this error has a cause.
    private static func unusable(_ why: String) -> BoardError {
        BoardError(
            .malformed, message: "The board's QR code cannot be used: \(why).", cause: "a member of the QR code")
    }

    /// Without a cause: a torn line of a log may have lost the name.
    private static let nameless = BoardError(
        .malformed, message: "This QR code does not say which board it is for: its JSON has no \"name\".")

    private static func unreadable(_ why: String) -> BoardError {
        BoardError(.malformed, message: "This is not a board's QR code: \(why).")
    }
}

extension QRPayload {
    /// The form of a code's text.
    public enum Form: Sendable, Equatable {
        /// A JSON object, which every app and client reads.
        case json
        /// `NP:name|pop|b`, in firmware since 2025: a smaller code. It supports only the usual user name.
        case compact
        /// RainMaker's page with the JSON object after `data=`, for cameras that only open addresses.
        case url
    }

    /// Returns the text of a board's code as its firmware prints it: RainMaker's `app_network.c` and ESP-IDF's `wifi_prov`.
    ///
    /// - Parameters:
    ///   - proof: nil for a board that needs none.
    ///   - username: the user name of Security 2; nil for Security 1.
    /// - Throws: `invalidArgument` for an empty name, for values that the form does not support, and for more than ``maximumBytes``.
    public static func text(
        name: String, proof: ProofOfPossession?, transport: Transport, username: String? = nil, form: Form = .json
    ) throws(BoardError) -> Secret {
        guard !name.isEmpty else { throw impossible("the board's name is missing") }
        let text: [UInt8]
        switch form {
        case .compact:
            guard !name.utf8.contains(UInt8(ascii: "|")) else {
                throw impossible("the compact form separates its parts by \"|\", so the name cannot contain \"|\"")
            }
            guard [nil, BoardCredentials.defaultUsername].contains(username) else {
                throw impossible("the compact form supports only the user name \(BoardCredentials.defaultUsername)")
            }
            text =
                Array("NP:\(name)|".utf8) + (proof?.secret.revealBytes() ?? []) + Array("|\(transport.letter)".utf8)
        case .json, .url:
            var members: [JSONValue.Member] = [.init("ver", "v1"), .init("name", .string(name))]
            if let username { members.append(.init("username", .string(username))) }
            if let proof { members.append(.init("pop", .string(proof.secret.revealString()))) }
            members.append(.init("transport", .string(transport.rawValue)))
            let json = JSONValue.object(members).serialized()
            text = form == .url ? Array(page.utf8) + json : json
        }
        guard text.count <= maximumBytes else {
            let length = proof?.secret.count ?? 0
            let what =
                length > name.utf8.count
                ? "the proof of possession is too long (\(length) bytes)"
                : "the board's name is too long (\(name.utf8.count) bytes)"
            throw impossible("\(what); a board's code has at most \(maximumBytes)")
        }
        return Secret(text)
    }

    private static let page = "https://rainmaker.espressif.com/qrcode.html?data="

    private static func impossible(_ why: String) -> BoardError {
        BoardError(.invalidArgument, message: "No QR code can be made: \(why).")
    }
}

extension QRPayload.Transport {
    /// The letter in the compact form.
    fileprivate var letter: String {
        switch self {
        case .ble: "b"
        case .softap: "s"
        }
    }
}

/// Texts that people scan or enter instead of a board's QR code.
enum ForeignCode {
    private static let prefixes: [(String, String)] = [
        ("WIFI:", "the code that phones scan to join a Wi-Fi network"), ("MT:", "a Matter setup code"),
        ("X-HM://", "a HomeKit setup code"), ("DPP:", "a code of Wi-Fi Easy Connect"),
        ("otpauth:", "a code for one-time passwords"),
        ("BEGIN:VCARD", "a contact card"), ("<", "a web page, or another document with tags"),
    ]

    /// Returns a description of the text; nil if it may be a board's code.
    ///
    /// - Parameter text: without white space around it.
    static func name(of text: ArraySlice<UInt8>) -> String? {
        if text.isEmpty { return "empty" }
        if text.contains(0) || String(validating: text, as: UTF8.self) == nil { return "not text" }
        if let found = part(text) { return found }
        return prefixes.first { prefix, _ in
            text.prefix(prefix.utf8.count).map(Self.lowercase) == prefix.utf8.map(Self.lowercase)
        }?.1
    }

    /// Recognises other texts on labels: a name, a barcode, and the code of a Zigbee device (`Z:EUI$I:CODE`).
    private static func part(_ text: ArraySlice<UInt8>) -> String? {
        if text.allSatisfy({ (0x30...0x39).contains($0) }) {
            return [8, 12, 13, 14].contains(text.count) ? "an article number (barcode)" : nil
        }
        if text.starts(with: Array("Z:".utf8)), String(decoding: text, as: UTF8.self).contains("$I:") {
            return "the install code of a Zigbee device"
        }
        let isName = text.starts(with: Array("PROV_".utf8)) && text.allSatisfy { (0x21...0x7E).contains($0) }
        return isName ? "only the name of a board" : nil
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    /// Whether a text can be the content of a code instead of a file's name: a board's code in any form, or one with another scheme.
    static func mayBeCode(_ text: String) -> Bool {
        text.contains { "{|\"<".contains($0) }
            || text.firstIndex(of: ":").map { colon in
                text[..<colon].count > 1
                    && text[..<colon].utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ".") }
            } ?? false
    }
}

extension QRPayload {
    /// Whether a text can be the content of a code, a board's or another one, instead of a file's name.
    public static func mayBeCode(_ text: String) -> Bool { ForeignCode.mayBeCode(text) }

    /// The message for a text that names no file and is not a code; nil if it looks like the path of a file.
    package static func messageForNeither(_ text: String) -> String? {
        guard !text.isEmpty, !mayBeCode(text), !text.contains(where: { "/.\\".contains($0) }) else { return nil }
        let kind = ForeignCode.name(of: Array(text.utf8)[...])
        return
            "\(text.onOneLine) is neither a file nor a board's QR code\(kind.map { ": it is \($0)" } ?? ""). Give the whole text of "
            + "the board's QR code, a file with that text, or a picture of the code."
    }
}
