// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Protocomm
import RainCore
import RainJSON
import RainMaker

/// Turns the values of one line into a ``BatchEntry``, and collects what is wrong with them.
struct BatchRow {
    typealias Problem = (reason: BatchFileError.Reason, column: BatchColumn?, message: String)

    let place: BatchPlace
    let values: [BatchColumn: BatchValue]
    let defaults: BatchDefaults
    private(set) var problems: [Problem] = []

    init(_ place: BatchPlace, _ values: [BatchColumn: BatchValue], defaults: BatchDefaults) {
        self.place = place
        self.values = values
        self.defaults = defaults
    }

    /// Returns the entry; nil if there is a problem.
    mutating func entry() -> BatchEntry? {
        let code = qrCode()
        let name = word(.name)
        let pop = secret(.pop)
        let network = network()
        let notes = notes()
        let group = word(.group)
        let nodeName = nodeName()
        let customData = secret(.customData).map { [CustomData($0.revealBytes(), for: "custom-data")] }
        guard let address = address(code, name: name), problems.isEmpty else { return nil }
        var entry = BatchEntry(
            line: place.line, name: name ?? code?.name ?? address.location ?? address.description, address: address)
        entry.code = code
        entry.label = code?.name ?? (isPlaced ? nil : name)
        let given = pop.map { ProofOfPossession($0) }
        entry.proof = given ?? code?.proofOfPossession ?? defaults.proof
        entry.hasGivenProof = given != nil || code?.proofOfPossession == nil && defaults.proof != nil
        entry.network = network
        entry.notes = notes
        entry.group = group ?? defaults.group
        entry.nodeName = nodeName
        entry.customData = customData ?? defaults.customData
        return entry
    }

    /// Whether the line has a port or an address, so that its name is not used to find the board.
    private var isPlaced: Bool {
        [BatchColumn.port, .address].contains { column in
            guard case .text(let bytes) = values[column] else { return false }
            return !bytes.isBlankField
        }
    }

    private mutating func add(
        _ column: BatchColumn?, _ message: String, _ reason: BatchFileError.Reason = .unusable
    ) {
        problems.append((reason, column, message))
    }
}

/// Texts and secrets.
extension BatchRow {
    /// The text of a column without blanks at its ends; nil if it is empty or has a problem.
    private mutating func word(_ column: BatchColumn) -> String? {
        guard let text = text(column)?.trimmed, !text.isEmpty else { return nil }
        guard text.withoutControls == text else {
            add(column, "The value has control characters or line breaks. Enter it again.")
            return nil
        }
        return text
    }

