// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainAccount
import RainCore
import RainCryptoOpenSSL
import RainJSON
import RainMaker

/// New firmware for one node, checked and ready to be sent.
///
/// ```swift
/// let update = try FirmwareUpdate(bytes, named: "lamp.bin", for: lamp)
/// let sent = try await kit.send(update)
/// let outcome = try await kit.follow(sent, for: .seconds(300)) { print($0) }
/// ```
public struct FirmwareUpdate: Sendable {
    /// A reason for which firmware rejects an image unless it is built otherwise (`esp_rmaker_ota.c`). The node decides.
    public struct Warning: Sendable, Equatable {
        /// `other_project`, `same_version` or `offline`.
        public let reason: String
        /// One sentence.
        public let message: String
    }

    /// The node, as the cloud described it.
    public let node: Node
    /// What the image says of itself.
    public let image: FirmwareImage
    let bytes: [UInt8]
    let name: String
    let service: UpdateService

    /// Checks the image, its chip, and whether the node's firmware takes updates from a parameter (`esp.service.ota`).
    ///
    /// - Parameters:
    ///   - bytes: the application's image, as the build writes it; at most 5 MiB.
    ///   - name: the name of its file. The cloud keeps the last 256 characters.
    /// - Throws: `RainKitError`: `bad_image`, `wrong_chip`, `no_service`, `no_configuration`.
    public init(_ bytes: [UInt8], named name: String, for node: Node) throws {
        do throws(FirmwareImage.Failure) {
            image = try FirmwareImage(bytes, hashes: OpenSSLCrypto.self)
        } catch {
            throw RainKitError(
                .request(.badData, reason: "bad_image"),
                message: "\(name.onOneLine) \(error.problem(bytes))")
        }
        service = try UpdateService(of: node)
        if let platform = node.configuration?["info"]?["platform"]?.string?.lowercased(), image.chip != platform {
            throw RainKitError(
                .request(.badData, reason: "wrong_chip"),
                message:
                    "The image is for the \(image.chip ?? "chip \(image.chipID)"), but \(node.shownName) is an \(platform.onOneLine): "
                    + "build the firmware for the \(platform.onOneLine). Nothing was uploaded."
            )
        }
        self.node = node
        self.bytes = bytes
        self.name = name
    }

    /// Reads the image from a file, and checks it as the other initializer does.
    ///
    /// - Throws: `RainKitError`, also `bad_data` for a file that cannot be read or has more than 5 MiB.
    public init(file path: String, for node: Node) throws {
        try self.init(
            try Self.contents(of: path), named: String(path.split(separator: "/").last ?? "image.bin"), for: node)
    }

    private static func contents(of path: String) throws(RainKitError) -> [UInt8] {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        let limit = RainMakerCloud.maximumImage
        var (bytes, count) = ([UInt8](repeating: 0, count: limit + 1), 0)
        while count <= limit {
            let read = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress! + count, $0.count - count)
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw unreadable(path, errno) }
            if read == 0 { return Array(bytes.prefix(count)) }
            count += read
        }
        throw RainKitError(
            .request(.badData, reason: "bad_data"), message: "\(path.onOneLine) has more than \(limit) bytes.")
    }

    private static func unreadable(_ path: String, _ number: Int32) -> RainKitError {
        let isAddress = path.contains("://") && number == ENOENT
        return RainKitError(
            .request(.badData, reason: "bad_data"),
            message: isAddress
                ? "The image must be a file on this machine, but \(path.onOneLine) is a URL. Download the image first."
                : "The image cannot be read from \(path.onOneLine): \(systemErrorText(number)).")
    }

    /// Why the node may reject the image, or get it late.
    public var warnings: [Warning] {
        var warnings: [Warning] = []
        if let project = node.configuration?["info"]?["project_name"]?.string, project != image.project {
            warnings.append(
                Warning(
                    reason: "other_project",
                    message:
                        "The image belongs to the project \(image.project.onOneLine), but \(node.shownName) runs \(project.onOneLine): the "
                        + "board may reject this image."
                ))
        }
        if let version = node.firmwareVersion, version == image.version {
            warnings.append(
                Warning(
                    reason: "same_version",
                    message: "\(node.shownName) already has the version \(version.onOneLine), and may reject the image."
                ))
        }
        // The broker keeps a message as long as the node's session there (AWS IoT Core: an hour unless set otherwise).
        if node.isOffline {
            warnings.append(
                Warning(
                    reason: "offline",
                    message:
                        "\(node.shownName) is offline. It gets the update when it is online again, if the cloud still has the update "
                        + "then. If the board does not get the update, send the update again."))
        }
        return warnings
    }
}

