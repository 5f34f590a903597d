// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// A read or a write of one attribute of a board's: done again while the board is busy with another, and once after pairing where it wants
/// that.
struct GATTOperation: Sendable {
    /// The board whose link it needs.
    var device: String
    /// The attribute.
    var path: String
    var interface: String
    var member: String
    var arguments: [DBusValue]
    /// Whether an attribute that may not be used is one of a link that is about to end. Reading the names of endpoints does without: a name
    /// that the board keeps to itself is guessed, and each would cost the wait.
    var doubtsRefusals = true

    static func read(_ path: String, _ interface: String, of device: String) -> GATTOperation {
        GATTOperation(
            device: device, path: path, interface: interface, member: "ReadValue", arguments: [.properties([])])
    }

    static func write(_ value: [UInt8], to path: String, of device: String) -> GATTOperation {
        GATTOperation(
            device: device, path: path, interface: BlueZName.characteristic, member: "WriteValue",
            arguments: [.bytes(value), .properties([("type", .string("request"))])])
    }

    enum Failure: Error {
        /// Never `ambiguous`: by then it is known what became of the link.
        case failed(GATTFailure, DBusError)
        /// Pairing failed, or was called off.
        case notPaired(BluetoothError)
    }

    /// Ends with the link at the latest, whatever BlueZ does about it.
    @discardableResult
    func run(
        through adapter: OpenAdapter, until end: ContinuousClock.Instant
    ) async throws(Failure) -> [DBusValue] {
        var hasPaired = false
        var wasBusy = false
        var pause = Duration.milliseconds(2)
        while true {
            let left = max(end - ContinuousClock.now, .milliseconds(1))
            switch await race(adapter, left) {
            case .success(let answer): return answer
            case .failure(let error):
                switch GATTFailure(error) {
                case .busy where ContinuousClock.now < end:
                    // An operation that was given up is still under way at the board.
                    wasBusy = true
                    do { try await Task.sleep(for: pause) } catch { throw .failed(.cancelled, .cancelled) }
                    pause = min(pause * 2, .milliseconds(50))
                case .wantsPairing where !hasPaired:
                    hasPaired = true
                    do { try await adapter.pair(device, within: left) } catch {
                        // BlueZ had keys that the board has lost: the link ends as it is to be encrypted.
                        if adapter.watch.read({ $0.isBonded(device) }), await isCutOff(adapter) {
                            throw .failed(.linkLost, .notConnected)
                        }
                        throw .notPaired(error)
                    }
                // A link that stayed busy to the end is stuck, whichever of the two is said last: another one helps.
                case .timeout where wasBusy: throw .failed(.busy, error)
                case .ambiguous: throw .failed(await isCutOff(adapter) ? .linkLost : .unclear, error)
                // The attributes of a board that goes can be gone a moment before its link, and so can the right to use them.
                case .notAllowed where doubtsRefusals:
                    throw .failed(await isCutOff(adapter) ? .linkLost : .notAllowed, error)
                case .timeout where error.code == .remote:
                    throw .failed(await isCutOff(adapter) ? .linkLost : .timeout, error)
                case let failure: throw .failed(failure, error)
                }
            }
        }
    }

    /// Whether the link or the attribute is gone, or goes in a moment: BlueZ says what it cut off before it says that the link has ended.
    /// A board that takes its services away and stays connected is of no more use than one that left.
    private func isCutOff(_ adapter: OpenAdapter) async -> Bool {
        let (device, path, interface) = (device, path, interface)
        return await adapter.isTrue(within: .seconds(1), of: [device, path]) { tree in
            !BoardLink.isConnected(device, tree) || tree[path, interface] == nil
        }
    }

    private func race(_ adapter: OpenAdapter, _ limit: Duration) async -> Result<[DBusValue], DBusError> {
        let device = device
        return await withTaskGroup(of: Result<[DBusValue], DBusError>?.self) { group in
            group.addTask {
                do throws(DBusError) {
                    return .success(try await adapter.call(path, interface, member, arguments, within: limit))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                let isDown = await adapter.isTrue(within: limit + .seconds(1), of: [device]) { tree in
                    !BoardLink.isConnected(device, tree)
                }
                return isDown ? .failure(.notConnected) : nil
            }
            defer { group.cancelAll() }
            for await result in group { if let result { return result } }
            return .failure(.cancelled)
        }
    }
}

extension OpenAdapter {
    /// Waits until that holds of those objects, or until the adapter is gone; false where neither comes in time.
    fileprivate func isTrue(
        within limit: Duration, of paths: [String], _ holds: @escaping @Sendable (ObjectTree) -> Bool
    ) async -> Bool {
        do {
            return try await watch.wait(forAny: paths, within: limit) { tree, _ -> Bool? in holds(tree) ? true : nil }
        } catch {
            return error.code == .radioLost
        }
    }
}

extension DBusError {
    fileprivate static let cancelled = DBusError(.cancelled, message: "Cancelled.")
    fileprivate static let notConnected = DBusError(
        .remote, name: BlueZErrorName.notConnected, message: "Not connected")
}
