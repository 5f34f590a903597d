// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit
import RainPrivateFiles

/// Claims a board over its cable in its place: reads its address by the chip's boot loader, has the cloud certify a key that is made here, and
/// writes both into the board's flash.
///
/// The key is nowhere but in a private folder, and only until the board has it. Where the board does not take it the image stays there, so
/// that it can be written later: each claim counts.
struct HostClaim: Sendable {
    let context: Context
    let client: RainKitClient
    let time: TimeBudget
    let tools: Esptool

    /// What the options ask for.
    struct Request: Sendable {
        var port: String?
        var mac: String?
        var flashAddress: UInt32?
        /// Where the image is to go in the place of the board's flash.
        var image: String?
    }

    /// As the official client makes it, where the size of the board's partition is not known.
    private static let usualSize: UInt32 = 0x6000

    func run(_ request: Request) async throws -> ClaimResult {
        try checkService()
        _ = try await time.run { try await client.userID() }
        let tools = tools
        try await time.run { [time] in try await tools.check(within: time.left) }
        // Found before the claim, which counts, is spent.
        let file = try request.image.map { path throws(CommandFailure) in try NewPrivateFile(path) }
        let folder = try ClaimFolder(below: context.folders.state, run: context.runID)
        var keeps = false
        defer { if !keeps { folder.remove() } }

        let board = try await board(request, folder)
        context.output.say("claiming \(board.mac) for the account")
        let mac = board.mac
        let credentials = try await time.run { [client] in try await client.claimForBoard(mac: mac) }
        try folder.write("rows.csv", credentials.partitionRows)
        let image = folder.path("image.bin")
        try await tools.makePartition(
            from: folder.path("rows.csv"), size: board.size, into: image, within: time.left)
        folder.removeFile("rows.csv")

        guard let port = board.port else {
            try file?.take(contentsOf: image)
            return ClaimResult(node: credentials.node, mac: mac, image: request.image, flashAddress: nil)
        }
        context.output.say("writing \(board.size) bytes to \(Esptool.hex(board.offset))")
        do {
            try await tools.write(image, to: board.offset, port, within: time.left)
        } catch {
            keeps = true
            var failure = CommandFailure(error)
            let command = [tools.python, "-m", "esptool", "--port", port] + Esptool.writing(image, to: board.offset)
            failure.message += """
                 The board is claimed as \(credentials.node.rawValue.onOneLine), and its image is kept: write it with \
                \(command.joined(separator: " ").onOneLine), then delete it, since it has the board's private key.
                """
            throw failure
        }
        return ClaimResult(
            node: credentials.node, mac: mac, image: nil, flashAddress: Esptool.hex(board.offset), port: port)
    }

    /// Throws `unsupported` for a deployment that cannot certify the key, before a board is touched.
    private func checkService() throws {
        let deployment = try context.deployment()
        guard deployment.claim == nil else { return }
        let (name, commands) = try context.commandsForClaims(at: deployment)
        throw CommandFailure(
            .config, reason: "unsupported",
            message: """
                The profile \(deployment.name.onOneLine) has no claim service, so boards cannot be claimed there. Add one that has, and sign \
                in: \(commands). Then run this again with --profile \(name).
                """)
    }

    /// The board, and where its credentials belong.
    private struct Board {
        var mac: String
        /// Nil where nothing is to be written.
        var port: String?
        var offset: UInt32
        var size: UInt32
    }

    private func board(_ request: Request, _ folder: ClaimFolder) async throws -> Board {
        if request.image != nil, let mac = request.mac {
            return Board(mac: mac, port: nil, offset: 0, size: Self.usualSize)
        }
        let port: String
        if let given = request.port { port = given } else { port = try await client.onlySerialPort() }
        context.output.say("asking the boot loader of the board at \(port)")
        let file = folder.path("table.bin")
        let mac = try await tools.chip(
            port, from: PartitionTable.defaultOffset, count: PartitionTable.length, into: file, within: time.left)
        let table = try folder.read("table.bin")
        folder.removeFile("table.bin")
        let place = try Self.place(table, request.flashAddress)
        return Board(
            mac: request.mac ?? mac, port: request.image == nil ? port : nil, offset: place.offset, size: place.size)
    }

    /// The partition for the credentials. Written anywhere else, they would destroy what lies there.
    static func place(
        _ table: [UInt8], _ given: UInt32?
    ) throws(CommandFailure) -> (offset: UInt32, size: UInt32) {
        let table = PartitionTable(table)
        if let given {
            let size = table?.partitions.first { $0.offset == given }?.size
            return (given, min(size ?? usualSize, usualSize))
        }
        guard let table else {
            throw CommandFailure(
                .badData, reason: "no_partition_table",
                message: """
                    There is no partition table at \(Esptool.hex(PartitionTable.defaultOffset)) of the board's flash: flash its firmware first, or \
                    name the address of its partition fctry with --flash-address.
                    """)
        }
        guard let factory = table.factory else {
            let labels = table.partitions.map(\.label.onOneLine).joined(separator: ", ")
            throw CommandFailure(
                .badData, reason: "no_factory_partition",
                message: """
                    The board's flash has no partition fctry for its credentials, but \(labels): its firmware was not made for RainMaker, or name \
                    the address with --flash-address.
                    """)
        }
        return (factory.offset, min(factory.size, usualSize))
    }
}
