// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// One value for the one task that waits for it.
///
/// The value may come before the task waits, or while it does; what comes after the first is dropped. So the task may be registered
/// somewhere first and wait afterwards, and cancelling it before, while or after it waits needs no care of its own.
package final class Waiter<Value: Sendable>: Sendable {
    private enum Stage {
        case new
        case waiting(CheckedContinuation<Value, Never>)
        case given(Value)
        case over
    }

    private let stage = Mutex(Stage.new)

    package init() {}

    /// Gives the value. Only the first call has an effect.
    ///
    /// - Returns: whether this was the first.
    @discardableResult
    package func resume(returning value: Value) -> Bool {
        let (isFirst, continuation) = stage.withLock { stage -> (Bool, CheckedContinuation<Value, Never>?) in
            switch stage {
            case .new:
                stage = .given(value)
                return (true, nil)
            case .waiting(let continuation):
                stage = .over
                return (true, continuation)
            case .given, .over: return (false, nil)
            }
        }
        continuation?.resume(returning: value)
        return isFirst
    }

    /// Waits for the value. To be called once.
    ///
    /// - Parameter onCancel: called when the task is cancelled, at once where it was before. It has to see to it that the value comes:
    ///   most often by ``resume(returning:)``, after it has taken the waiter out of where it was registered.
    package func value(onCancel: @Sendable () -> Void) async -> Value {
        await withTaskCancellationHandler {
            await value()
        } onCancel: {
            onCancel()
        }
    }

    /// Waits for the value, also where the task is cancelled.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let value: Value? = stage.withLock { stage in
                guard case .given(let value) = stage else {
                    stage = .waiting(continuation)
                    return nil
                }
                stage = .over
                return value
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}

extension Waiter where Value == Void {
    package func resume() { resume(returning: ()) }
}
