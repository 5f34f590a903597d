// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainMaker

extension BatchFile {
    /// Reads a batch of boards that esp-rainmaker-admin-cli made: the folder `<outdir>/<date>/Mfg-<number>`.
    ///
    /// Only `common/node_ids.csv` and each `node_details/node-<index>-<node id>/qrcode.txt` are opened. The private keys are not (`node.key`,
    /// `ca.key`). A board's line is its index, or one more if the indexes begin with 0. ``sha256`` is over these files in this order, and the
    /// boards in the order of their indexes: for each file its path in the folder, a zero byte, its size as eight bytes with the highest
    /// first, and its bytes.
    ///
    /// The format is that of the README of espressif/esp-rainmaker-admin-cli, April 2026.
    ///
    /// - Throws: all faults of the folder; each message names the file.
    public init(premade path: String, defaults: BatchDefaults = BatchDefaults()) throws(BatchFileError) {
        var reader = PremadeReader(defaults)
        reader.read(path)
        if let error = reader.faults.error { throw error }
        self.init(entries: reader.entries, form: .premade, sha256: Hex.text(OpenSSLHashes.sha256(reader.hashed)))
    }
}

private struct PremadeReader {
    /// A folder `node-<index>-<node id>`.
    private struct Node {
        var index: Int
        var id: String
        var name: String
        var path: String { "node_details/\(name)" }
    }

    let defaults: BatchDefaults
    private(set) var entries: [BatchEntry] = []
    private(set) var faults = BatchFaults()
    /// The bytes for the batch's SHA-256.
    private(set) var hashed: [UInt8] = []

    /// A node id has up to 256 bytes, and a line ends with CR and LF.
    private static let maximumListBytes = BatchFile.maximumLines * 258 + 1024
    private static let maximumNodeBytes = 256

    init(_ defaults: BatchDefaults) { self.defaults = defaults }

    private mutating func fault(_ path: String, _ message: String, _ reason: BatchFileError.Reason = .unusable) {
        faults.add(reason, nil, "\(path.onOneLine): \(message)")
    }

    mutating func read(_ path: String) {
        let folder: OpenFolder
        do throws(OpenFolder.Failure) { folder = try OpenFolder(path) } catch {
            return fault(path, error.message)
        }
        let names: [String]
        do throws(OpenFolder.Failure) { names = try folder.names(limit: BatchFile.maximumLines) } catch {
            return fault(path, error.message)
        }
        guard names.contains("node_details") else {
            return fault(path, Self.advice(folder, names))
        }
        let listed = list(folder)
        let nodes = nodes(folder)
        if !listed.isEmpty { compare(nodes, with: listed) }
        guard faults.count == 0 else { return }
        guard let first = nodes.first else { return fault("node_details", "The folder has no boards.") }
        let shift = first.index == 0 ? 1 : 0
        var labels: [String: String] = [:]
        for node in nodes {
            guard let entry = entry(node, line: node.index + shift, folder) else { continue }
            if let other = entry.label.flatMap({ labels.updateValue(node.path, forKey: $0) }) {
                fault(
                    "\(node.path)/qrcode.txt", "The board has the same name as in \(other)/qrcode.txt.",
                    .duplicateBoard)
            }
            entries.append(entry)
        }
    }

    /// What to do with a folder that is not a batch: perhaps it contains some.
    private static func advice(_ folder: OpenFolder, _ names: [String]) -> String {
        var batches = names.filter(isBatch)
        for date in names.sorted() where isDate(date) {
            guard let inner = try? folder.folder(date), let inside = try? inner.names(limit: 10_000) else { continue }
            batches += inside.filter(isBatch).map { "\(date)/\($0)" }
        }
        guard !batches.isEmpty else {
            return "This folder is not a batch of esp-rainmaker-admin-cli: node_details is missing."
        }
        batches.sort()
        let shown = batches.prefix(10).map(\.onOneLine).joined(separator: ", ")
        let rest = batches.count > 10 ? " and \(batches.count - 10) more" : ""
        return
            "This folder is not a batch itself, but contains these batches: \(shown)\(rest). Give the folder of one batch."
    }

    private static func isBatch(_ name: String) -> Bool {
        name.hasPrefix("Mfg-") && name.utf8.count > 4 && name.utf8.dropFirst(4).allSatisfy(isDigit)
    }