extension FirmwareImage.Failure {
    /// The kind of a file that people take for an image, by its first bytes.
    private static func kind(of bytes: [UInt8]) -> String? {
        let kinds: [(start: [UInt8], name: String)] = [
            ([0x7F, 0x45, 0x4C, 0x46], "an ELF file"), ([0x50, 0x4B, 0x03, 0x04], "a ZIP archive"),
            ([0x1F, 0x8B], "a gzip file"), (Array("UF2\n".utf8), "a UF2 file"), (Array(":".utf8), "an Intel HEX file"),
            (Array("<".utf8), "a web page"), (Array("{".utf8), "a JSON file"), ([0xAA, 0x50], "a partition table"),
        ]
        return kinds.first { bytes.starts(with: $0.start) }?.name
    }

    /// Whether this is the content of a flash from its start, as `esptool merge_bin` writes it. A partition table begins at 0x8000, or in a
    /// later sector if its offset was configured.
    private static func isMerged(_ bytes: [UInt8]) -> Bool {
        stride(from: 0x8000, to: 0x20000, by: 0x1000).contains { offset in
            offset + 2 <= bytes.count && bytes[offset] == 0xAA && bytes[offset + 1] == 0x50
        }
    }

    /// The end of the sentence "FILE …" about these bytes.
    func problem(_ bytes: [UInt8]) -> String {
        switch self {
        case .notAnImage where bytes.isEmpty: "is empty."
        case .notAnImage where Self.isMerged(bytes), .notAnApplication where Self.isMerged(bytes):
            "is a merged image (boot loader, partition table and application), not the image of an application: give the .bin file that is "
                + "named after the project."
        case .notAnImage:
            "is not the image of an application\(Self.kind(of: bytes).map { ", but \($0)" } ?? " (its first byte is not E9)"): give the .bin "
                + "file that is named after the project."
        case .notAnApplication:
            "is not the image of an application: give the .bin file that is named after the project. That file contains no boot loader and no partition table."
        case .truncated: "is cut off: its header announces more bytes than the file has. Copy it again."
        case .wrongChecksum:
            "is damaged: the checksum after its segments does not match their bytes. Copy or build it again."
        case .wrongHash: "is damaged: the SHA-256 at its end does not match its bytes. Copy or build it again."
        }
    }
}

/// What happens to an update, in order.
public enum FirmwareUpdateEvent: Sendable, Equatable {
    /// So many bytes of the image are uploaded.
    case uploaded(bytes: Int, of: Int)
    /// A call failed for the moment, and is made again. The text says why.
    case retrying(String)
    /// The cloud has the update. A node that is online gets it now, and fetches the image itself.
    case sent(isOffline: Bool)
    /// The node reported a new state, or went offline or online. The text is for people.
    case news(String)
}

/// An update that the cloud has sent to its node.
public struct SentFirmwareUpdate: Sendable {
    /// What was sent.
    public let update: FirmwareUpdate
    /// The node right before it was sent the update.
    let before: Node
}

/// The state of an update when following it ended.
public struct FirmwareUpdateOutcome: Sendable {
    var reports: UpdateReports
    var isAway: Bool
    /// Why the cloud gives no more answers.
    var fault: AccountError?
    /// Why the last question had no answer.
    var trouble: String?

    /// `success`, `failed` or `rejected`; otherwise what the node said last, or `sent` if it has said nothing about this update.
    public var status: String { reports.said.map { $0.status ?? "in-progress" } ?? "sent" }
    /// The node's text beside the status, such as why it failed.
    public var info: String? { reports.said?.info }
    /// Whether the update is over.
    public var isOver: Bool { reports.isOver }

