// SPDX-License-Identifier: Apache-2.0
import Synchronization

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