    private static func isDate(_ name: String) -> Bool {
        name.utf8.count == 10
            && name.utf8.enumerated().allSatisfy { $0 == 4 || $0 == 7 ? $1 == UInt8(ascii: "-") : isDigit($1) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isNodeID(_ text: String) -> Bool {
        (1...maximumNodeBytes).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                isDigit(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: "_")
            }
    }

    // MARK: the list

    /// Returns the ids of `common/node_ids.csv`, in its order.
    private mutating func list(_ folder: OpenFolder) -> [String] {
        let path = "common/node_ids.csv"
        let bytes: [UInt8]
        do throws(OpenFolder.Failure) {
            bytes = try folder.folder("common").file("node_ids.csv", limit: Self.maximumListBytes)
        } catch {
            fault(path, error.message, error.reason)
            return []
        }
        hash(path, bytes)
        let lines = bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map {
            String(decoding: $0, as: UTF8.self).trimmed
        }
        guard lines.first == "node_id" else {
            fault(path, "The first line must be node_id, the name of the column.")
            return []
        }
        var seen: Set<String> = []
        for (number, id) in lines.enumerated().dropFirst() {
            if !Self.isNodeID(id) {
                fault(path, "Line \(number + 1) is not a node id.")
            } else if !seen.insert(id).inserted {
                fault(path, "Line \(number + 1) repeats a node id of an earlier line: \(id).", .duplicateBoard)
            }
        }
        return Array(lines.dropFirst())
    }

    // MARK: the boards

    /// Returns the folders of the boards, in the order of their indexes.
    private mutating func nodes(_ folder: OpenFolder) -> [Node] {
        let names: [String]
        do throws(OpenFolder.Failure) {
            names = try folder.folder("node_details").names(limit: BatchFile.maximumLines)
        } catch {
            fault("node_details", error.message, error.reason)
            return []
        }
        var nodes: [Node] = []
        for name in names.sorted() {
            let parts = name.split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, parts[0] == "node", (1...9).contains(parts[1].utf8.count),
                parts[1].utf8.allSatisfy(Self.isDigit), let index = Int(parts[1]), Self.isNodeID(parts[2])
            else {
                fault("node_details/\(name)", "The name is not node-INDEX-NODE_ID.")
                continue
            }
            nodes.append(Node(index: index, id: parts[2], name: name))
        }
        nodes.sort { ($0.index, $0.id) < ($1.index, $1.id) }
        var ids: [String: String] = [:]
        for node in nodes {
            if let other = ids.updateValue(node.path, forKey: node.id) {
                fault(node.path, "\(other) has the same node id.", .duplicateBoard)
            }
        }
        for (one, next) in zip(nodes, nodes.dropFirst()) {
            if one.index == next.index {
                fault(next.path, "\(one.path) has the same index.", .duplicateBoard)
            } else if one.index + 1 < next.index {
                fault(
                    next.path,
                    "The board with the index \(one.index + 1) is missing. It must come before this board.")
            }
        }
        return nodes
    }

    private mutating func compare(_ nodes: [Node], with listed: [String]) {
        let (known, ids) = (Set(listed), Set(nodes.map(\.id)))
        for node in nodes where !known.contains(node.id) {
            fault(node.path, "common/node_ids.csv does not list this board.")
        }
        for id in listed where !ids.contains(id) {
            fault("common/node_ids.csv", "The board \(id) has no folder in node_details.")
        }
    }

    private mutating func entry(_ node: Node, line: Int, _ folder: OpenFolder) -> BatchEntry? {
        let path = "\(node.path)/qrcode.txt"
        let bytes: [UInt8]
        do throws(OpenFolder.Failure) {
            bytes = try folder.folder("node_details").folder(node.name).file(
                "qrcode.txt", limit: QRPayload.maximumBytes)
        } catch {
            let advice =
                error.isMissing
                ? " esp-rainmaker-admin-cli writes this file only with its option prov (provisioning)."
                : ""
            fault(path, error.message + advice, error.reason)
            return nil
        }
        hash(path, bytes)
        var row = BatchRow(BatchPlace(line: line, row: line), [.qr: .text(bytes)], defaults: defaults)
        let entry = row.entry()
        for problem in row.problems { fault(path, problem.message, problem.reason) }
        guard var entry else { return nil }
        entry.nodeID = NodeID(node.id)
        return entry
    }

    private mutating func hash(_ path: String, _ bytes: [UInt8]) {
        hashed += path.utf8
        hashed.append(0)
        withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { hashed += $0 }
        hashed += bytes
    }
}

/// A folder whose files are read without following links inside it.
private final class OpenFolder {
    struct Failure: Error {
        var message: String
        var reason = BatchFileError.Reason.unusable
        var isMissing = false

        init(_ message: String, reason: BatchFileError.Reason = .unusable) {
            self.message = message
            self.reason = reason
        }

        init(errno code: Int32) {
            isMissing = code == ENOENT
            switch code {
            case ENOENT: message = "It is missing."
            case ELOOP: message = "It is a symbolic link, but it must be a folder or a file."
            case ENOTDIR: message = "It is not a folder, or it is a symbolic link."
            default: message = "It cannot be read: \(String(cString: strerror(code)))."
            }
        }
    }

    private let descriptor: Int32

    /// Opens a folder by a path that may have links.
    init(_ path: String) throws(Failure) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(errno: errno) }
    }

    private init(_ name: String, in folder: OpenFolder) throws(Failure) {
        descriptor = openat(folder.descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(errno: errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func folder(_ name: String) throws(Failure) -> OpenFolder { try OpenFolder(name, in: self) }

    /// Returns the names of everything in the folder, except those that begin with a dot.
    func names(limit: Int) throws(Failure) -> [String] {
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw Failure(errno: errno) }
        guard let stream = fdopendir(copy) else {
            let code = errno
            close(copy)
            throw Failure(errno: code)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard !name.hasPrefix(".") else { continue }
            guard names.count < limit else { throw Failure("It has more than \(limit) entries.", reason: .tooLarge) }
            names.append(name)
        }
        return names
    }

    func file(_ name: String, limit: Int) throws(Failure) -> [UInt8] {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw Failure(errno: errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Failure(errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure("It is not a regular file.") }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: min(limit + 1, 64 << 10))
        while bytes.count <= limit {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(errno: errno) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
        throw Failure("It has more than \(limit) bytes.", reason: .tooLarge)
    }
}