    /// The error of an update that failed, or was not over in time; nil for a success.
    ///
    /// Its reasons are `update_failed`, `update_rejected` and `deadline`, and those of the cloud's errors.
    public func error(at node: Node) -> RainKitError? {
        let words = Self.inBrackets(info)
        let remedies = [Remedy.updateState(node: node.id.rawValue)]
        if var fault {
            fault.message = fault.message.asSentence + " The update itself continues."
            fault.remedies += remedies
            return RainKitError(fault)
        }
        switch status {
        case "success" where isOver: return nil
        case "failed" where isOver:
            return RainKitError(
                .request(.other, reason: "update_failed"), message: "The update has failed\(words).")
        case "rejected" where isOver:
            return RainKitError(
                .request(.other, reason: "update_rejected"),
                message: "\(node.shownName) has rejected the image\(words).")
        default:
            let (state, advice) = standing(of: node)
            let unknown =
                trouble.map { " " + "What happened after that is not known: \($0.onOneLine)".asSentence } ?? ""
            return RainKitError(
                .request(.deadline, reason: "deadline"), message: "\(state)\(unknown) \(advice)", remedies: remedies)
        }
    }

    /// What is known of the update, and what comes next or what to do.
    private func standing(of node: Node) -> (state: String, advice: String) {
        let name = node.shownName
        let alone = "a board accepts no other update until the current one is over"
        if reports.said != nil {
            let words = Self.inBrackets(info)
            let said = isAway ? "\(name) is offline, and last reported" : "the board last reported"
            return ("The update is not over: \(said) \(status.onOneLine)\(words).", "It may still finish.")
        }
        if let doubted = reports.doubted {
            let version = reports.version.map {
                "reports the version \($0.onOneLine), not \(reports.image.onOneLine)"
            }
            return (
                "\(name) reports success\(Self.inBrackets(doubted.info)), but \(version ?? "was installing an earlier update"): this update may not be over.",
                "It may still finish."
            )
        }
        if let earlier = reports.earlier {
            let words = Self.inBrackets(earlier.words)
            return reports.earlierIsOver
                ? (
                    "\(name) was busy with an earlier update\(words) and has not begun this one: \(alone).",
                    "Send the update again."
                )
                : (
                    "\(name) is still installing an earlier update\(words): \(alone).",
                    "Send the update again after that."
                )
        }
        return (
            isAway
                ? "\(name) is offline, and has not begun the update. It gets the update when it is online again."
                : "\(name) has not begun the update yet.", "It may still finish."
        )
    }

    private static func inBrackets(_ words: String?) -> String { words.map { " (\($0.onOneLine))" } ?? "" }
}

extension RainKitClient {
    /// Uploads an image and has the cloud send its address to the node. The node fetches the image itself.
    ///
    /// - Parameters:
    ///   - isFollowed: whether `follow` comes next. If so, the node is looked at once more between the upload and the sending:
    ///     an earlier update may have ended meanwhile.
    ///   - report: receives what happens, in order.
    /// - Throws: `RainKitError`: the cloud's refusals; `insecure_url` for an upload address that is not HTTPS; `cancelled`.
    @discardableResult
    public func send(
        _ update: FirmwareUpdate, isFollowed: Bool = true,
        report: @escaping @Sendable (FirmwareUpdateEvent) -> Void = { _ in }
    ) async throws -> SentFirmwareUpdate {
        let (node, size) = (update.node.id, update.bytes.count)
        var isHandedOver = false
        do throws(AccountError) {
            let cloud = try self.cloud()
            let url = try await cloud.uploadImage(update.bytes, name: String(update.name.suffix(256))) {
                report(.uploaded(bytes: $0, of: size))
            }
            var before = update.node
            if isFollowed {
                before = try await again("Asking the cloud again.", report) { () async throws(AccountError) in
                    try await cloud.node(node)
                }
            }
            isHandedOver = true
            // The upload is done, and sending the same address twice does no harm.
            try await again("Sending the request again.", report) { () async throws(AccountError) in
                try await cloud.set([update.service.change(to: url)], at: node)
            }
            report(.sent(isOffline: before.isOffline))
            return SentFirmwareUpdate(update: update, before: before)
        } catch {
            guard isHandedOver, Task.isCancelled else { throw RainKitError(error) }
            throw RainKitError(
                .cancelled, message: "Cancelled: the cloud may have sent the update already.",
                remedies: [.updateState(node: node.rawValue)])
        }
    }

