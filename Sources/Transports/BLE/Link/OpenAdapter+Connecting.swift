// SPDX-License-Identifier: Apache-2.0
import Logging
import ProtocommCore
import RainDBus

/// From a name to a connection whose endpoints are known.
extension OpenAdapter {
    /// Reading one endpoint's name.
    private static let nameLimit = Duration.seconds(10)

    /// Finds the board and connects to it, again and again while attempts are aborted or the board vanishes.
    ///
    /// - Parameters:
    ///   - filter: which board; of several, the first that is heard.
    ///   - limit: for everything, all attempts together; what is left of the last one may take a few seconds more to end.
    ///   - isFresh: has BlueZ forget what it remembers of the board first. That also happens, once, where a connection has not the
    ///     endpoints of a board.
    /// - Throws: `notFound`, `connectionFailed`, a problem with this machine's Bluetooth, `radioLost` where this adapter is over, `cancelled`.
    func connect(
        _ filter: BoardFilter, within limit: Duration, isFresh: Bool = false
    ) async throws(BluetoothError) -> BoardLink {
        var tried: String?
        do {
            return try await keepTrying(filter, within: limit, isFresh: isFresh, &tried)
        } catch {
            // An attempt that was called off is still ending.
            if let tried, error.code != .cancelled { await leave(tried, isOurs: false) }
            if let tried { await forbidPairing(tried) }
            throw error
        }
    }

    private func keepTrying(
        _ filter: BoardFilter, within limit: Duration, isFresh: Bool, _ tried: inout String?
    ) async throws(BluetoothError) -> BoardLink {
        var attempts = ConnectAttempts(within: limit, hasForgotten: isFresh)
        if isFresh {
            let known = try await find(filter, until: attempts.end)
            await forget(known.board.path)
            known.hold.release()
        }
        var candidate: Candidate?
        while true {
            let target: Candidate
            if let candidate {
                target = candidate
            } else {
                do { target = try await find(filter, until: attempts.end) } catch { throw attempts.unfound(error) }
            }
            candidate = nil
            tried = target.board.path
            let next: ConnectAttempts.Next
            do {
                return try await attempt(target, until: attempts.end)
            } catch {
                logger.debug(
                    "connection failed",
                    metadata: ["board": "\(target.board.label)", "attempt": "\(attempts.number)"])
                let isBonded = watch.read { $0.isBonded(target.board.path) }
                next = try attempts.failed(error, board: target.board.label, isBonded: isBonded)
            }
            switch next {
            case .sameBoard(let pause):
                candidate = target
                try await rest(pause)
            case .listenAgain(let pause): try await rest(pause)
            case .forget: await forget(target.board.path)
            }
        }
    }

    private func rest(_ pause: Duration) async throws(BluetoothError) {
        guard pause > .zero else { return }
        do { try await Task.sleep(for: pause) } catch { throw .cancelled }
    }

    /// A board, for this transport alone.
    private struct Candidate {
        var board: DiscoveredBoard
        var hold: BoardHold
    }

    // MARK: finding

    /// Waits until a board is heard that no transport of this process has.
    ///
    /// One that this machine is connected to already is taken only where it was named, since nothing tells whether another program talks
    /// to it or left it behind (the official client does after a failure): that connection is ended, its session is not ours.
    private func find(
        _ filter: BoardFilter, until end: ContinuousClock.Instant
    ) async throws(BluetoothError) -> Candidate {
        while true {
            guard let board = try await firstHeard(filter, until: end) else {
                throw nothingHeard(filter)
            }
            // Another transport of this process may have been faster.
            guard let hold = holds.take(board.path, isConnected: board.isConnected) else { continue }
            guard board.isConnected else { return Candidate(board: board, hold: hold) }
            logger.debug("ending another program's connection", metadata: ["board": "\(board.label)"])
            await disconnect(board.path)
            hold.release()
        }
    }

    /// How long a board that was found before is listened for under its address, before another with its name is taken for it.
    private static let addressLimit = Duration.seconds(4)

    private func firstHeard(
        _ filter: BoardFilter, until end: ContinuousClock.Instant
    ) async throws(BluetoothError) -> DiscoveredBoard? {
        guard let renewed = filter.underAnotherAddress else { return try await hear(filter, until: end) }
        if let board = try await hear(filter, until: min(end, .now + Self.addressLimit)) { return board }
        return try await hear(renewed, until: end)
    }

    private func hear(
        _ filter: BoardFilter, until end: ContinuousClock.Instant
    ) async throws(BluetoothError) -> DiscoveredBoard? {
        let heard = FirstHeard()
        let (holds, mayBeConnected) = (holds, filter.isUnique)
        var heardBefore: Set<String> = []
        try await discover(
            filter, until: end, except: &heardBefore,
            where: { board in
                (mayBeConnected || !board.isConnected) && holds.isFree(board.path, isConnected: board.isConnected)
            }
        ) { board in
            await heard.take(board)
            return false
        }
        return await heard.board
    }

