// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit

/// Espressif's own tools, as the user has them in a Python: esptool for the chip's boot loader, and the generator of key-value partitions.
///
/// Their commands are written as versions 4 and 5 take them.
struct Esptool: Sendable {
    let python: String
    /// Where the tools run. esptool also reads settings from there (`esptool.cfg`, `setup.cfg`, `tox.ini`).
    var folder = "/"
    private let program: ChildProgram

    init(python: String, environment: [String: String]) {
        self.python = python
        program = ChildProgram(environment: environment)
    }

    /// The modules, by the names under which pip installs them.
    static let packages = ["esptool": "esptool", "esp_idf_nvs_partition_gen": "esp-idf-nvs-partition-gen"]

    /// Throws `no_esptool` before anything is asked of a cloud or a board.
    func check(within limit: Duration) async throws {
        let names = Self.packages.keys.sorted()
        let question =
            "import importlib.util, sys; print(*[n for n in sys.argv[1:] if not importlib.util.find_spec(n)])"
        let outcome: ChildProgram.Outcome
        do {
            outcome = try await program.run([python, "-c", question] + names, within: limit)
        } catch var failure as CommandFailure where failure.reason == "no_program" {
            failure.message += " Name a Python that has Espressif's tools with --python."
            throw failure
        }
        let missing = outcome.output.split(whereSeparator: \.isWhitespace).compactMap { Self.packages[String($0)] }
        guard outcome.isSuccess, missing.isEmpty else {
            let words = missing.isEmpty ? "esptool" : missing.joined(separator: " ")
            throw CommandFailure(
                .unavailable, reason: "no_esptool",
                message: """
                    \(python.onOneLine) lacks Espressif's tools: run \(python.asShellWord) -m pip install \(words), or name a Python that has \
                    them with --python (ESP-IDF's own, or that of a virtual environment).
                    """)
        }
    }

    /// Restarts the board into its boot loader, reads a piece of its flash into `file`, and starts its firmware again.
    /// - Returns: the board's MAC address: twelve hexadecimal digits, in capitals.
    func chip(
        _ port: String, from offset: UInt32, count: Int, into file: String, within limit: Duration
    ) async throws -> String {
        let words = try await flash(
            port, ["read_flash", Self.hex(offset), Self.hex(UInt32(count)), file], within: limit)
        guard let mac = Self.mac(in: words) else {
            throw CommandFailure(
                .badData, reason: "no_mac", message: "esptool did not tell the board's MAC address: give it with --mac."
            )
        }
        return mac
    }

    /// Writes a file into the board's flash, which esptool checks, and starts the firmware again.
    func write(_ file: String, to offset: UInt32, _ port: String, within limit: Duration) async throws {
        try await flash(port, Self.writing(file, to: offset), within: limit)
    }

    private static func writing(_ file: String, to offset: UInt32) -> [String] { ["write_flash", hex(offset), file] }

    /// The same as a whole command, for a person.
    func writingCommand(_ file: String, to offset: UInt32, _ port: String) -> String {
        command(["-m", "esptool", "--port", port] + Self.writing(file, to: offset))
    }

    /// Makes the image of a key-value partition from rows. The generator may end well without having made one.
    func makePartition(from rows: String, size: UInt32, into file: String, within limit: Duration) async throws {
        let outcome = try await program.run(
            [python] + Self.generating(file, from: rows, size: size), in: folder, within: limit)
        var status = stat()
        guard outcome.isSuccess, stat(file, &status) == 0, (1...Int(size)).contains(Int(status.st_size)) else {
            throw CommandFailure(
                .other, reason: "no_image",
                message: "The partition's image could not be made: \(Self.sentence(outcome.output))".asSentence)
        }
    }

    private static func generating(_ file: String, from rows: String, size: UInt32) -> [String] {
        ["-m", "esp_idf_nvs_partition_gen", "generate", rows, file, hex(size)]
    }

    /// The same as a whole command, for a person.
    func generatingCommand(_ file: String, from rows: String, size: UInt32) -> String {
        command(Self.generating(file, from: rows, size: size))
    }

    /// For a shell in any folder: Python would load modules from there.
    private func command(_ words: [String]) -> String {
        "PYTHONSAFEPATH=1 " + ([python] + words).map(\.asShellWord).joined(separator: " ")
    }

    @discardableResult
    private func flash(_ port: String, _ words: [String], within limit: Duration) async throws -> String {
        let outcome = try await program.run(
            [python, "-m", "esptool", "--port", port] + words, in: folder, within: limit)
        guard outcome.isSuccess else { throw Self.failure(outcome.output, at: port) }
        return outcome.output
    }

    /// esptool says what is wrong after "A fatal error occurred: "; version 5 has hints below it.
    static func failure(_ output: String, at port: String) -> CommandFailure {
        let words = sentence(output)
        let lower = words.lowercased()
        if lower.contains("could not open") || lower.contains("port is busy") {
            return CommandFailure(
                .unavailable, reason: "no_port", message: "The port \(port.onOneLine) cannot be opened: \(words)")
        }
        guard lower.contains("connect") || lower.contains("boot mode") || lower.contains("no serial data") else {
            return CommandFailure(
                .unavailable, reason: "esptool_failed",
                message: "esptool could not finish its work on the board at \(port.onOneLine): \(words)")
        }
        return CommandFailure(
            .unavailable, reason: "no_boot_loader",
            message: """
                The boot loader of the board at \(port.onOneLine) does not answer: hold BOOT while you press RESET, let go, and run the \
                command again. (esptool says: \(words))
                """)
    }

    /// The board's own address. Chips with a radio for Thread have two, of which the longer is not the one that claims go by.
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

    static func hex(_ number: UInt32) -> String { "0x" + String(number, radix: 16) }
}
