// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainPrivateFiles

/// A sign-in that waits for its one-time code, kept in a private file so that another process can finish it: the cloud takes the code only
/// with the session that it gave for it.
public struct PendingSignIn: Sendable {
    private let file: PrivateFile

    /// - Parameters:
    ///   - state: the client's folder.
    ///   - name: the deployment's.
    public init(state: String, name: String) { file = PrivateFile(path: "\(state)/sign-in-\(name).json") }

    /// Throws `cannotStore`.
    public func save(_ challenge: SignInChallenge) throws(AccountError) {
        let content: JSONValue = [
            "schemaVersion": 1, "user_name": .string(challenge.userName),
            "session": .string(challenge.session.revealString()),
        ]
        do throws(PrivateFileError) {
            try file.write(content.serialized(pretty: true) + [0x0A])
        } catch {
            throw AccountError(.cannotStore, message: "\(error)")
        }
    }

    /// The one that waits for this user, or for whomever; nil if none does. Throws `storeUnreadable`.
    public func load(user: String?) throws(AccountError) -> SignInChallenge? {
        let content: [UInt8]?
        do throws(PrivateFileError) {
            content = try file.read(maximumBytes: 64 << 10)
        } catch {
            throw AccountError(.storeUnreadable, message: "\(error)")
        }
        guard let content, let json = try? JSONValue(parsing: content), json["schemaVersion"]?.integer == 1,
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
        PendingSignIn(state: configuration.state, name: configuration.deployment.name)
    }
}
