// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainMaker
import RainPrivateFiles

/// A sign-in that waits for its one-time code, kept in a private file so that another process can finish it: the cloud takes the code only
/// with the session that it gave for it.
public struct PendingSignIn: Sendable {
    private let file: PrivateFile
    /// The code and the cloud's session are sent to the base URL that the sign-in began at, and to no other.
    private let base: ServiceURL

    /// - Parameters:
    ///   - state: the client's folder.
    ///   - deployment: where the sign-in began.
    public init(state: String, deployment: Deployment) {
        file = PrivateFile(path: "\(state)/sign-in-\(deployment.name).json")
        base = deployment.base
    }

    /// Throws `cannotStore`.
    public func save(_ challenge: SignInChallenge) throws(AccountError) {
        let content: JSONValue = [
            "schemaVersion": 1, "base_url": .string(base.text), "user_name": .string(challenge.userName),
            "session": .string(challenge.session.revealString()),
        ]
        do throws(PrivateFileError) {
            try file.write(content.serialized(pretty: true) + [0x0A])
        } catch {
            throw AccountError(.cannotStore, message: "\(error)")
        }
    }

    /// The one that waits at this deployment for this user, or for whomever; nil if none does. Throws `storeUnreadable`.
    public func load(user: String?) throws(AccountError) -> SignInChallenge? {
        let content: [UInt8]?
        do throws(PrivateFileError) {
            content = try file.read(maximumBytes: 64 << 10)
        } catch {
            throw AccountError(.storeUnreadable, message: "\(error)")
        }
        guard let content, let json = try? JSONValue(parsing: content), json["schemaVersion"]?.integer == 1,
            json["base_url"]?.string == base.text,
            let name = json["user_name"]?.string, let session = json["session"]?.string, user == nil || user == name
        else { return nil }
        return SignInChallenge(userName: name, session: Secret(session))
    }

    /// What is left behind is no harm: the cloud forgets its session in minutes.
    public func remove() { try? file.remove() }
}

extension RainKitClient {
    /// Where a sign-in at the deployment waits for its code.
    public var pendingSignIn: PendingSignIn {
        PendingSignIn(state: configuration.state, deployment: configuration.deployment)
    }
}
