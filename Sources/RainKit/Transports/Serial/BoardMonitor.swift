// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainIO

/// Reads a board's output on its cable, and sends nothing.
///
/// When a chip with its own USB restarts, its port is removed. It is opened again when it is back, under any name.
public struct BoardMonitor: Sendable {
    /// An event at the port.
    public enum Event: Sendable {
        /// The port was opened, for the first time or again.
        case opened(path: String)
        /// The board has printed a line. The secrets that firmware prints are removed from it.
        case line(String)
        /// The meaning of the previous line, if a client acts on it.
        case said(DeviceLogEvent)
        /// The port was removed, for example by a restart of the chip.
        case gone(path: String)
        /// The monitor ends, after this number of bytes since the last line end. At most 4096 are counted.
        case unfinished(bytes: Int)
    }

    /// Whether to wait for a port that does not exist, or that was removed for good.
    public var waitsForBoard = false
    /// Whether the board is restarted when the port is first opened, so that all of its output is received.
    public var restarts = false
    /// The limit without a deadline; a person who waits for a board can also end the wait.
    private static let longestWait = Duration.seconds(86_400)
    private let path: String
    private let files: SystemFiles
    private let timer: any Clock<Duration>

    init(path: String, in files: SystemFiles, timer: any Clock<Duration>) {
        self.path = path
        self.files = files
        self.timer = timer
    }

    /// Reads until `isDone` returns true, until the time is over, or until its task is cancelled. Each of these ends it without an error.
    ///
    /// - Parameters:
    ///   - limit: the maximum time.
    ///   - isDone: called after each piece that was read.
    ///   - event: called with each event. If it is slow, the port keeps the input, up to `SerialPort.inputCapacity`.
    /// - Returns: the state of the board's log at the end.
    /// - Throws: The errors of opening (`unavailable`, `busy`). `deviceLost` if the port was removed and does not return. `unsupported` if
    ///   the board is to be restarted and the port has no lines for it.
    public func run(
        within limit: Duration? = nil, until isDone: @escaping @Sendable () -> Bool = { false },
        event: @escaping @Sendable (Event) -> Void
    ) async throws(BoardError) -> DeviceSummary {
        let began = ContinuousClock.now
        let log = DeviceLog(
            now: { ContinuousClock.now - began }, line: { event(.line($0)) }, event: { event(.said($0)) })
        // A port that does not appear is a separate error; this leaves a moment to report it.
        let wait = limit.map { $0 - min(.milliseconds(200), $0 / 4) } ?? Self.longestWait
        let ports = PortOpening(files: files, timer: timer, waitsUntil: waitsForBoard ? began + wait : nil)
        let follow: @Sendable () async throws(BoardError) -> Void = { () async throws(BoardError) in
            try await self.follow(ports, log, isDone, event)
        }
        do throws(BoardError) {
            if let limit {
                try await withDeadline(limit, sleep: { [timer] in try await timer.sleep(for: $0) }, follow)?.get()
            } else {
                try await follow()
            }
        } catch {
            // The log until now is the result, as at the end of the time.
            guard error.code == .cancelled, Task.isCancelled else { throw error }
        }
        let moment = log.moment
        if moment.unfinishedBytes > 0 { event(.unfinished(bytes: moment.unfinishedBytes)) }
        return moment.summary
    }

    private func follow(
        _ ports: PortOpening, _ log: DeviceLog, _ isDone: @Sendable () -> Bool, _ event: @Sendable (Event) -> Void
    ) async throws(BoardError) {
        var open = try await ports.open(path) { log.take($0) }
        event(.opened(path: open.port.path))
        do throws(BoardError) {
            if restarts { try await restart(open) }
            while true {
                try await read(open.port, isDone)
                await open.port.close()
                guard !isDone() else { return }
                event(.gone(path: open.port.path))
                open = try await next(after: open, ports, log)
                event(.opened(path: open.port.path))
            }
        } catch {
            await open.port.close()
            throw error
        }
    }

    /// Returns once the port is gone, or enough was read.
    private func read(_ port: SerialPort, _ isDone: @Sendable () -> Bool) async throws(BoardError) {
        while !isDone() {
            do throws(SerialPortError) {
                _ = try await port.read()
            } catch {
                guard error.code == .lost else { throw BoardError(error) }
                return
            }
        }
    }

    private func next(
        after open: PortOpening.OpenPort, _ ports: PortOpening, _ log: DeviceLog
    ) async throws(BoardError) -> PortOpening.OpenPort {
        repeat {
            if let next = try await ports.reopen(open.description, heard: { log.take($0) }) { return next }
        } while waitsForBoard
        throw BoardError(
            .deviceLost,
            message:
                "The port \(path) was removed and has not returned: check the cable, and that the board has power.",
            remedies: [.waiting])
    }

    private func restart(_ open: PortOpening.OpenPort) async throws(BoardError) {
        let isOwnUSB = open.description.usb?.adapter.isChipsOwn == true
        do throws(SerialPortError) {
            try await open.port.move(isOwnUSB ? .restartOverUSB : .restart) { try await timer.sleep(for: $0) }
        } catch {
            // The chip's own USB may be gone before the lines are released.
            guard !open.port.isGone, error.code != .lost else { return }
            guard error.code != .cancelled else { throw BoardError(error) }
            var failure = BoardError(
                .unsupported, message: "The board cannot be restarted over \(path). Press its RESET button.",
                reason: "no_restart")
            failure.cause = error.message
            throw failure
        }
    }
}

extension SerialBoards {
    /// Returns a monitor for the board at a port; without a path at the only port that looks like a board's.
    ///
    /// Throws the errors of opening a board if there is no such port, or several.
    public func monitor(
        _ path: String? = nil, waitsForBoard: Bool = false, within limit: Duration = .seconds(86_400),
        tools: RainKitTools = RainKitTools()
    ) async throws(BoardError) -> BoardMonitor {
        let ports = PortOpening(
            files: files, timer: tools.timer, waitsUntil: waitsForBoard ? .now + limit : nil)
        var monitor = BoardMonitor(path: try await chosen(path, ports), in: files, timer: tools.timer)
        monitor.waitsForBoard = waitsForBoard
        return monitor
    }

    /// Returns the path of the only port that may have a board.
    func onlyPort(tools: RainKitTools) async throws(BoardError) -> String {
        try await chosen(nil, PortOpening(files: files, timer: tools.timer, waitsUntil: nil))
    }
}