    private func nothingHeard(_ filter: BoardFilter) -> BluetoothError {
        let adapter = path
        let occupied = watch.read { tree in
            tree.paths(with: BlueZName.device, below: adapter).compactMap { DiscoveredBoard(path: $0, in: tree) }
                .first { $0.isConnected && filter.matches($0) }
        }
        guard let occupied else {
            return BluetoothError(
                .notFound,
                message: "No Bluetooth board \(filter.isUnique ? filter.label + " " : "")was heard: check that it is "
                    + "powered, near, and in provisioning mode.")
        }
        guard filter.isUnique else {
            return BluetoothError(
                .notFound,
                message: "No free Bluetooth board was heard, and this machine is connected to \(occupied.label): name "
                    + "that one to take it from whoever uses it.")
        }
        return BluetoothError(
            .connectionFailed,
            message:
                "\(occupied.label) is in use by this very program: wait until it is done with it, or use one transport for both."
        )
    }

    // MARK: one attempt

    private func attempt(
        _ target: Candidate, until end: ContinuousClock.Instant
    ) async throws(AttemptError) -> BoardLink {
        let board = target.board
        let device = board.path
        watch.change { tree in
            tree.adopt(device)
            return .nothing
        }
        await allowPairing(device)
        do throws(DBusError) {
            try await call(device, BlueZName.device, "Connect", within: ConnectShare.connect(of: end - .now))
        } catch {
            // BlueZ goes on trying otherwise, and refuses the next attempt.
            if error.code == .timeout { await release(device) }
            if error.code == .cancelled { await letGo(device) }
            if error.name != BlueZErrorName.alreadyConnected {
                throw .failed(ConnectFailure(error, adapter: path), error)
            }
        }
        do throws(AttemptError) {
            try await resolve(device, until: .now + ConnectShare.resolve(of: end - .now))
            let map = try await endpoints(of: device, until: end)
            guard map.isComplete else { throw .stale }
            let mtu = watch.read { tree in
                map[.session].flatMap { tree[$0, BlueZName.characteristic]?["MTU"]?.integer }
            }
            logger.debug(
                "connected", metadata: ["board": "\(board.label)", "mtu": "\(mtu.map(String.init) ?? "unknown")"])
            target.hold.connected()
            return BoardLink(adapter: self, board: board, hold: target.hold, endpoints: map, mtu: mtu)
        } catch {
            // Nobody waits for the end of a link after a cancellation.
            if error.isCancellation { await letGo(device) } else { await release(device) }
            throw error
        }
    }

    /// Waits for the services. The signals that tell of them are not all there is: the first connection after BlueZ started often gets
    /// none, so the properties are read as well.
    private func resolve(_ device: String, until end: ContinuousClock.Instant) async throws(AttemptError) {
        var pause = Duration.milliseconds(250)
        while true {
            do throws(DBusError) {
                try await refresh(device, BlueZName.device, within: min(end - .now, Self.callLimit))
            } catch {
                switch error.code {
                case .cancelled: throw .other(.cancelled)
                case .remote: throw .lost
                default: throw .failed(ConnectFailure(error, adapter: path), error)
                }
            }
            let isUp: Bool
            do {
                isUp = try await watch.wait(for: device, within: min(pause, end - ContinuousClock.now)) {
                    tree, _ -> Bool? in
                    guard BoardLink.isConnected(device, tree) else { return false }
                    return tree[device, BlueZName.device]?["ServicesResolved"]?.boolean == true ? true : nil
                }
            } catch {
                guard error.code == .timeout else { throw .other(error) }
                guard ContinuousClock.now < end else {
                    throw .failed(.again, DBusError(.timeout, message: "its services were not found"))
                }
                pause = min(pause * 2, .seconds(2))
                continue
            }
            guard isUp else { throw .lost }
            return
        }
    }

    /// Reads the names of all endpoints.
    private func endpoints(
        of device: String, until end: ContinuousClock.Instant
    ) async throws(AttemptError) -> EndpointMap {
        let characteristics = watch.read { EndpointMap.characteristics(of: device, in: $0) }
        var map = EndpointMap()
        for characteristic in characteristics {
            map.add(characteristic, name: try await name(characteristic, of: device, until: end))
        }
        return map
    }

    /// Nil where the board has no name for it, or keeps it to itself. One that is late says nothing about its endpoints: another connection
    /// may be better.
    private func name(
        _ characteristic: EndpointMap.Characteristic, of device: String, until end: ContinuousClock.Instant
    ) async throws(AttemptError) -> [UInt8]? {
        guard let path = characteristic.description else { return nil }
        do throws(GATTOperation.Failure) {
            var question = GATTOperation.read(path, BlueZName.descriptor, of: device)
            question.doubtsRefusals = false
            let answer = try await question.run(through: self, until: min(end, .now + Self.nameLimit))
            return answer.first?.byteArray
        } catch {
            switch error {
            case .notPaired(let error): throw .other(error)
            case .failed(.cancelled, _): throw .other(.cancelled)
            case .failed(.linkLost, _), .failed(.timeout, _), .failed(.busy, _): throw .lost
            // The board keeps it to itself, or answers nonsense.
            case .failed: return nil
            }
        }
    }
}

private actor FirstHeard {
    private(set) var board: DiscoveredBoard?
    func take(_ board: DiscoveredBoard) { self.board = board }
}