    /// The unchanged text of a column; nil if it is empty or has a problem.
    private mutating func text(_ column: BatchColumn) -> String? {
        bytes(column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The unchanged bytes of a column; nil without any.
    private mutating func secret(_ column: BatchColumn) -> Secret? { bytes(column).map { Secret($0) } }

    private mutating func bytes(_ column: BatchColumn) -> [UInt8]? {
        switch values[column] {
        case nil: return nil
        case .json(let value):
            add(column, "The value must be text, but it is \(value.kind). Put it in quotation marks.")
            return nil
        case .text(let bytes):
            guard !bytes.isEmpty, column == .passphrase || !bytes.isBlankField else { return nil }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                add(column, "The value is not UTF-8 text. Save the file as UTF-8 (in Excel: CSV UTF-8).")
                return nil
            }
            if let damage = SpreadsheetDamage(text) {
                add(column, damage.message, .spreadsheetDamage)
                return nil
            }
            return bytes
        }
    }

    private mutating func nodeName() -> String? {
        guard let name = word(.nodeName) else { return nil }
        do throws(RainKitError) {
            try RainKitClient.checkNodeName(name)
            return name
        } catch {
            add(.nodeName, error.message)
            return nil
        }
    }
}

/// The QR code.
extension BatchRow {
    private mutating func qrCode() -> QRPayload? {
        let text: [UInt8]
        switch values[.qr] {
        case .json(let value) where value.members != nil: text = value.serialized()
        default:
            guard let bytes = bytes(.qr) else { return nil }
            text = bytes
        }
        do throws(BoardError) {
            let code = try QRPayload(text)
            guard code.network == nil || code.network == "wifi" else {
                add(
                    .qr,
                    "The board does not use Wi-Fi, but another kind of network. RainKit provisions boards only for Wi-Fi."
                )
                return nil
            }
            guard code.name.withoutControls == code.name else {
                add(.qr, "The name in the QR code has control characters. Scan the label again.")
                return nil
            }
            return code
        } catch {
            add(.qr, "\(error.message) Scan the label again, or give name, pop and transport instead.")
            return nil
        }
    }
}

/// The address.
extension BatchRow {
    private mutating func address(_ code: QRPayload?, name: String?) -> BoardAddress? {
        let transport = scheme()
        let (port, host) = (word(.port), word(.address))
        guard problems.isEmpty else { return nil }
        if let port { return address(port: port, host: host, transport: transport) }
        if let host { return address(host, transport: transport, code) }
        guard let searched = code?.name ?? name else {
            add(
                nil,
                "The line does not identify a board. Give qr, port or address, or give name together with transport.")
            return nil
        }
        let usual = defaults.transport ?? (defaults.port == nil ? nil : "serial")
        switch transport ?? code?.transport?.rawValue ?? usual {
        case nil:
            add(
                .transport,
                "The \(code == nil ? "name alone does not show" : "QR code does not show") how to reach the board. Give one of \(transports)."
            )
            return nil
        case "serial":
            if code == nil, defaults.port == nil {
                add(.port, "A board on a cable does not report its name. Give its port, such as /dev/ttyUSB0.")
                return nil
            }
            return BoardAddress(scheme: "serial", location: defaults.port)
        case "softap": return .softAP(name: searched)
        case "on-network":
            guard let name else {
                add(
                    .name,
                    "A board's name on the network differs from the name on its label. Give the name on the network, or the address."
                )
                return nil
            }
            return BoardAddress(scheme: "on-network", parameters: [RainKitClient.nameOption: name])
        case let scheme?: return BoardAddress(scheme: scheme, location: searched)
        }
    }

    private var transports: String { defaults.transports.joined(separator: ", ") }

    private mutating func scheme() -> String? {
        guard let text = word(.transport)?.lowercased() else { return nil }
        if defaults.transports.contains(text) { return text }
        // A value in the wrong column may be a secret, so only words for transports are quoted.
        let shown = Self.otherTransports.contains(text) ? " \"\(text)\"" : ""
        add(.transport, "The transport\(shown) is unknown. Give one of \(transports).")
        return nil
    }

    private static let otherTransports: Set<String> = [
        "bluetooth", "bt", "blue", "btle", "ble5", "bel", "usb", "uart", "cable", "com", "tty", "ap", "wifi", "wi-fi",
        "wlan",
        "soft-ap", "soft_ap", "softap1", "sofap", "serail", "network", "on_network", "onnetwork", "lan", "ethernet",
        "zigbee", "thread",
        "matter", "auto", "http", "https",
    ]

    private mutating func address(port: String, host: String?, transport: String?) -> BoardAddress? {
        guard host == nil else {
            add(.address, "port and address cannot be used together. Give only one of them.")
            return nil
        }
        guard transport == nil || transport == "serial" else {
            add(.transport, "A port works only with the transport serial. Remove the port, or the transport.")
            return nil
        }
        return serial(port, column: .port)
    }

    private mutating func serial(_ path: String, column: BatchColumn) -> BoardAddress? {
        guard path.hasPrefix("/") else {
            add(column, "A port is a path such as /dev/ttyUSB0.")
            return nil
        }
        return BoardAddress(scheme: "serial", location: path)
    }

