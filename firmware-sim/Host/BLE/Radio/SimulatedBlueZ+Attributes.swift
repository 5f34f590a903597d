// SPDX-License-Identifier: Apache-2.0
import RainDBus

extension SimulatedBlueZ {
    mutating func receiveAttribute(_ call: RadioCall, at object: BlueZPath, now: UInt64) throws(BlueZError) {
        switch (call.member, object) {
        case ("ReadValue", .characteristic(let index, let characteristic)):
            try checkLink(index)
            let offset = try Self.offset(call.arguments[0])
            try read(index, characteristic, .read(offset: offset), call, now: now)
        case ("ReadValue", .descriptor(let index, let characteristic)):
            try checkLink(index)
            let offset = try Self.offset(call.arguments[0])
            try read(index, characteristic, .readDescription(offset: offset), call, now: now)
        case ("WriteValue", .characteristic(let index, let characteristic)):
            try write(index, characteristic, call, now: now)
        case ("WriteValue", .descriptor(let index, _)):
            try checkLink(index)
            throw BlueZError(.writeNotPermitted)
        // There are no notifications, and there is no write without response.
        default: throw .notSupported
        }
    }

    private func checkLink(_ index: Int) throws(BlueZError) {
        guard devices[index].link == .up, devices[index].isResolved else { throw .notConnected }
    }

    private static func offset(_ options: DBusValue) throws(BlueZError) -> Int {
        guard let value = options["offset"] else { return 0 }
        guard case .uint16(let offset) = value else { throw .invalidArguments }
        return Int(offset)
    }

    private mutating func read(
        _ index: Int, _ characteristic: Int, _ kind: GATTOperation.Kind, _ call: RadioCall, now: UInt64
    ) throws(BlueZError) {
        let pending = devices[index].operations.firstIndex {
            $0.characteristic == characteristic && !$0.isWrite && kind.isSameAttribute(as: $0.kind)
        }
        if let pending {
            // A second read of the same value joins the one in progress.
            guard devices[index].operations[pending].kind == kind else { throw .inProgress }
            devices[index].operations[pending].calls.append(call)
        } else {
            devices[index].operations.append(
                GATTOperation(kind: kind, characteristic: characteristic, calls: [call]))
            operate(index, now: now)
        }
    }

    private mutating func write(
        _ index: Int, _ characteristic: Int, _ call: RadioCall, now: UInt64
    ) throws(BlueZError) {
        let (value, options) = (call.arguments[0].byteArray ?? [], call.arguments[1])
        let offset = try Self.offset(options)
        if let type = options["type"] {
            guard case .string(let name) = type else { throw .invalidArguments }
            switch name {
            case "request": break
            case "command", "reliable": throw .notSupported
            default: throw .invalidArguments
            }
        }
        try checkLink(index)
        guard offset == 0 else { throw BlueZError(.invalidOffset) }
        guard !devices[index].operations.contains(where: { $0.isWrite && $0.characteristic == characteristic }) else {
            throw .inProgress
        }
        devices[index].operations.append(
            GATTOperation(kind: .write(value), characteristic: characteristic, calls: [call]))
        operate(index, now: now)
    }

    // MARK: One operation at a time

    /// Passes the first waiting operation to the board.
    mutating func operate(_ index: Int, now: UInt64) {
        while !devices[index].isOperating, let operation = devices[index].operations.first {
            if operation.isOfValue, mustEncrypt(index, now: now) { return }
            devices[index].isOperating = true
            switch operation.kind {
            case .write(let value):
                if isLost(index) {
                    if devices[index].loss?.moment == .beforeHandler { return lose(index, now: now) }
                }
                effects.append(.write(board: index, characteristic: operation.characteristic, value: value))
            case .read(let offset):
                effects.append(.read(board: index, characteristic: operation.characteristic, offset: offset))
            case .readDescription(let offset):
                let text = devices[index].application.characteristics[operation.characteristic].userDescription
                devices[index].lastDescriptions.insert(operation.characteristic)
                finish(
                    index, offset <= text.count ? .success(Array(text[offset...])) : .failure(.invalidOffset), now: now)
            }
        }
    }

    /// Counts a write. Returns true if the link breaks around it.
    private mutating func isLost(_ index: Int) -> Bool {
        guard devices[index].loss != nil else { return false }
        devices[index].loss?.writes -= 1
        return devices[index].loss?.writes == 0
    }

    private mutating func lose(_ index: Int, now: UInt64) {
        effects.append(.fault(board: index, "lose"))
        lossesLeft = lossesLeft.map { $0 - 1 }
        dropLink(index, "lost", now: now)
        if faults.changesAddress { readdress(index, now: now) }
    }

    /// Handles the board's result of a write. Do not call it for ``GATTWriteOutcome/later``.
    mutating func wrote(_ index: Int, outcome: GATTWriteOutcome, now: UInt64) {
        guard devices[index].isOperating, let operation = devices[index].operations.first, operation.isWrite else {
            return
        }
        let isLost = devices[index].loss?.writes == 0
        if isLost, devices[index].loss?.moment == .afterHandler { return lose(index, now: now) }
        devices[index].operations.removeFirst()
        devices[index].isOperating = false
        switch outcome {
        case .acknowledged: for call in operation.calls { reply(call) }
        case .refused(let error, let closesLink):
            for call in operation.calls { fail(call, BlueZError(error)) }
            if closesLink { return dropLink(index, "closed by the board", now: now) }
        case .later: return
        }
        if isLost { return lose(index, now: now) }
        operate(index, now: now)
    }

    /// Handles the board's answer to a read.
    mutating func didRead(_ index: Int, result: Result<[UInt8], ATTError>, now: UInt64) {
        finish(index, result, now: now)
        operate(index, now: now)
    }

    private mutating func finish(_ index: Int, _ result: Result<[UInt8], ATTError>, now: UInt64) {
        guard devices[index].isOperating, let operation = devices[index].operations.first, !operation.isWrite else {
            return
        }
        devices[index].operations.removeFirst()
        devices[index].isOperating = false
        switch result {
        case .failure(let error): for call in operation.calls { fail(call, BlueZError(error)) }
        case .success(let value):
            if case .read = operation.kind {
                devices[index].lastValues[operation.characteristic] = value
                changed(.characteristic(index, operation.characteristic), [("Value", .bytes(value))])
            } else {
                changed(.descriptor(index, operation.characteristic), [("Value", .bytes(value))])
            }
            for call in operation.calls { reply(call, [.bytes(value)]) }
        }
    }

    /// Answers all waiting operations, those in progress first.
    mutating func failOperations(_ index: Int, _ error: BlueZError) {
        let operations = devices[index].operations
        let wasOperating = devices[index].isOperating
        devices[index].operations = []
        devices[index].isOperating = false
        for (position, operation) in operations.enumerated() {
            for call in operation.calls { fail(call, position == 0 && wasOperating ? .operationFailed : error) }
        }
    }
}

extension GATTOperation.Kind {
    /// Whether both read the value, or both read the description.
    fileprivate func isSameAttribute(as other: GATTOperation.Kind) -> Bool {
        switch (self, other) {
        case (.read, .read), (.readDescription, .readDescription): true
        default: false
        }
    }
}
