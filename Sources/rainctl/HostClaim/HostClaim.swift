// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit
import RainPrivateFiles

/// Claims a board over its cable in its place: reads its address by the chip's boot loader, has the cloud certify a key that is made here, and
/// writes both into the board's flash.
///
/// The key is nowhere but in a private folder, and only until the board has it. Where anything fails behind the claim it stays there, so
/// that the claim can be finished later: each claim counts.
struct HostClaim: Sendable {
    let context: Context
    let client: RainKitClient
    let time: TimeBudget
    var tools: Esptool

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

    mutating func run(_ request: Request) async throws -> ClaimResult {
        try checkService()
        _ = try await time.run { [client] in try await client.userID() }
        let tools = tools
        try await time.run { [time] in try await tools.check(within: time.left) }
        // Found before the claim, which counts, is spent.
        let file = try request.image.map { path throws(CommandFailure) in try NewPrivateFile(path) }
        var folder = try ClaimFolder(below: context.folders.state, run: context.runID)
        self.tools.folder = folder.path("")
        var keeps = false
        defer { if !keeps { folder.remove() } }

        let board = try await board(request, folder)
        try await tryGenerator(board.size, folder)
        context.output.say("claiming \(board.mac) for the account")
        let mac = board.mac
        let credentials = try await time.run { [client] in try await client.claimForBoard(mac: mac) }
        do {
            try folder.write("rows.csv", credentials.partitionRows)
            return try await finish(board, credentials.node, folder, file, request.image)
        } catch {
            keeps = folder.has("rows.csv") || folder.has("image.bin")
            if keeps { folder.keep() }
            throw unfinished(error, board, credentials.node, folder)
        }
    }

    /// Has the generator make an image of that size, of rows that are worth nothing and as long as a claim's: one that does not work would
    /// cost the claim.
    private func tryGenerator(_ size: UInt32, _ folder: ClaimFolder) async throws {
        let credentials = NodeCredentials(
            node: NodeID(String(repeating: "n", count: 24)), certificate: String(repeating: "c", count: 1200),
            key: Secret(String(repeating: "k", count: 240)), mqttHost: String(repeating: "m", count: 60),
            credentialsHost: String(repeating: "h", count: 60),
            random: Secret([UInt8](repeating: 0, count: NodeCredentials.randomBytes)))
        try folder.write("rows.csv", credentials.partitionRows)
        do {
            try await tools.makePartition(
                from: folder.path("rows.csv"), size: size, into: folder.path("image.bin"), within: time.left)
        } catch var failure as CommandFailure {
            failure.message += " Nothing was claimed."
            throw failure
        }
        // What is found there after the claim is the claim's.
        for name in ["rows.csv", "image.bin"] { folder.removeFile(name) }
    }

    /// Makes the image, and brings it to where it belongs.
    private func finish(
        _ board: Board, _ node: NodeID, _ folder: ClaimFolder, _ file: NewPrivateFile?, _ name: String?
    ) async throws -> ClaimResult {
        let image = folder.path("image.bin")
        do {
            try await tools.makePartition(
                from: folder.path("rows.csv"), size: board.size, into: image, within: time.left)
        } catch {
            // What there is of it is no image.
            folder.removeFile("image.bin")
            throw error
        }
        folder.removeFile("rows.csv")
        guard let port = board.port else {
            try file?.take(contentsOf: image)
            return ClaimResult(node: node, mac: board.mac, image: name, flashAddress: nil)
        }
        context.output.say("writing \(board.size) bytes to \(Esptool.hex(board.offset))")
        try await tools.write(image, to: board.offset, port, within: time.left)
        return ClaimResult(
            node: node, mac: board.mac, image: nil, flashAddress: Esptool.hex(board.offset), port: port)
    }

    /// What stopped it behind the claim, with what is kept, and the commands that finish it: whole, since they are for a shell.
    private func unfinished(
        _ error: any Error, _ board: Board, _ node: NodeID, _ folder: ClaimFolder
    ) -> CommandFailure {
        var failure = CommandFailure(error)
        failure.message += " The board is claimed as \(node.rawValue.onOneLine), and "
        let image = folder.path("image.bin")
        let writing = board.port.map { "write it with \(tools.writingCommand(image, to: board.offset, $0))" }
        let way = writing ?? "flash it to the partition fctry"
        if folder.has("image.bin") {
            failure.message += """
                its image is kept in \(image.asShellWord): \(way), then delete it, since it has the board's private key.
                """
        } else if folder.has("rows.csv") {
            let rows = folder.path("rows.csv")
            failure.message += """
                its credentials are kept: make the image with \(tools.generatingCommand(image, from: rows, size: board.size)), \(way), then \
                delete both, since they have the board's private key.
                """
        } else {
            failure.message += "its key is lost: run this command again."
        }
        return failure
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
        if let given = request.port {
            // The tools run in another folder. What is not a file may be an address of pyserial's, such as rfc2217://host.
            port = access(given, F_OK) == 0 ? absolutePath(given) ?? given : given
        } else {
            port = try await client.onlySerialPort()
        }
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

/// How a person adds a deployment that is there already once more, with a claim service.
extension Deployment {
    /// A name for it that no other profile has.
    func nameWithClaims(besides taken: Set<String>) -> String {
        // Names have at most 64 characters.
        let plain = "\(name.prefix(48))-claims"
        guard taken.contains(plain) else { return plain }
        return (2...).lazy.map { "\(plain)-\($0)" }.first { !taken.contains($0) } ?? plain
    }

    /// The command that adds it under that name with all that it has, for a shell; further options go behind it.
    func addition(as name: String) -> String {
        var words = ["rainctl", "profile", "add", name, "--base-url", base.text]
        func add(_ option: String, _ value: String?, unless usual: String? = nil) {
            if let value, value != usual { words += [option, value] }
        }
        let usual = WebSignIn.standard
        add("--auth-url", authorization?.text)
        add("--client-id", clientID)
        add("--ca-file", certificateAuthorities)
        add("--authorize-path", webSignIn.authorizePath, unless: usual.authorizePath)
        add("--token-path", webSignIn.tokenPath, unless: usual.tokenPath)
        add("--scope", webSignIn.scope.joined(separator: " "), unless: usual.scope.joined(separator: " "))
        add("--relay-url", webSignIn.relay, unless: usual.relay)
        if webSignIn.relayTakesExtendedState { words.append("--relay-extended-state") }
        add("--loopback-path", webSignIn.loopbackPath, unless: usual.loopbackPath)
        add("--scheme-redirect", webSignIn.schemeRedirect, unless: usual.schemeRedirect)
        return words.map(\.withoutControls.asShellWord).joined(separator: " ")
    }
}

extension Context {
    /// The commands that give somebody a deployment like this one with a claim service, and the name of its profile. A profile with somebody
    /// signed in cannot be removed, and a session is bound to both addresses: another profile is the way that loses nothing.
    func commandsForClaims(at deployment: Deployment) throws(AccountError) -> (profile: String, commands: String) {
        let name = deployment.nameWithClaims(besides: Set(try deploymentFile.load().all.map(\.name)))
        let users = try accounts.known.load().entries(at: deployment.name).map(\.userName)
        let user = users.count == 1 ? users[0].withoutControls.asShellWord : "USER"
        let commands = "\(deployment.addition(as: name)) --claim-url URL && rainctl login \(user) --profile \(name)"
        return (name, commands)
    }
}