    /// Follows an update by what the node reports, until it is over or the time is.
    ///
    /// - Returns: the outcome. Its ``FirmwareUpdateOutcome/error(at:)`` is nil for a success.
    /// - Throws: `RainKitError`, `cancelled`: the update itself goes on.
    public func follow(
        _ sent: SentFirmwareUpdate, for limit: Duration,
        report: @escaping @Sendable (FirmwareUpdateEvent) -> Void = { _ in }
    ) async throws -> FirmwareUpdateOutcome {
        do throws(AccountError) {
            let watch = UpdateWatch(
                cloud: try cloud(), time: Timekeeper(configuration.tools.timer), sent: sent)
            return try await watch.outcome(within: limit) { report(.news($0)) }
        } catch {
            guard error.code == .cancelled else { throw RainKitError(error) }
            throw RainKitError(
                .cancelled, message: "Cancelled: the update itself continues.",
                remedies: [.updateState(node: sent.update.node.id.rawValue)])
        }
    }

    private static let updateTries = 6

    /// Makes a call again that fails for the moment.
    func again<Answer: Sendable>(
        _ words: String, _ report: @Sendable (FirmwareUpdateEvent) -> Void,
        _ call: () async throws(AccountError) -> Answer
    ) async throws(AccountError) -> Answer {
        let time = Timekeeper(configuration.tools.timer)
        var pause = Duration.milliseconds(250)
        for _ in 1..<Self.updateTries {
            do throws(AccountError) {
                return try await call()
            } catch {
                guard error.isTransient else { throw error }
                report(.retrying("\(error.message.onOneLine.asSentence) \(words)"))
                do { try await time.sleep(max(pause, error.retryAfter ?? .zero)) } catch {
                    throw AccountError(.cancelled, message: "Cancelled.")
                }
                pause *= 2
            }
        }
        return try await call()
    }
}

extension Node {
    var isOffline: Bool { connectivity?.isConnected == false }
}

/// Follows an update by what the node reports.
private struct UpdateWatch {
    let cloud: any NodeCloud
    let time: Timekeeper
    let sent: SentFirmwareUpdate

    /// Throws `cancelled` only.
    func outcome(
        within limit: Duration, _ say: @Sendable (String) -> Void
    ) async throws(AccountError) -> FirmwareUpdateOutcome {
        let (cloud, before, service) = (cloud, sent.before, sent.update.service)
        var now = FirmwareUpdateOutcome(
            reports: UpdateReports(
                before: service.state(of: before), version: before.firmwareVersion, image: sent.update.image.version),
            isAway: before.isOffline)
        let ending = try await CloudQuestion(time: time).askAgain(
            until: time.elapsed() + limit, PollSchedule(from: .milliseconds(250), to: .seconds(4))
        ) { () async throws(AccountError) in
            try await cloud.node(before.id)
        } take: { known in
            let last = now.reports.last
            now.take(known, service.state(of: known), say)
            if now.isOver { return .done }
            return now.reports.last == last ? .quiet : .news
        }
        switch ending {
        case .done: break
        case .late(let fault): now.trouble = fault?.message
        case .refused(let error): now.fault = error
        }
        return now
    }
}

extension FirmwareUpdateOutcome {
    fileprivate mutating func take(_ known: Node, _ state: UpdateService.State, _ say: (String) -> Void) {
        if let news = reports.take(state, version: known.firmwareVersion) { say(news) }
        if known.connectivity?.isConnected == false, !isAway {
            isAway = true
            say(
                reports.said == nil
                    ? "the board is offline; it gets the update when it is online again"
                    : "the board is offline; it restarts with the new firmware, or has lost its connection")
        } else if known.connectivity?.isConnected == true, isAway {
            isAway = false
            say("the board is online again")
        }
    }
}

/// Distinguishes the node's reports of one update from those of an earlier one.
///
/// The parameters of the service have no number of an update. Firmware accepts no update while another is under way, reports `info` before
/// `status`, and has blank texts after a restart. Built with rollback it reports `success` only after its restart (`esp_rmaker_ota.c`,
/// `esp_rmaker_ota_using_params.c`). So a reported end belongs to this update if its beginning was seen, or if the board has the image's
/// version.
struct UpdateReports: Sendable {
    typealias State = UpdateService.State

