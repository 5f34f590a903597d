// SPDX-License-Identifier: Apache-2.0
import RainKit

/// The events of `--events ndjson`, from a command's start to its end. The last line has the command's outcome.
final class EventStream: Sendable {
    /// Writes the lines; nil if no events were requested.
    let writer: EventDocument.Writer?
    private let output: Output

    /// The events of a run with a board. Warnings are events, too.
    convenience init(_ context: Context, _ form: Provision.Events?, _ device: DeviceOptions) {
        self.init(context, form, device: device.deviceName ?? device.port ?? device.deviceHost ?? "")
        guard let writer else { return }
        context.output.warnings.listen { [weak writer] in writer?.warning(reason: $0.reason, message: $0.message) }
    }

    /// The events of a sign-in.
    convenience init(ofSignIn context: Context, _ form: Provision.Events?) { self.init(context, form, step: "sign_in") }

    private init(_ context: Context, _ form: Provision.Events?, device: String = "", step: String? = nil) {
        output = context.output
        writer = form.map { [output] _ in
            EventDocument.Writer(
                run: context.runID, device: device, step: step,
                describing: { RainKitError.Document(CommandFailure($0)) }, { output.event($0) })
        }
    }

    /// Does the command's work. Its result or error becomes the last line. The result is also printed as for other commands if standard
    /// output is not used for events.
    /// - Parameter showsText: whether the result is printed as text; a document is printed in any case.
    func ending(showsText: Bool = true, _ work: () async throws -> some CommandResult) async throws {
        do {
            let result = try await work()
            writer?.done(result)
            if writer == nil && showsText || output.isJSON { output.result(result) }
        } catch {
            let failure = CommandFailure(error)
            writer?.ended(failure)
            throw failure
        }
    }

    /// Reports the changes of the session while `work` signs in.
    func following<Result>(_ session: AccountSession, _ work: () async throws -> Result) async throws -> Result {
        guard let writer else { return try await work() }
        let events = session.events()
        let telling = Task { for await event in events { writer.take(event) } }
        do {
            let result = try await work()
            await Self.finish(telling)
            return result
        } catch {
            await Self.finish(telling)
            writer.failed(error, as: "sign_in_failed")
            throw error
        }
    }

    /// A cancelled stream still delivers the events that it holds.
    private static func finish(_ telling: Task<Void, Never>) async {
        telling.cancel()
        await telling.value
    }
}
