// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// The error that `body` throws; nil if it throws none.
public func accountError<Result>(_ body: () async throws(AccountError) -> Result) async -> AccountError? {
    do throws(AccountError) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}

/// The code of the error that `body` throws; nil if it throws none.
public func code<Result>(_ body: () async throws(AccountError) -> Result) async -> String? {
    await accountError(body)?.code.description
}

extension AccountEvent {
    /// A word for the event, and what it carries.
    public var name: String {
        switch self {
        case .loaded: "loaded"
        case .saved: "saved"
        case .signedIn: "signedIn"
        case .signInFailed(let error): "signInFailed \(error.code)"
        case .refreshed: "refreshed"
        case .expired(let error): "expired \(error.serverCode ?? 0)"
        case .signedOut(let place): "signedOut \(place)"
        }
    }
}
