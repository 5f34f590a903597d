// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// The events of `login --events ndjson`: the changes of the session, in lines with the members of every event. The last line has the
/// command's outcome. Silent if no events were requested.
final class SignInEvents: Sendable {
    private let run: String
    private let output: Output
    private let isOn: Bool
    private let began = ContinuousClock.now

    init(_ context: Context, _ form: Provision.Events?) {
        run = context.runID
        output = context.output
        isOn = form != nil
    }

    /// Does the command's work. Its result or error becomes the last line. The result is also printed as for other commands if standard
    /// output is not used for events.
    func ending(_ work: () async throws -> LoginResult) async throws {
        write("started", .ok, EventDetail(detail: nil))
        do {
            let result = try await work()
            write("done", .ok, result)
            if !isOn || output.isJSON { output.result(result) }
        } catch {
            let failure = CommandFailure(error)
            write("ended", failure.status, ErrorResult(failure).error)
            throw failure
        }
    }

    /// Reports the changes of the session while `work` signs in.
    func following<Result>(_ session: AccountSession, _ work: () async throws -> Result) async throws -> Result {
        guard isOn else { return try await work() }
        let events = session.events()
        let telling = Task { for await event in events { take(event) } }
        do {
            let result = try await work()
            await Self.finish(telling)
            return result
        } catch {
            await Self.finish(telling)
            let failure = CommandFailure(error)
            write("sign_in_failed", failure.status, EventDetail(detail: failure.message))
            throw error
        }
    }

    /// A cancelled stream still delivers the events that it holds.
    private static func finish(_ telling: Task<Void, Never>) async {
        telling.cancel()
        await telling.value
    }

    /// Reports an answer that belongs to another sign-in; this sign-in continues to wait.
    func refused(_ foreign: AccountError) {
        write("answer_not_accepted", CommandFailure(foreign).status, EventDetail(detail: foreign.message))
    }

    /// Reports that the user has the address of the sign-in page.
    func pageShown() { write("page_shown", .ok, EventDetail(detail: nil)) }

    private func take(_ event: AccountEvent) {
        switch event {
        case .loaded(let status): write("credentials_loaded", .ok, SessionDetail(status))
        case .saved(let status): write("credentials_saved", .ok, SessionDetail(status))
        case .signedIn(let status): write("signed_in", .ok, SessionDetail(status))
        // Reported after the work has thrown it, because the stream may end before.
        case .signInFailed: break
        case .refreshed: write("refreshed", .ok, EventDetail(detail: nil))
        case .expired, .signedOut: write("signed_out", .ok, EventDetail(detail: nil))
        }
    }

    private func write(_ word: String, _ code: ExitStatus, _ more: some Encodable) {
        guard isOn else { return }
        output.event(
            EventLine(
                time: Timestamp.text(Timestamp.now()), run: run, device: "", step: "sign_in", state: word,
                code: code.name, attempt: 1, elapsedMilliseconds: Int64(began.duration(to: .now) / .milliseconds(1)),
                nodeID: nil, more: more))
    }
}

/// The further members of an event about a session: its user, with everything that the provider reports about them.
struct SessionDetail: Encodable {
    let userName: String
    let userID: String
    /// Absent if the provider reports nothing more.
    let attributes: JSONValue?

    private enum CodingKeys: String, CodingKey {
        case userName = "user_name"
        case userID = "user_id"
        case attributes
    }

}

extension SessionDetail {
    init(_ status: SessionStatus) {
        self.init(
            userName: status.userName, userID: status.userID.rawValue,
            attributes: status.attributes.isEmpty ? Optional.none : .object(status.attributes))
    }
}