    /// Returns the address for a text of the column `address`: a Bluetooth address, `HOST[:PORT]`, or a scheme and a location.
    private mutating func address(_ text: String, transport: String?, _ code: QRPayload?) -> BoardAddress? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 6, parts.allSatisfy({ $0.utf8.count == 2 && Hex.decoded($0.utf8) != nil }) {
            return bluetooth(text.uppercased(), transport)
        }
        if let scheme = parts.first.map(String.init), parts.count > 1, defaults.transports.contains(scheme) {
            return complete(text, transport)
        }
        let digits = text.utf8
        let isNumber = digits.count > 4 && digits.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        if isNumber || digits.count == 12 && Hex.decoded(digits) != nil {
            add(
                .address,
                isNumber
                    ? "The address is a number: a spreadsheet has changed it. Format the column as text, and write AA:BB:CC:DD:EE:FF."
                    : "Write a Bluetooth address with colons, as in AA:BB:CC:DD:EE:FF.",
                isNumber ? .spreadsheetDamage : .unusable)
            return nil
        }
        let isHost = parts.count > 1 || text.hasPrefix("[") || Self.isIPv4(text)
        var scheme = transport ?? code?.transport?.rawValue ?? defaults.transport ?? "softap"
        if transport == nil, scheme == "serial" || scheme == "ble" && isHost { scheme = "softap" }
        switch scheme {
        case "serial":
            add(.address, "A board on a cable has a port instead of an address. Give port.")
            return nil
        case "ble" where isHost:
            add(.address, "Over Bluetooth, an address has the form AA:BB:CC:DD:EE:FF.")
            return nil
        case "softap", "on-network": return host(text, scheme)
        default: return BoardAddress(scheme: scheme, location: text)
        }
    }

    private static func isIPv4(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    private mutating func bluetooth(_ text: String, _ transport: String?) -> BoardAddress? {
        guard transport == nil || transport == "ble" else {
            add(.transport, "This is a Bluetooth address. It works only with the transport ble.")
            return nil
        }
        return .bluetooth(text)
    }

    private mutating func host(_ text: String, _ scheme: String) -> BoardAddress? {
        guard (try? HostAndPort(text)) != nil else {
            add(.address, "An address is HOST or HOST:PORT, or a Bluetooth address such as AA:BB:CC:DD:EE:FF.")
            return nil
        }
        return BoardAddress(scheme: scheme, location: text)
    }

    /// Reads the text form of an address, such as `ble:PROV_a1b2c3?adapter=hci1`.
    private mutating func complete(_ text: String, _ transport: String?) -> BoardAddress? {
        guard let address = try? BoardAddress(text), address.location ?? address.parameters["device-name"] != nil
        else {
            add(.address, "The address has no location. Write it like ble:PROV_a1b2c3 or softap:192.168.4.1.")
            return nil
        }
        guard transport == nil || transport == address.scheme else {
            add(
                .transport,
                "The transport at the beginning of the address differs from the transport column. Remove one of the two."
            )
            return nil
        }
        guard let location = address.location else { return address }
        let isUsable =
            switch address.scheme {
            case "serial": serial(location, column: .address) != nil
            case "softap", "on-network": host(location, address.scheme) != nil
            default: true
            }
        return isUsable ? address : nil
    }
}

/// The network.
extension BatchRow {
    private mutating func network() -> WiFiNetwork? {
        let passphrase = secret(.passphrase)
        guard let name = text(.ssid) else {
            guard let passphrase else { return defaults.network }
            guard let network = defaults.network else {
                if !problems.contains(where: { $0.column == .ssid }) {
                    add(.ssid, "The line has a passphrase, but no network. Give the network's name in ssid.")
                }
                return nil
            }
            return self.network(network.ssid, passphrase)
        }
        let ssid = SSID(name)
        let usual = defaults.network.flatMap { $0.ssid == ssid ? $0.passphrase : nil }
        return network(ssid, passphrase ?? usual ?? Secret(""))
    }

    private mutating func network(_ ssid: SSID, _ passphrase: Secret) -> WiFiNetwork? {
        guard ssid.bytes.count <= 32 else {
            add(.ssid, "The name of a network has at most 32 bytes, but this one has \(ssid.bytes.count).")
            return nil
        }
        // WPA's passphrases have 8 to 63 bytes (IEEE 802.11, J.4.1), and keys of WEP 5 or 13.
        guard passphrase.isEmpty || passphrase.count >= 8 || passphrase.count == 5 else {
            add(.passphrase, "A Wi-Fi password has 8 to 63 bytes, but this one has \(passphrase.count).")
            return nil
        }
        do throws(BoardError) {
            return try WiFiNetwork(ssid: ssid, passphrase: passphrase)
        } catch {
            add(.passphrase, error.message)
            return nil
        }
    }
}

/// Tags and metadata.
extension BatchRow {
    private mutating func notes() -> MappingNotes {
        var notes = defaults.notes
        let own = tags()
        let keys = Set(own.map(Self.key))
        notes.tags = notes.tags.filter { !keys.contains(Self.key($0)) } + own
        if let own = metadata() {
            let usual = notes.metadata.flatMap { try? JSONValue(parsing: Array($0.utf8)).members } ?? []
            let names = Set(own.map(\.name))
            let all = JSONValue.object(usual.filter { !names.contains($0.name) } + own)
            notes.metadata = String(decoding: all.serialized(), as: UTF8.self)
        }
        return notes
    }

