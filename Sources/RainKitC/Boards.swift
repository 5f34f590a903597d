// SPDX-License-Identifier: Apache-2.0
public import CRainKit
import ESPProvisioning
import Glibc
import RainCore
import RainIO
import RainJSON
import RainKit
import Synchronization

/// Searching for boards, provisioning and claiming.
extension Client {
    fileprivate func discover(_ schemes: Set<String>?, for time: Duration, _ operation: Operation) async throws
        -> String
    {
        let warnings = Mutex<[Warning]>([])
        var boards: [DiscoveredBoardResult] = []
        let search = BoardSearch(for: time, logger: kit.configuration.logger)
        let found = kit.boards(search, over: schemes) { error in
            let warning = Warning(reason: error.reason ?? "\(error.code)".snakeCased, message: error.message)
            warnings.withLock { $0.append(warning) }
            operation.add(.progress("warning", TimedDocument(WarningEvent(warning))))
        }
        for try await board in found {
            let result = DiscoveredBoardResult(board, over: kit.configuration.transports)
            operation.add(.progress("found", TimedDocument(FoundEvent(result))))
            boards.append(result)
        }
        try Task.checkCancellation()
        return JSONText.documentLine(DiscoveryResult(boards: boards), warnings: warnings.withLock(\.self))
    }

    fileprivate func provision(_ options: ProvisionOptions, _ operation: Operation) async throws -> String {
        let began = ContinuousClock.now
        var request = try options.request()
        let code = try options.code()
        let address = try await address(of: options, code, within: options.limit)
        request.deadline = max(.zero, options.limit - began.duration(to: .now))
        let events = EventDocument.Writer(run: Self.newRun(), device: code?.name ?? address.location ?? "") { event in
            operation.add(.progress(event.state, event))
        }
        let node = try await kit.provision(address, with: try options.credentials(code), request) { events.take($0) }
        var warnings: [Warning] = []
        if let clash = node.nameClash { warnings.append(Warning(reason: "name_taken", message: clash.description)) }
        if let problem = node.nameProblem { warnings.append(Warning(reason: "not_named", message: problem.message)) }
        return JSONText.documentLine(ProvisionResult(node), warnings: warnings)
    }

    fileprivate func claim(_ options: ProvisionOptions, _ operation: Operation) async throws -> String {
        let began = ContinuousClock.now
        let address = try await address(of: options, nil, within: options.limit)
        let events = EventDocument.Writer(run: Self.newRun(), device: address.location ?? "") { event in
            operation.add(.progress(event.state, event))
        }
        let request = OnboardingRequest.claim(deadline: max(.zero, options.limit - began.duration(to: .now)))
        let node = try await kit.provision(address, with: try options.credentials(nil), request) { events.take($0) }
        return JSONText.documentLine(ClaimResult(node))
    }

    /// The board that the options name; without a name, the only one in reach.
    private func address(
        of options: ProvisionOptions, _ code: QRPayload?, within limit: Duration
    ) async throws -> BoardAddress {
        if let board = options.board { return try checked(try BoardAddress(board)) }
        if let code, code.transport != nil || !code.name.isEmpty { return try kit.address(for: BoardHint(code: code)) }
        return try await kit.findBoard(within: limit)
    }

    /// Refuses a parameter that the transport does not have, instead of ignoring it.
    private func checked(_ address: BoardAddress) throws -> BoardAddress {
        let known = try kit.transport(for: address).options.compactMap(\.parameter)
        guard let other = address.parameters.keys.sorted().first(where: { name in !known.contains(name) }) else {
            return address
        }
        throw RainKitError(
            .request(.usage, reason: "usage"),
            message: "\(address.scheme): has no parameter \(other.onOneLine)"
                + (known.isEmpty ? "." : "; it has \(known.joined(separator: ", "))."))
    }

    /// Distinguishes the events of runs.
    private static func newRun() -> String {
        let number = String(UInt64.random(in: 0..<1 << 48), radix: 16)
        return String(repeating: "0", count: 12 - number.count) + number
    }
}

/// Options of provisioning and of a claim, copied from the host's memory.
private struct ProvisionOptions: Sendable {
    var board: String?
    var proof: RainKitSecret?
    var qrPayload: [UInt8] = []
    var userName: String?
    var securityVersion: Int?
    var keepsNetwork = false
    var ssid: [UInt8] = []
    var passphrase: RainKitSecret?
    var mapsToUser = true
    var resetsFirst = false
    var name: String?
    var tags: String?
    var metadata: String?
    var customEndpoint = "custom-data"
    var customData: [UInt8] = []
    var limit: Duration

