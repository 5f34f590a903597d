// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore

extension AccountSession {
    /// How often the tokens are renewed for one question: once more than usual where the new ones have ended before they were looked at.
    private static let renewals = 2

    /// Asks with tokens that are good for a while, and again with new ones where they were not accepted.
    /// - Returns: the last answer, and the tokens that it was asked with.
    func asking<Answer>(
        _ ask: (Tokens) async throws(AccountError) -> Answer, isRefusal: (Answer) -> Bool
    ) async throws(AccountError) -> (Answer, Tokens) {
        var session = try await keeper.fresh()
        var answer = try await ask(session.tokens)
        for attempt in 0..<Self.renewals {
            guard isRefusal(answer), attempt == 0 || session.tokens.haveExpired(at: keeper.now) else { break }
            logger.debug("the tokens were not accepted, renewing")
            session = try await keeper.renewed(replacing: session.tokens.access)
            answer = try await ask(session.tokens)
        }
        return (answer, session.tokens)
    }

    /// The same for answers that have been read.
    func asking<Value>(
        _ ask: (Tokens) async throws(AccountError) -> Result<Value, AccountError>
    ) async throws(AccountError) -> Value {
        let (answer, tokens) = try await asking(ask) { answer in
            // The RainMaker cloud says it with 400, and portals with 200.
            if case .failure(let error) = answer { error.status == 401 || error.code == .expired } else { false }
        }
        do throws(AccountError) {
            return try answer.get()
        } catch {
            // A session that had ended would have been told by the renewal.
            throw error.withSessionKept(tokens.haveExpired(at: keeper.now) ? tokens.lifetime : nil)
        }
    }
}

extension AccountError {
    /// What a service says of a session that it does not accept, where the provider has renewed it: the session goes on, and so
    /// may what was asked for.
    /// - Parameter lifetime: of the tokens, in seconds, where they had ended by then.
    func withSessionKept(_ lifetime: Double?) -> AccountError {
        guard code == .expired else { return self }
        var error = self
        error.code = .serverFault
        let status = status.map { " (HTTP \($0))" } ?? ""
        error.message =
            "the service did not accept the session\(status), which its provider has renewed and so has not ended; it is kept: "
            + "try again later"
        if let lifetime {
            let seconds = Int(lifetime.rounded())
            error.message += ". New tokens are good for \(seconds) s only, which was over before the answer came"
        }
        return error
    }
}