    /// The board's last report of this update.
    private(set) var said: State?
    /// Whether that report is the update's end.
    private(set) var isOver = false
    /// The last report of an update that was under way before this one.
    private(set) var earlier: State?
    /// Whether the earlier update has ended.
    private(set) var earlierIsOver = false
    /// A reported success that may belong to another update.
    private(set) var doubted: State?
    private(set) var last: State
    /// The version that the board reports.
    private(set) var version: String?

    let image: String
    private let versionBefore: String?
    private var hasBegun = false
    private var hasRestarted = false
    /// The end that was reported before this update.
    private var former: State

    /// - Parameters:
    ///   - before: the board's last report before it got this update.
    ///   - version: the version that it reported then.
    ///   - image: the version of this update.
    init(before: State, version: String?, image: String) {
        (last, former) = (before, before)
        (self.version, versionBefore) = (version, version)
        self.image = image
        if !before.isBlank, !before.isFinal { earlier = before }
    }

    private var isAtEarlier: Bool { earlier != nil && !earlierIsOver }

    /// - Returns: the news as a text for people; nil without news.
    mutating func take(_ state: State, version: String?) -> String? {
        let isNew = state != last
        last = state
        self.version = version
        if state.isBlank {
            if isNew { hasRestarted = true }
            return nil
        }
        guard state.isFinal else {
            guard isNew else { return nil }
            if isAtEarlier, !hasRestarted {
                earlier = state
                return "an earlier update: \(state.words)"
            }
            hasBegun = true
            doubted = nil
            said = state
            return state.words
        }
        return takeEnd(state, isNew: isNew)
    }

    private mutating func takeEnd(_ state: State, isNew: Bool) -> String? {
        let isImage = version == image && versionBefore != image && state.status == "success"
        guard !hasBegun, !isImage else {
            (said, isOver, doubted) = (state, true, nil)
            return state.words
        }
        if isAtEarlier {
            (earlier, earlierIsOver, former) = (state, true, state)
            return "an earlier update: \(state.words)"
        }
        // At its first look it may be the old `status` beside the new `info` of an update that begins.
        guard !isNew, state != former, state != doubted else { return nil }
        if state.status == "success", earlier != nil || version != nil {
            doubted = state
        } else {
            (said, isOver) = (state, true)
        }
        return state.words
    }
}

/// The service by which a board takes updates from a parameter (`esp.service.ota`).
struct UpdateService: Sendable {
    private let url: ParameterPath
    private let status: ParameterPath?
    private let info: ParameterPath?

    /// A board's report of an update.
    struct State: Sendable, Equatable {
        var status: String?
        var info: String?

        /// Firmware reports nothing of updates after a restart.
        var isBlank: Bool { status == nil && info == nil }
        /// Firmware reports `failed` after each attempt, also if another one follows.
        var isFinal: Bool {
            switch status {
            case "success", "rejected": true
            case "failed": !UpdateAttempt.isFollowed(info)
            default: false
            }
        }
        var words: String { [status, info].compactMap { $0 }.joined(separator: ": ") }
    }

    /// Throws `no_service` if the firmware has no such service.
    init(of node: Node) throws(RainKitError) {
        let configuration = try node.described()
        let service = configuration.components.first { $0.type == "esp.service.ota" }
        func path(_ type: String) -> ParameterPath? {
            guard let service, let parameter = service.parameters.first(where: { $0.type == type }) else { return nil }
            return ParameterPath(component: service.name, parameter: parameter.name)
        }
        guard let url = path("esp.param.ota_url") else {
            throw RainKitError(
                .request(.badData, reason: "no_service"),
                message:
                    "\(node.shownName) cannot be updated in this way: its firmware does not have the service esp.service.ota (OTA "
                    + "using parameters). If its firmware gets updates over MQTT topics, create an update in the deployment's dashboard.",
                remedies: [.updateJobs(node: node.id.rawValue)])
        }
        self.url = url
        status = path("esp.param.ota_status")
        info = path("esp.param.ota_info")
    }

    func change(to address: String) -> ParameterChange { ParameterChange(url, .string(address)) }

    func state(of node: Node) -> State {
        func text(_ path: ParameterPath?) -> String? {
            // Firmware starts with empty texts.
            path.flatMap { node.parameters?[$0.component]?[$0.parameter]?.string }.flatMap { $0.isBlank ? nil : $0 }
        }
        return State(status: text(status), info: text(info))
    }
}
