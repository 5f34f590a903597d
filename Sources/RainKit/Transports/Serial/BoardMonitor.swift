// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainIO

/// Reads what a board prints on its cable, for as long as somebody wants to know, and types nothing.
///
/// A chip that restarts takes its own USB off the bus with it: the port is opened again once it is back, under whatever name.
public struct BoardMonitor: Sendable {
    /// What happens at the port.
    public enum Event: Sendable {
        /// It was opened, for the first time or again.
        case opened(path: String)
        /// The board has printed a line, which is here without the secrets that firmware prints.
        case line(String)
        /// What the line before says, where it says anything that a client acts on.
        case said(DeviceLogEvent)
        /// It has left the bus, as on a restart of the chip.
        case gone(path: String)
        /// The monitor ends, and so many bytes have come since the last line end. At most 4096 are counted.
        case unfinished(bytes: Int)
    }

    /// Whether a port that is not there, or that goes away for good, is waited for.
    public var waitsForBoard = false
    /// Whether the board is restarted when the port is first opened, so that all that it says is heard.
    public var restarts = false
    /// A person who waits for a board ends the waiting, too.
    private static let longestWait = Duration.seconds(86_400)
    private let path: String
    private let files: SystemFiles
    private let timer: any Clock<Duration>

    init(path: String, in files: SystemFiles, timer: any Clock<Duration>) {
        self.path = path
        self.files = files
        self.timer = timer
    }

    /// Reads until `isDone` answers true, until the time is over, or until its task is cancelled.
    ///
    /// - Parameters:
    ///   - limit: how long at most.
    ///   - isDone: is asked after each piece that was read.
    ///   - event: is handed everything as it comes. What it does not take in time is kept by the port, up to
    ///     `SerialPort.inputCapacity`.
    /// - Returns: what the board's log has said by then.
    /// - Throws: as opening does (`unavailable`, `busy`); `deviceLost` once the port is gone and does not come back; `unsupported` where the
    ///   board is to be restarted and the port has no lines for it; `cancelled`.
    public func run(
        within limit: Duration? = nil, until isDone: @escaping @Sendable () -> Bool = { false },
        event: @escaping @Sendable (Event) -> Void
    ) async throws(ProvisioningError) -> DeviceSummary {
        let began = ContinuousClock.now
        let log = DeviceLog(
            now: { ContinuousClock.now - began }, line: { event(.line($0)) }, event: { event(.said($0)) })
        // A port that does not appear is an error of its own: there is a moment left to say so.
        let wait = limit.map { $0 - min(.milliseconds(200), $0 / 4) } ?? Self.longestWait
        let ports = PortOpening(files: files, timer: timer, waitsUntil: waitsForBoard ? began + wait : nil)
        let follow: @Sendable () async throws(ProvisioningError) -> Void = { () async throws(ProvisioningError) in
            try await self.follow(ports, log, isDone, event)
        }
        if let limit {
            try await withDeadline(limit, sleep: { [timer] in try await timer.sleep(for: $0) }, follow)?.get()
        } else {
            try await follow()
        }
        let moment = log.moment
        if moment.unfinishedBytes > 0 { event(.unfinished(bytes: moment.unfinishedBytes)) }
        return moment.summary
    }

    private func follow(
        _ ports: PortOpening, _ log: DeviceLog, _ isDone: @Sendable () -> Bool, _ event: @Sendable (Event) -> Void
    ) async throws(ProvisioningError) {
        var open = try await ports.open(path) { log.take($0) }
        event(.opened(path: open.port.path))
        do throws(ProvisioningError) {
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
    private func read(_ port: SerialPort, _ isDone: @Sendable () -> Bool) async throws(ProvisioningError) {
        while !isDone() {
            do throws(SerialPortError) {
                _ = try await port.read()
            } catch {
                guard error.code == .lost else { throw ProvisioningError(error) }
                return
            }
        }
    }

    private func next(
        after open: PortOpening.OpenPort, _ ports: PortOpening, _ log: DeviceLog
    ) async throws(ProvisioningError) -> PortOpening.OpenPort {
        repeat {
            if let next = try await ports.reopen(open.description, heard: { log.take($0) }) { return next }
        } while waitsForBoard
        throw ProvisioningError(
            .deviceLost,
            message:
                "The port \(path) is gone, and has not come back: the cable was pulled, or the board has no power.",
            remedies: [.waiting])
    }

    private func restart(_ open: PortOpening.OpenPort) async throws(ProvisioningError) {
        let isOwnUSB = open.description.usb?.adapter.isChipsOwn == true
        do throws(SerialPortError) {
            try await open.port.move(isOwnUSB ? .restartOverUSB : .restart) { try await timer.sleep(for: $0) }
        } catch {
            // The chip's own USB may be gone before the lines are let go of.
            guard !open.port.isGone, error.code != .lost else { return }
            guard error.code != .cancelled else { throw ProvisioningError(error) }
            var failure = ProvisioningError(
                .unsupported, message: "The board cannot be restarted over \(path): press its RESET button.",
                reason: "no_restart")
            failure.cause = error.message
            throw failure
        }
    }
}

extension SerialBoards {
    /// For what the board at a port prints; without a path at the only port that looks like a board's.
    ///
    /// Throws as opening a board does where there is no such port, or several.
    public func monitor(
        _ path: String? = nil, waitsForBoard: Bool = false, within limit: Duration = .seconds(86_400),
        tools: RainKitTools = RainKitTools()
    ) async throws(ProvisioningError) -> BoardMonitor {
        let ports = PortOpening(
            files: files, timer: tools.timer, waitsUntil: waitsForBoard ? .now + limit : nil)
        var monitor = BoardMonitor(path: try await chosen(path, ports), in: files, timer: tools.timer)
        monitor.waitsForBoard = waitsForBoard
        return monitor
    }

    /// The path of the one port that may have a board.
    func onlyPort(tools: RainKitTools) async throws(ProvisioningError) -> String {
        try await chosen(nil, PortOpening(files: files, timer: tools.timer, waitsUntil: nil))
    }
}
