// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainAccount
import RainCore
import RainIO
import RainMaker
import Synchronization

/// The steps of ``RainKitClient/claimOverCable(_:report:)``.
struct CableClaimRun: Sendable {
    private let client: RainKitClient
    private let request: CableClaimRequest
    private let report: @Sendable (CableClaimEvent) -> Void
    private let time: Timekeeper
    private var tools: Esptool

    /// As the official client makes it, where the size of the board's partition is not known.
    private static let usualSize: UInt32 = 0x6000

    init(
        client: RainKitClient, request: CableClaimRequest, report: @escaping @Sendable (CableClaimEvent) -> Void
    ) {
        self.client = client
        self.request = request
        self.report = report
        let timer = client.configuration.tools.timer
        time = Timekeeper(timer)
        tools = Esptool(
            python: request.python,
            program: ChildProgram(environment: request.environment ?? client.programEnvironment, timer: timer))
    }

    mutating func run() async throws -> CableClaim {
        if let problem = request.problem {
            throw RainKitError(.request(.usage, reason: "invalid_argument"), message: problem)
        }
        try client.checkClaimService()
        _ = try await answer("the session could not be read") {
            [client] () async throws(AccountError) in try await client.accountInUse().session.userID()
        }
        try await tools.check(within: left)
        // These are found before the claim is spent.
        let file = try request.image.map { path throws(RainKitError) in try NewPrivateFile(path) }
        var folder = try folder()
        tools.folder = folder.path("")
        var keeps = false
        defer { if !keeps { folder.remove() } }

        let board = try await board(folder)
        try await tryGenerator(board.size, folder)
        report(.claiming(mac: board.mac))
        let credentials = try await answer("the cloud did not answer") {
            [client] () async throws(AccountError) in try await client.claim(board.mac)
        }
        do {
            try folder.write("rows.csv", credentials.partitionRows)
            return try await finish(board, credentials.node, folder, file)
        } catch {
            keeps = folder.has("rows.csv") || folder.has("image.bin")
            if keeps { folder.keep() }
            let unfinished = unfinished(RainKitError(wrapping: error), board, credentials.node, folder)
            throw RainKitError(.unfinishedClaim(unfinished), message: unfinished.message)
        }
    }

    private func folder() throws -> ClaimFolder {
        let configuration = client.configuration
        guard configuration.keepsFiles else {
            throw RainKitError(
                .request(.cannotWrite, reason: "cannot_write"),
                message:
                    "This client stores no files. A claim must store the board's key in a private folder until the board has the key."
            )
        }
        let run = Hex.text(configuration.tools.randomBytes(6))
        return try ClaimFolder(below: configuration.state, run: run)
    }

    // MARK: Time

    private var left: Duration { max(.zero, request.deadline - time.elapsed()) }

    /// Asks within the time that is left.
    /// - Parameter late: what had not happened when the time was over, where the error does not say it.
    private func answer<Answer: Sendable>(
        _ late: String, _ question: @escaping @Sendable () async throws(AccountError) -> Answer
    ) async throws -> Answer {
        let unfinished = Mutex<String?>(nil)
        let outcome = await withDeadline(left, sleep: time.sleep) { () async throws(AccountError) in
            do throws(AccountError) {
                return try await question()
            } catch {
                unfinished.withLock { $0 = error.unfinished }
                throw error
            }
        }
        guard let outcome else {
            throw RainKitError(.deadline, message: "\(unfinished.withLock { $0 } ?? late) in time".asSentence)
        }
        return try outcome.get()
    }

    // MARK: The steps

