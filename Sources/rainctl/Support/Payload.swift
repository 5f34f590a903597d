// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainKit

/// The bytes for an endpoint of a board's application: a text, hex digits, JSON, or the exact contents of a file or standard input.
struct Payload {
    /// The maximum size. Transports that carry less report that.
    static let maximumBytes = 65_536

    var text: String?
    var hex: String?
    var json: String?
    /// `-` is standard input.
    var file: String?

    /// The number of given sources.
    var count: Int { [text, hex, json, file].count { $0 != nil } }

    func bytes(within limit: Duration) throws(CommandFailure) -> [UInt8] {
        if let text { return Array(text.utf8) }
        if let hex {
            guard let bytes = Self.decoded(hex) else {
                throw CommandFailure(.usage, message: "--hex takes pairs of hex digits, such as 0a1b.")
            }
            return bytes
        }
        if let json {
            // JSON that the board's parser would refuse is refused here. It is sent as it was written.
            _ = try Self.json(json, option: "--json-data")
            return Array(json.utf8)
        }
        if let file, file != "-" {
            return try SecretSource.contents(
                of: file, name: "data for the board", maximumBytes: Self.maximumBytes, isExact: true, within: limit
            ).revealBytes()
        }
        return try SecretSource.standardInput(
            name: "data for the board", maximumBytes: Self.maximumBytes, isExact: true, within: limit
        ).revealBytes()
    }

    /// Returns the bytes for a board's endpoint. Firmware cannot be asked without at least one byte of data.
    func bytesForBoard(within limit: Duration) throws(CommandFailure) -> [UInt8] {
        let bytes = try bytes(within: limit)
        guard bytes.isEmpty else { return bytes }
        guard text == nil, hex == nil else {
            throw CommandFailure(.usage, message: "The data for the board is empty: give at least one byte.")
        }
        let place = Self.place(file ?? "-")
        throw CommandFailure(
            .badData, message: "The data for the board is empty: there is nothing in \(place). Nothing was sent.")
    }

    /// Returns a JSON object from a file or standard input (`-`). Throws `bad_data`, with that reason, for anything else.
    static func object(
        file: String, name: String, reason: String, within limit: Duration
    ) throws(CommandFailure) -> JSONValue {
        let json = try json(file: file, name: name, reason: reason, within: limit)
        guard json.members != nil else {
            throw CommandFailure(
                .badData, reason: reason,
                message: "The \(name) must be one JSON object, but \(place(file)) holds \(json.kind).")
        }
        return json
    }

    /// Returns JSON from an option's value. Throws `usage`, with the place of the error, for anything else.
    static func json(_ text: String, option: String) throws(CommandFailure) -> JSONValue {
        let bytes = Array(text.utf8)
        do throws(JSONError) { return try JSONValue(parsing: bytes) } catch {
            throw CommandFailure(.usage, message: "\(option) is not JSON: \(error).")
        }
    }

    /// Returns a JSON object from an option's value. Throws `usage` for anything else.
    static func object(_ text: String, option: String) throws(CommandFailure) -> JSONValue {
        let json = try json(text, option: option)
        guard json.members != nil else {
            throw CommandFailure(.usage, message: "\(option) must be one JSON object, but is \(json.kind).")
        }
        return json
    }

    /// Returns JSON from a file or standard input (`-`). Throws `bad_data`, with that reason and the place of the error, for anything else.
    static func json(
        file: String, name: String, reason: String, within limit: Duration
    ) throws(CommandFailure) -> JSONValue {
        let text = try document(try Payload(file: file).bytes(within: limit), name: name, reason: reason)
        do throws(JSONError) {
            return try JSONValue(parsing: text)
        } catch {
            throw CommandFailure(
                .badData, reason: reason, message: "\(subject(file)) is not JSON: \(error).")
        }
    }

    /// The file's name in messages, at the beginning of a sentence and elsewhere.
    static func subject(_ file: String) -> String { file == "-" ? "Standard input" : file.onOneLine }
    private static func place(_ file: String) -> String { file == "-" ? "standard input" : file.onOneLine }

    /// Returns a text from a file, ready for parsing (``FileText/document(_:)``).
    static func document(_ bytes: [UInt8], name: String, reason: String) throws(CommandFailure) -> [UInt8] {
        do throws(FileText.Fault) {
            return try FileText.document(bytes)
        } catch {
            throw CommandFailure(.badData, reason: reason, message: "The \(name) cannot be read: \(error).")
        }
    }

    private static func decoded(_ hex: String) -> [UInt8]? {
        Hex.decoded(hex.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: ":") })
    }
}