    init(_ options: rainkit_provision_options) throws(CallError) {
        board = try options.board.text
        qrPayload = try options.qr_payload.bytes
        proof = try options.proof.secret
        userName = try options.user_name.text
        guard (0...3).contains(options.security) else { throw .usage }
        securityVersion = options.security == 0 ? nil : Int(options.security) - 1
        keepsNetwork = options.keeps_network != 0
        ssid = try options.ssid.bytes
        passphrase = try options.passphrase.secret
        mapsToUser = options.without_account == 0
        resetsFirst = options.resets_first != 0
        name = try options.name.text
        tags = try options.tags.text
        metadata = try options.metadata.text
        if let endpoint = try options.custom_endpoint.text { customEndpoint = endpoint }
        customData = try options.custom_data.bytes
        limit = Duration(milliseconds: options.timeout_ms, usual: .seconds(120))
    }

    init(_ options: rainkit_claim_options) throws(CallError) {
        board = try options.board.text
        proof = try options.proof.secret
        limit = Duration(milliseconds: options.timeout_ms, usual: .seconds(120))
    }

    func code() throws(BoardError) -> QRPayload? { qrPayload.isEmpty ? nil : try QRPayload(qrPayload) }

    func credentials(_ code: QRPayload?) throws -> BoardCredentials {
        let known = proof.map { ProofOfPossession($0) } ?? code?.proofOfPossession
        var credentials = BoardCredentials(
            username: userName ?? code?.username ?? BoardCredentials.defaultUsername, securityVersion: securityVersion
        ) { known }
        credentials.hasProofOfPossession = known != nil
        credentials.accessPointPassphrase = code?.accessPointPassphrase
        if securityVersion == nil, let code { credentials.leastSecurity = code.leastSecurity }
        return credentials
    }

    func request() throws -> OnboardingRequest {
        var request = OnboardingRequest(
            network: try network(), mapsToUser: mapsToUser, notes: try notes(), label: try code()?.name,
            resetsFirst: resetsFirst, deadline: limit)
        if let name {
            try RainKitClient.checkNodeName(name)
            request.nodeName = name
        }
        if !customData.isEmpty { request.customData = [CustomData(customData, for: customEndpoint)] }
        return request
    }

    private func network() throws -> OnboardingRequest.Network {
        if keepsNetwork { return .none }
        guard !ssid.isEmpty else {
            throw RainKitError(
                .request(.usage, reason: "missing_ssid"),
                message: "ssid is empty: give the network's name, or set keeps_network.")
        }
        // WPA's passphrases have 8 to 63 bytes (IEEE 802.11, J.4.1), and a key of WEP 5 or 13.
        if let passphrase, passphrase.count < 8, passphrase.count != 5 {
            throw RainKitError(
                .request(.usage, reason: "invalid_argument"),
                message:
                    "passphrase: a Wi-Fi password has 8 to 63 bytes, but this one has \(passphrase.count): no network accepts it."
            )
        }
        return .given(try WiFiNetwork(ssid: SSID(ssid), passphrase: passphrase ?? RainKitSecret("")))
    }

    private func notes() throws -> MappingNotes {
        let tags = (tags ?? "").split(separator: ",").map(String.init)
        for tag in tags {
            let parts = tag.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw RainKitError(
                    .request(.usage, reason: "usage"),
                    message: "\(tag.onOneLine) is not a tag: tags have the form key:value.")
            }
        }
        if let metadata, (try? JSONValue(parsing: Array(metadata.utf8)))?.members == nil {
            throw RainKitError(
                .request(.badData, reason: "bad_metadata"), message: "The metadata is not a JSON object.")
        }
        return MappingNotes(tags: tags, metadata: metadata)
    }
}

// MARK: Functions

@c @implementation
public func rainkit_discover(
    _ client: OpaquePointer?, _ transports: rainkit_string, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    let limit = Duration(milliseconds: timeout, usual: .seconds(20))
    return start(client, operation, within: limit, hasOwnLimit: true) { () throws(CallError) in
        let schemes = try transports.text.map { Set($0.split(separator: ",").map(String.init)) }
        return { client, operation in try await client.discover(schemes, for: limit, operation) }
    }
}

@c @implementation
public func rainkit_provision(
    _ client: OpaquePointer?, _ options: UnsafePointer<rainkit_provision_options>?,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: .seconds(120), hasOwnLimit: true) { () throws(CallError) in
        guard let options else { throw .usage }
        let given = try ProvisionOptions(try options.options(else: rainkit_provision_options()))
        return { client, operation in try await client.provision(given, operation) }
    }
}

@c @implementation
public func rainkit_claim(
    _ client: OpaquePointer?, _ options: UnsafePointer<rainkit_claim_options>?,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: .seconds(120), hasOwnLimit: true) { () throws(CallError) in
        let none = rainkit_claim_options()
        let given = try ProvisionOptions(try options?.options(else: none) ?? none)
        return { client, operation in try await client.claim(given, operation) }
    }
}