    /// Has the generator make an image of that size, from worthless rows that are as long as a claim's. A generator that does not work would
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
                from: folder.path("rows.csv"), size: size, into: folder.path("image.bin"), within: left)
        } catch var error as RainKitError where error.code != .cancelled {
            error.message += " Nothing was claimed."
            throw error
        }
        // Files of these names that exist after the claim are the claim's.
        for name in ["rows.csv", "image.bin"] { folder.removeFile(name) }
    }

    /// Makes the image, and writes it to its place.
    private func finish(
        _ board: Board, _ node: NodeID, _ folder: ClaimFolder, _ file: NewPrivateFile?
    ) async throws -> CableClaim {
        let image = folder.path("image.bin")
        do {
            try await tools.makePartition(
                from: folder.path("rows.csv"), size: board.size, into: image, within: left)
        } catch {
            // A part of an image is of no use.
            folder.removeFile("image.bin")
            throw error
        }
        folder.removeFile("rows.csv")
        guard let port = board.port else {
            try file?.take(contentsOf: image)
            return CableClaim(node: node, mac: board.mac, place: .file(request.image ?? ""))
        }
        report(.writing(bytes: board.size, address: board.offset))
        try await tools.write(image, to: board.offset, port, within: left)
        return CableClaim(node: node, mac: board.mac, place: .flash(port: port, address: board.offset))
    }

    private func unfinished(
        _ error: RainKitError, _ board: Board, _ node: NodeID, _ folder: ClaimFolder
    ) -> UnfinishedClaim {
        let (image, rows) = (folder.path("image.bin"), folder.path("rows.csv"))
        var claim = UnfinishedClaim(error: error, node: node, kept: .nothing)
        if folder.has("image.bin") {
            claim.kept = .image(image)
        } else if folder.has("rows.csv") {
            claim.kept = .rows(rows, image: image)
            claim.makingImage = tools.generatingCommand(image, from: rows, size: board.size)
        }
        claim.writingImage = board.port.map { tools.writingCommand(image, to: board.offset, $0) }
        return claim
    }

    // MARK: The board

    /// A board, and the place for its credentials.
    private struct Board {
        var mac: String
        /// Nil where nothing is to be written.
        var port: String?
        var offset: UInt32
        var size: UInt32
    }

    private func board(_ folder: ClaimFolder) async throws -> Board {
        if request.image != nil, let mac = request.mac {
            return Board(mac: mac, port: nil, offset: 0, size: Self.usualSize)
        }
        let port: String
        if let given = request.port {
            // The tools run in another folder. A name that is not a file may be an address of pyserial's, such as rfc2217://host.
            port = access(given, F_OK) == 0 ? given.absolutePath : given
        } else {
            port = try await client.onlySerialPort()
        }
        report(.askingBootLoader(port: port))
        let file = folder.path("table.bin")
        let mac = try await tools.chip(
            port, from: PartitionTable.defaultOffset, count: PartitionTable.length, into: file, within: left)
        let table = try folder.read("table.bin")
        folder.removeFile("table.bin")
        let place = try Self.place(table, request.flashAddress)
        return Board(
            mac: request.mac ?? mac, port: request.image == nil ? port : nil, offset: place.offset, size: place.size)
    }

    /// The partition for the credentials. Written anywhere else, they would destroy other data.
    /// - Parameters:
    ///   - table: the bytes of the board's partition table.
    ///   - given: the address that the caller gives.
    static func place(_ table: [UInt8], _ given: UInt32?) throws(RainKitError) -> (offset: UInt32, size: UInt32) {
        let table = PartitionTable(table)
        if let given {
            let size = table?.partitions.first { $0.offset == given }?.size
            return (given, min(size ?? usualSize, usualSize))
        }
        guard let table else {
            throw RainKitError(
                .request(.badData, reason: "no_partition_table"),
                message: """
                    The board's flash has no partition table at \(PartitionTable.defaultOffset.hexadecimal): flash the firmware first.
                    """, remedies: [.flashAddress])
        }
        guard let factory = table.factory else {
            let labels = table.partitions.map(\.label.onOneLine).joined(separator: ", ")
            throw RainKitError(
                .request(.badData, reason: "no_factory_partition"),
                message: """
                    The board's flash has no partition fctry for its credentials, only \(labels). \
                    Its firmware is probably not made for RainMaker.
                    """, remedies: [.flashAddress])
        }
        return (factory.offset, min(factory.size, usualSize))
    }
}

extension RainKitClient {
    /// Throws `unsupported` for a deployment that cannot certify keys.
    func checkClaimService() throws(AccountError) {
        guard configuration.provider == nil, configuration.deployment.claim != nil else {
            throw .withoutClaimService(configuration.provider?.name ?? configuration.deployment.name)
        }
    }

    /// The environment for programs that are started: everything but the variables that hold clients' secrets.
    var programEnvironment: [String: String] {
        let definitions = (try? providerDefinitions.load().registry.entries.map(\.definition)) ?? []
        let secrets = Set(definitions.compactMap { $0.client?.secretEnvironment })
            .union([RememberedProviders.Settings.clientSecretVariable])
        return configuration.environment.filter { !secrets.contains($0.key) }
    }
}

extension AccountError {
    static func withoutClaimService(_ name: String) -> AccountError {
        AccountError(
            .unsupported, message: "\(name) has no claim service, so boards cannot be claimed there",
            remedies: [.claimService])
    }
}
