import JSON
import Vocabulary

/// What a board's QR code says, in each of the forms in use: a JSON object, a URL with that object behind `data=`, and the
/// compact `NP:name|pop|b`.
///
/// The forms are those of Espressif's provisioning apps and of RainMaker's firmware.
public struct QRPayload: Sendable {
    public enum Transport: String, Sendable { case ble, softap }

    /// The board's service name, such as `PROV_a1b2c3`.
    public var name: String
    public var proofOfPossession: ProofOfPossession?
    public var transport: Transport?
    /// The user name of Security 2.
    public var username: String?
    /// The passphrase of the board's own access point.
    public var accessPointPassphrase: Secret?
    /// The scheme, where the code names one.
    public var securityVersion: Int?

    /// No QR code of a board holds more.
    public static let maximumBytes = 1024

    public init(_ text: [UInt8]) throws(ProvisioningError) {
        guard text.count <= Self.maximumBytes else { throw Self.unreadable("it is longer than a board's code") }
        var text = text[...]
        while let last = text.last, last == 0x0A || last == 0x0D || last == 0x20 { text = text.dropLast() }
        if text.starts(with: "NP:".utf8) {
            try self.init(compact: Array(text.dropFirst(3)))
        } else if text.starts(with: "http".utf8) {
            guard let start = Self.start(ofData: text) else { throw Self.unreadable("the URL has no data= part") }
            try self.init(json: Self.percentDecoded(text[start...]))
        } else {
            try self.init(json: Array(text))
        }
    }

    private init(json: [UInt8]) throws(ProvisioningError) {
        let document: JSONValue
        do {
            document = try JSONValue(
                parsing: json, limits: JSONLimits(maximumBytes: Self.maximumBytes, maximumDepth: 4))
        } catch {
            throw Self.unreadable("it is neither JSON nor NP:name|pop|transport")
        }
        func text(_ key: String) -> String? {
            guard case .string(let value)? = document[key], !value.isEmpty else { return nil }
            return value
        }
        guard let name = text("name") else { throw Self.unreadable("it names no board") }
        self.name = name
        proofOfPossession = text("pop").map { ProofOfPossession($0) }
        transport = text("transport").flatMap { Transport(rawValue: $0) }
        username = text("username")
        accessPointPassphrase = text("password").map { Secret($0) }
        if case .integer(let version)? = document["security"] { securityVersion = Int(exactly: version) }
    }

    /// `name|pop|b` or `name|pop|s`; nothing is escaped. It implies the usual user name under Security 2.
    private init(compact: [UInt8]) throws(ProvisioningError) {
        let parts = compact.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty else { throw Self.unreadable("the compact form is NP:name|pop|b") }
        name = String(decoding: parts[0], as: UTF8.self)
        proofOfPossession = parts[1].isEmpty ? nil : ProofOfPossession(Secret(parts[1]))
        switch parts[2].first {
        case UInt8(ascii: "b"): transport = .ble
        case UInt8(ascii: "s"): transport = .softap
        default: transport = nil
        }
    }

    private static func start(ofData text: ArraySlice<UInt8>) -> Int? {
        let key = Array("data=".utf8)
        guard text.count >= key.count else { return nil }
        return (text.startIndex...(text.endIndex - key.count)).first { text[$0...].starts(with: key) }.map {
            $0 + key.count
        }
    }

    /// Firmware prints the object as it is; some printers of labels encode it.
    private static func percentDecoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.contains(UInt8(ascii: "%")) else { return Array(text) }
        var result: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                result.append(UInt8(digits[0] << 4 | digits[1]))
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    private static func unreadable(_ why: String) -> ProvisioningError {
        ProvisioningError(.malformed, message: "This is not a board's QR code: \(why).")
    }
}
