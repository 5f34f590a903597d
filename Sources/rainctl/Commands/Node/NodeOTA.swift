// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker
import Synchronization

struct NodeOTA: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "ota", abstract: "Send new firmware to a board over the air.",
        discussion: """
            Example: rainctl node ota 'Kitchen lamp' build/led_light.bin

            Before the upload, rainctl checks the image's chip and size. Ctrl-C ends the command, but not the update. To see the progress, \
            run rainctl node params get NODE OTA. For updates from RainMaker's dashboard, use rainctl node update.
            """)

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(
        help: ArgumentHelp("The application image: the .bin file that the build writes.", valueName: "file"),
        completion: .file())
    var image: String

    @Flag(inversion: .prefixedNo, help: "Wait until the board has installed the image.")
    var wait = true

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(300))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> UpdateResult {
        let bytes = try SecretSource.contents(
            of: image, name: "image", maximumBytes: RainMakerCloud.maximumImage, isExact: true, within: scene.time.left
        ).revealBytes()
        let (name, client, isFollowed) = (node, scene.client, wait)
        let found = try await scene.time.run { try await client.node(named: name) }
        let update = try FirmwareUpdate(
            bytes, named: String(image.split(separator: "/").last ?? "image.bin"), for: found)
        for warning in update.warnings { scene.context.output.warn(warning.message, reason: warning.reason) }
        let screen = UpdateScreen(scene.context, options)
        screen.say("uploading \(update.image.project) \(update.image.version), \(bytes.count) bytes")
        let report: @Sendable (FirmwareUpdateEvent) -> Void = { screen.take($0, of: found) }
        let sent = try await scene.time.run { try await client.send(update, isFollowed: isFollowed, report: report) }
        guard wait else { return UpdateResult(found.id, update.image, state: "sent", info: nil, name: found.shownName) }
        async let _ = screen.count("waiting for \(found.shownName)")
        let outcome = try await client.follow(sent, for: scene.time.leftForWaiting, report: report)
        let result = UpdateResult(
            found.id, update.image, state: outcome.status, info: outcome.info, name: found.shownName)
        guard let error = outcome.error(at: found) else { return result }
        var failure = CommandFailure(error)
        failure.result = result
        throw failure
    }
}

extension UpdateResult: CommandResult {
    var isProse: Bool { true }

    var text: String {
        let words =
            switch state {
            case "success": "has \(project) \(version)"
            case "sent": "was asked to fetch \(project) \(version)"
            default: "reports \(state)" + (info.map { ": \($0)" } ?? "")
            }
        return "\(name) \(words)".onOneLine
    }
}

/// Shows the progress of an update on standard error. On a terminal, that is a bar during the upload, then a line that counts seconds.
final class UpdateScreen: Sendable {
    private let output: Output
    private let screen: Screen
    private let isLive: Bool
    private let start = ContinuousClock.now
    private let drawnAt = Mutex<ContinuousClock.Instant?>(nil)

    init(_ context: Context, _ options: GlobalOptions) {
        output = context.output
        screen = context.screen
        isLive = ProgressReport.form(options) == .live
    }

    func take(_ event: FirmwareUpdateEvent, of node: Node) {
        switch event {
        case .uploaded(let bytes, let size): draw(sent: bytes, of: size)
        case .retrying(let words), .news(let words): say(words)
        case .sent(isOffline: true): say("the cloud has received the update, but \(node.shownName) is offline")
        case .sent(isOffline: false): say("the cloud has notified \(node.shownName), which fetches the image")
        }
    }

    /// Prints a line that is not overwritten.
    func say(_ line: String) {
        let line = "[\(seconds) s] \(line)".onOneLine
        guard isLive else { return output.say(line) }
        screen.write(line.withoutControls)
    }

    /// Draws how much of an image is sent, at most ten times a second.
    func draw(sent: Int, of size: Int) {
        draw(DrawnSigns.shown(Self.bar(sent: sent, of: size), processEnvironment()), isLast: sent >= size)
    }

    /// Draws what the command waits for and the time, until the task is cancelled.
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

    /// A bar of twenty cells, and the bytes as text, because a screen reader cannot read the bar.
    static func bar(sent: Int, of size: Int) -> String {
        let width = 20
        let full = size > 0 ? min(width, sent * width / size) : width
        let cells = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
        return "uploading \(cells) \(sent / 1024) of \(size / 1024) KiB"
    }
}