    private static func key(_ tag: String) -> Substring { tag.prefix { $0 != ":" } }

    private mutating func tags() -> [String] {
        let tags: [String]
        switch values[.tags] {
        case .json(.array(let elements)):
            let texts = elements.compactMap(\.string)
            guard texts.count == elements.count else {
                add(.tags, #"Each tag of the list must be text, as in ["room:kitchen"]."#)
                return []
            }
            tags = texts.map(\.trimmed)
        case .json(.object(let members)):
            let texts = members.compactMap { member in member.value.string.map { "\(member.name):\($0)" } }
            guard texts.count == members.count else {
                add(.tags, #"Each tag of the object must be text, as in {"room":"kitchen"}."#)
                return []
            }
            tags = texts
        default:
            tags = (word(.tags) ?? "").split { $0 == "," || $0 == ";" }.map { String($0).trimmed }.filter {
                !$0.isEmpty
            }
        }
        let isUsable = tags.allSatisfy { tag in
            let parts = tag.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty && tag.withoutControls == tag
        }
        guard isUsable else {
            add(.tags, "A tag has the form key:value, such as room:kitchen. Separate tags with commas.")
            return []
        }
        return tags
    }

    private mutating func metadata() -> [JSONValue.Member]? {
        let value: JSONValue
        if case .json(let json) = values[.metadata] {
            value = json
        } else {
            guard let text = bytes(.metadata) else { return nil }
            do throws(JSONError) {
                value = try JSONValue(parsing: text)
            } catch {
                add(
                    .metadata,
                    "The metadata is not JSON: \(error). In CSV, put the field in quotation marks, and double each quotation mark inside it."
                )
                return nil
            }
        }
        guard let members = value.members else {
            add(.metadata, "The metadata must be one JSON object, but it is \(value.kind).")
            return nil
        }
        return members
    }
}

/// A value that a spreadsheet program has changed.
enum SpreadsheetDamage {
    case number, fault

    /// Nil for a value that looks intact.
    init?(_ text: String) {
        let value = text.trimmed
        if Self.faults.contains(value) {
            self = .fault
            return
        }
        guard value.utf8.count <= 32, Self.isRounded(Array(value.utf8)) else { return nil }
        self = .number
    }

    var message: String {
        switch self {
        case .number:
            "A spreadsheet has turned this value into a number and lost digits. Format the column as text, and enter the value again."
        case .fault:
            "A spreadsheet shows an error instead of this value. Format the column as text, and enter the value again."
        }
    }

    private static let faults: Set = [
        "#NAME?", "#REF!", "#VALUE!", "#N/A", "#DIV/0!", "#NUM!", "#NULL!", "#####", "########", "Err:502", "Err:508",
        "Err:509",
    ]

    /// Whether it is a number as in `1.23457E+11`: one digit, a fraction or none, and an exponent with its sign.
    private static func isRounded(_ text: [UInt8]) -> Bool {
        func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
        var rest = text[...]
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        guard let first = rest.popFirst(), isDigit(first) else { return false }
        if let mark = rest.first, mark == UInt8(ascii: ".") || mark == UInt8(ascii: ",") {
            rest = rest.dropFirst().drop(while: isDigit)
        }
        guard rest.count >= 4, rest.popFirst() == UInt8(ascii: "E") else { return false }
        let sign = rest.popFirst()
        return (sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-")) && rest.count <= 3 && rest.allSatisfy(isDigit)
    }
}
