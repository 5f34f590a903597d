// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import Synchronization

struct NodeOTA: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "ota", abstract: "Send new firmware to a board over the air.",
        discussion: """
            Example: rainctl node ota 'Kitchen lamp' build/led_light.bin

            The image's chip and size are checked before anything is uploaded. Ctrl-C ends the waiting, not the update: rainctl node params get \
            NODE OTA shows how far it is.
            """)

    @Argument(help: .node)
    var node: String

    @Argument(
        help: ArgumentHelp("The application's image, as the build writes it.", valueName: "file"), completion: .file())
    var image: String

    @Flag(inversion: .prefixedNo, help: "Wait until the board has it.")
    var wait = true

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(300))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> UpdateResult {
        let bytes = try SecretSource.contents(
            of: image, name: "image", maximumBytes: RainMakerCloud.maximumImage, isExact: true, within: scene.time.left
        ).revealBytes()
        let head = try Self.head(of: bytes, image)
        let name = node
        let found = try await scene.time.run { try await scene.choice.node(name) }
        let service = try UpdateService(of: found)
        try Self.check(head, for: found)
        Self.warn(of: head, for: found, scene.context.output)
        let screen = UpdateScreen(scene.context, options)
        screen.say("uploading \(head.project) \(head.version), \(bytes.count) bytes")
        let fileName = String(image.split(separator: "/").last ?? "image.bin")
        let url = try await scene.time.run {
            try await scene.cloud.uploadImage(bytes, name: String(fileName.suffix(256))) {
                screen.draw(sent: $0, of: bytes.count)
            }
        }
        // Known only now: in the time of the upload the board may have ended an earlier update.
        let before =
            wait ? try await scene.time.run { try await Self.latest(found.id, scene.cloud) { screen.say($0) } } : found
        do {
            try await scene.time.run {
                try await Self.hand(service.change(to: url), to: found.id, scene.cloud) { screen.say($0) }
            }
        } catch  where Task.isCancelled {
            throw CommandFailure(
                .cancelled,
                message:
                    "Cancelled: the cloud may have told the board already. \(UpdateWatch.follow(found)) shows how far it is."
            )
        }
        let isAway = before.isOffline
        screen.say(
            isAway
                ? "the cloud has the update for \(found.shownName), which is offline"
                : "the cloud has told \(found.shownName); it fetches the image by itself")
        guard wait else { return UpdateResult(found.id, head, state: "sent", info: nil) }
        let watch = UpdateWatch(cloud: scene.cloud, service: service, before: before, version: head.version)
        let end: UpdateWatch.End
        async let _ = screen.count("waiting for \(found.shownName)")
        do {
            end = try await watch.end(isAway: isAway, within: scene.time.leftForWaiting) { screen.say($0) }
        } catch is CancellationError {
            throw CommandFailure(
                .cancelled,
                message: "Cancelled: the update itself goes on. \(UpdateWatch.follow(found)) shows how far it is.")
        }
        let result = UpdateResult(found.id, head, state: end.status, info: end.said?.info)
        if let failure = end.failure(at: found) {
            var failure = failure
            failure.result = result
            throw failure
        }
        return result
    }

    /// The upload is done, and the same address may be said twice.
    private static func hand(
        _ change: ParameterChange, to node: NodeID, _ cloud: RainMakerCloud, _ say: @Sendable (String) -> Void
    ) async throws {
        try await again("It is told again.", say) { () async throws(AccountError) in
            try await cloud.set([change], at: node)
        }
    }

    private static func latest(
        _ node: NodeID, _ cloud: RainMakerCloud, _ say: @Sendable (String) -> Void
    ) async throws -> Node {
        try await again("It is asked again.", say) { () async throws(AccountError) in try await cloud.node(node) }
    }

    /// A call that fails for the moment is made again.
    private static func again<Answer: Sendable>(
        _ words: String, _ say: @Sendable (String) -> Void, _ call: () async throws(AccountError) -> Answer
    ) async throws -> Answer {
        var pause = Duration.milliseconds(250)
        for _ in 1..<tries {
            do throws(AccountError) {
                return try await call()
            } catch {
                guard error.isTransient else { throw error }
                say("\(error.message.onOneLine.asSentence) \(words)")
                try await Task.sleep(for: max(pause, error.retryAfter ?? .zero))
                pause *= 2
            }
        }
        return try await call()
    }
    private static let tries = 6

    private static func head(of bytes: [UInt8], _ file: String) throws(CommandFailure) -> FirmwareImage {
        do throws(FirmwareImage.Failure) {
            return try FirmwareImage(bytes, hashes: RainKitTools().crypto)
        } catch {
            let what =
                switch error {
                case .notAnImage where bytes.isEmpty: "is empty."
                case .notAnImage: "is not an image of an ESP chip: its first byte is not E9."
                case .notAnApplication:
                    "is not an application's image: give the one that the build names after the project, without boot loader and partitions."
                case .truncated: "is shorter than it says itself: was it copied in full?"
                case .wrongChecksum:
                    "is damaged: the checksum behind its segments is not that of their bytes. Copy or build it again."
                case .wrongHash: "is damaged: the SHA-256 at its end is not that of its bytes. Copy or build it again."
                }
            throw CommandFailure(.badData, reason: "bad_image", message: "\(file.onOneLine) \(what)")
        }
    }

    /// What firmware rejects unless it is built otherwise (`esp_rmaker_ota.c`): the board decides, so it is only said. For a board that is
    /// offline the broker keeps the message as long as its session there (AWS IoT Core: an hour unless set otherwise).
    private static func warn(of image: FirmwareImage, for node: Node, _ output: Output) {
        let info = node.configuration?["info"]
        if let project = info?["project_name"]?.string, project != image.project {
            output.warn(
                "The image is of the project \(image.project.onOneLine), and \(node.shownName) runs \(project.onOneLine): it may reject it.",
                reason: "other_project")
        }
        if let version = node.firmwareVersion, version == image.version {
            output.warn(
                "\(node.shownName) has the version \(version.onOneLine) already, and may reject the image.",
                reason: "same_version")
        }
        if node.isOffline {
            output.warn(
                "\(node.shownName) is offline: it gets the update when it is back, if the cloud has kept it until then. Run this command again otherwise.",
                reason: "offline")
        }
    }

    private static func check(_ image: FirmwareImage, for node: Node) throws(CommandFailure) {
        guard let platform = node.configuration?["info"]?["platform"]?.string?.lowercased(),
            image.chip != platform
        else { return }
        throw CommandFailure(
            .badData, reason: "wrong_chip",
            message:
                "The image is for the \(image.chip ?? "chip \(image.chipID)"), and \(node.shownName) is an \(platform.onOneLine): build it for that chip. Nothing was uploaded."
        )
    }
}

