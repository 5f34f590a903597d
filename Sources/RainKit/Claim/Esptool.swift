// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainMaker

/// Espressif's own tools, as the user has them in a Python: esptool for the chip's boot loader, and the generator of key-value partitions.
///
/// The commands are written as versions 4 and 5 of the tools take them.
struct Esptool: Sendable {
    let python: String
    /// Where the tools run. esptool also reads settings from there (`esptool.cfg`, `setup.cfg`, `tox.ini`).
    var folder = "/"
    private let program: ChildProgram

    init(python: String, program: ChildProgram) {
        self.python = python
        self.program = program
    }

    /// The modules, with the names of the packages that pip installs.
    static let packages = ["esptool": "esptool", "esp_idf_nvs_partition_gen": "esp-idf-nvs-partition-gen"]

    /// Checks that the Python has both tools.
    /// - Throws: `no_program`, `no_esptool`.
    func check(within limit: Duration) async throws {
        let names = Self.packages.keys.sorted()
        let question =
            "import importlib.util, sys; print(*[n for n in sys.argv[1:] if not importlib.util.find_spec(n)])"
        let outcome: ChildProgram.Outcome
        do {
            outcome = try await program.run([python, "-c", question] + names, within: limit)
        } catch let error as RainKitError where error.reason == "no_program" {
            throw RainKitError(error.cause, message: error.message, remedies: [.espressifTools])
        }
        let missing = outcome.output.split(whereSeparator: \.isWhitespace).compactMap { Self.packages[String($0)] }
        guard outcome.isSuccess, missing.isEmpty else {
            let words = missing.isEmpty ? "esptool" : missing.joined(separator: " ")
            throw RainKitError(
                .request(.unavailable, reason: "no_esptool"),
                message:
                    "\(python.onOneLine) lacks Espressif's tools: run \(python.asShellWord) -m pip install \(words).",
                remedies: [.espressifTools])
        }
    }

    /// Restarts the board into its boot loader, reads a part of its flash into `file`, and starts its firmware again.
    /// - Returns: the board's MAC address: twelve hexadecimal digits, in capitals.
    /// - Throws: `no_port`, `no_boot_loader`, `esptool_failed`, `no_mac`.
    func chip(
        _ port: String, from offset: UInt32, count: Int, into file: String, within limit: Duration
    ) async throws -> String {
        let output = try await flash(
            port, ["read_flash", offset.hexadecimal, UInt32(count).hexadecimal, file], within: limit)
        guard let mac = Self.mac(in: output) else {
            throw RainKitError(
                .request(.badData, reason: "no_mac"), message: "esptool did not report the board's MAC address.",
                remedies: [.macAddress])
        }
        return mac
    }

    /// Writes a file into the board's flash, which esptool checks, and starts the firmware again.
    /// - Throws: `no_port`, `no_boot_loader`, `esptool_failed`.
    func write(_ file: String, to offset: UInt32, _ port: String, within limit: Duration) async throws {
        try await flash(port, Self.writing(file, to: offset), within: limit)
    }

    private static func writing(_ file: String, to offset: UInt32) -> [String] {
        ["write_flash", offset.hexadecimal, file]
    }

    /// The program and its arguments that do the same.
    func writingCommand(_ file: String, to offset: UInt32, _ port: String) -> [String] {
        esptool(port) + Self.writing(file, to: offset)
    }

    /// Makes the image of a key-value partition from rows.
    /// - Throws: `no_image`, also if the generator succeeds without having made one.
    func makePartition(from rows: String, size: UInt32, into file: String, within limit: Duration) async throws {
        let outcome = try await program.run(
            generatingCommand(file, from: rows, size: size), in: folder, within: limit)
        var status = stat()
        guard outcome.isSuccess, stat(file, &status) == 0, (1...Int(size)).contains(Int(status.st_size)) else {
            throw RainKitError(
                .request(.other, reason: "no_image"),
                message: "The partition's image could not be created: \(Self.sentence(outcome.output))".asSentence)
        }
    }

    /// The program and its arguments that do the same.
    func generatingCommand(_ file: String, from rows: String, size: UInt32) -> [String] {
        [python, "-m", "esp_idf_nvs_partition_gen", "generate", rows, file, size.hexadecimal]
    }

    private func esptool(_ port: String) -> [String] { [python, "-m", "esptool", "--port", port] }

    @discardableResult
    private func flash(_ port: String, _ words: [String], within limit: Duration) async throws -> String {
        let outcome = try await program.run(esptool(port) + words, in: folder, within: limit)
        guard outcome.isSuccess else {
            let failure = Self.failure(outcome.output, at: port)
            // esptool does not distinguish a missing port from a busy one.
            if failure.reason == "no_port", let problem = await SerialBoards().problem(at: port) {
                throw RainKitError(problem)
            }
            throw failure
        }
        return outcome.output
    }

    /// The error for what esptool prints when it fails. The cause is behind "A fatal error occurred: "; version 5 has hints below it.
    static func failure(_ output: String, at port: String) -> RainKitError {
        let words = sentence(output)
        let lower = words.lowercased()
        let (reason, message) =
            if lower.contains("could not open") || lower.contains("port is busy") {
                ("no_port", "esptool could not open the port \(port.onOneLine): \(words)")
            } else if lower.contains("connect") || lower.contains("boot mode") || lower.contains("no serial data") {
                (
                    "no_boot_loader",
                    """
                    The boot loader of the board at \(port.onOneLine) does not answer: hold BOOT while you press RESET, release both, and \
                    try again. (esptool says: \(words))
                    """
                )
            } else {
                (
                    "esptool_failed",
                    "esptool could not finish its work on the board at \(port.onOneLine): \(words)"
                )
            }
        return RainKitError(.request(.unavailable, reason: reason), message: message)
    }

    /// The board's own address. Chips with a radio for Thread have two; claims use the shorter one.
    static func mac(in output: String) -> String? {
        func value(after label: String) -> String? {
            for line in output.split(whereSeparator: \.isNewline) where line.hasPrefix(label) {
                let digits = line.dropFirst(label.count).filter { !$0.isWhitespace }.split(separator: ":")
                if digits.count == 6, digits.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isHexDigit) }) {
                    return digits.joined().uppercased()
                }
            }
            return nil
        }
        return value(after: "BASE MAC:") ?? value(after: "MAC:")
    }

    private static func sentence(_ output: String) -> String {
        let lines = output.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }
        let marker = "A fatal error occurred: "
        guard let fatal = lines.last(where: { $0.contains(marker) }) else {
            return String(lines.last ?? "nothing").onOneLine
        }
        return String(fatal.split(separator: marker, maxSplits: 1).last ?? fatal).onOneLine
    }
}

extension UInt32 {
    /// As both tools take and print addresses: `0x340000`.
    package var hexadecimal: String { "0x" + String(self, radix: 16) }
}
