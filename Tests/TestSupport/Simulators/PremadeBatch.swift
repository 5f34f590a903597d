// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A folder as esp-rainmaker-admin-cli writes it with `--prov ble` (README of espressif/esp-rainmaker-admin-cli, April 2026).
public struct PremadeBatch: Sendable {
    public struct Board: Sendable {
        var nodeID: String
        var name: String
        var proof: String?

        public init(nodeID: String, name: String, proof: String?) {
            (self.nodeID, self.name, self.proof) = (nodeID, name, proof)
        }
    }

    public let outputFolder: String
    public let path: String
    public let boards: [Board]
    /// What no reader may open contains this text.
    public static let secret = "-----BEGIN PRIVATE KEY-----planted-private-key"

    public init(_ boards: [Board], in folder: TemporaryFolder) throws {
        outputFolder = folder.file("out")
        path = "\(outputFolder)/2026-04-01/Mfg-000001"
        self.boards = boards
        for name in ["bin", "csv", "qrcode", "common", "node_details"] { try makeFolder(name) }
        for name in ["ca.key", "ca.crt", "config.csv", "values.csv", "node_certs.csv", "endpoint.txt"] {
            try write(name.hasSuffix(".key") ? Self.secret : name, to: "common/\(name)")
        }
        try write((["node_id"] + boards.map(\.nodeID)).joined(separator: "\r\n") + "\r\n", to: "common/node_ids.csv")
        for (index, board) in boards.enumerated() {
            try makeFolder(details(index))
            try write("certificate", to: "\(details(index))/node.crt")
            try write(Self.secret, to: "\(details(index))/node.key")
            try write("00112233", to: "\(details(index))/random.txt")
            try write(Self.code(board.name, board.proof), to: code(index))
            try write("image", to: "bin/\(name(index)).bin")
            try write("key,type,encoding,value", to: "csv/\(name(index)).csv")
            try write("picture", to: "qrcode/\(name(index)).png")
        }
    }

    public static func code(_ name: String, _ proof: String?) -> String {
        let pop = proof.map { #""pop":"\#($0)","# } ?? ""
        return #"{"ver":"v1","name":"\#(name)",\#(pop)"transport":"ble"}"#
    }

    private func name(_ index: Int) -> String {
        let digits = String(index + 1)
        return "node-" + String(repeating: "0", count: 6 - digits.utf8.count) + digits + "-" + boards[index].nodeID
    }

    private func details(_ index: Int) -> String { "node_details/\(name(index))" }

    /// The path of a board's QR code in the batch.
    public func code(_ index: Int) -> String { "\(details(index))/qrcode.txt" }

    public var keys: [String] {
        ["\(path)/common/ca.key"] + boards.indices.map { "\(path)/\(details($0))/node.key" }
    }

    public func write(_ text: String, to name: String) throws {
        guard let stream = fopen("\(path)/\(name)", "we") else {
            throw ProcessError("\(name) cannot be written: \(errno)")
        }
        defer { fclose(stream) }
        fputs(text, stream)
    }

    /// Watches the private keys. Returns a function that says which were opened since, by any process.
    public func watchKeys() throws -> () -> [String] {
        let watcher = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
        var names: [Int32: String] = [:]
        for key in keys {
            let number = inotify_add_watch(watcher, key, UInt32(IN_OPEN))
            guard number >= 0 else { throw ProcessError("inotify: \(errno)") }
            names[number] = key
        }
        return {
            var opened: [String] = []
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            let count = read(watcher, &buffer, buffer.count)
            var position = 0
            // Files have events without a name, of 16 bytes.
            while position + 16 <= count {
                let number = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: position, as: Int32.self) }
                opened.append(names[number] ?? "?")
                position += 16
            }
            return opened
        }
    }

    public func remove(_ index: Int) throws {
        for file in ["node.crt", "node.key", "random.txt", "qrcode.txt"] { unlink("\(path)/\(details(index))/\(file)") }
        guard rmdir("\(path)/\(details(index))") == 0 else { throw ProcessError("rmdir: \(errno)") }
    }

    public func rename(_ index: Int, to name: String) throws {
        guard Glibc.rename("\(path)/\(details(index))", "\(path)/node_details/\(name)") == 0 else {
            throw ProcessError("rename: \(errno)")
        }
    }

    public func link(_ name: String, to target: String) throws {
        unlink("\(path)/\(name)")
        guard symlink(target, "\(path)/\(name)") == 0 else { throw ProcessError("symlink: \(errno)") }
    }

    private func makeFolder(_ name: String) throws {
        var whole = ""
        for part in "\(path)/\(name)".split(separator: "/") {
            whole += "/\(part)"
            guard mkdir(whole, 0o700) == 0 || errno == EEXIST else { throw ProcessError("mkdir \(whole): \(errno)") }
        }
    }
}