extension Node {
    fileprivate var isOffline: Bool { connectivity?.isConnected == false }
}

/// An update of a board's firmware.
struct UpdateResult: CommandResult {
    let nodeID: String
    /// `sent`, `success`, or what the board said last.
    let state: String
    let info: String?
    let project: String
    let version: String
    let chip: String?
    let size: Int

    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case state, info, project, version, chip, size
    }

    init(_ node: NodeID, _ image: FirmwareImage, state: String, info: String?) {
        nodeID = node.rawValue
        self.state = state
        self.info = info
        project = image.project
        version = image.version
        chip = image.chip
        size = image.size
    }

    var text: String {
        let words =
            switch state {
            case "success": "has \(project) \(version)"
            case "sent": "was told to fetch \(project) \(version)"
            default: state + (info.map { ": \($0)" } ?? "")
            }
        return "\(nodeID)  \(words)".onOneLine
    }
}

/// Says on standard error how far an update is: on a terminal a bar for what is uploaded, and a line that counts while the board works.
final class UpdateScreen: Sendable {
    private let output: Output
    private let screen: Screen
    private let isLive: Bool
    private let start = ContinuousClock.now
    private let drawnAt = Mutex<ContinuousClock.Instant?>(nil)

    init(_ context: Context, _ options: GlobalOptions) {
        output = context.output
        screen = context.screen
        if case .live = ProgressReport.form(options, environment: context.environment) {
            isLive = true
        } else {
            isLive = false
        }
    }

    /// Says something that stays.
    func say(_ line: String) {
        let line = "[\(seconds) s] \(line)".onOneLine
        guard isLive else { return output.say(line) }
        screen.write(line.withoutControls)
    }

    /// Draws how much of an image is sent, ten times a second at most.
    func draw(sent: Int, of size: Int) {
        draw(Self.bar(sent: sent, of: size), isLast: sent >= size)
    }

    /// Draws what is waited for, with the time, until the task is cancelled.
    func count(_ what: String) async {
        while !Task.isCancelled, isLive {
            draw("… \(what)", isLast: false)
            try? await Task.sleep(for: .milliseconds(250))
        }
        if isLive { screen.draw("") }
    }

    private func draw(_ text: String, isLast: Bool) {
        guard isLive else { return }
        drawnAt.withLock { drawnAt in
            let now = ContinuousClock.now
            if !isLast, let last = drawnAt, now - last < .milliseconds(100) { return }
            drawnAt = now
            screen.draw("[\(seconds) s] \(text)")
        }
    }

    private var seconds: Int64 { start.duration(to: .now).components.seconds }

    /// Twenty cells, and the bytes in words: the bar alone would say nothing to a screen reader.
    static func bar(sent: Int, of size: Int) -> String {
        let width = 20
        let full = size > 0 ? min(width, sent * width / size) : width
        let cells = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
        return "uploading \(cells) \(sent / 1024) of \(size / 1024) KiB"
    }
}
