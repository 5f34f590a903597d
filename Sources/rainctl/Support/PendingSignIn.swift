import RainJSON
import RainPrivateFiles
import RainKit
import RainCore

/// A sign-in that waits for its code, kept in a private file so that a second command can finish it: the cloud takes the code only
/// with the session that it gave for it.
struct PendingSignIn {
    private let file: PrivateFile

    init(_ context: Context, profile: String) {
        file = PrivateFile(path: "\(context.folders.state)/sign-in-\(profile).json")
    }

    func save(_ challenge: SignInChallenge) throws(CommandFailure) {
        let content: JSONValue = [
            "schemaVersion": 1, "user_name": .string(challenge.userName),
            "session": .string(challenge.session.revealString()),
        ]
        do throws(PrivateFileError) {
            try file.write(content.serialized(pretty: true) + [0x0A])
        } catch {
            throw CommandFailure(.cannotWrite, reason: "cannot_store", message: "\(error).")
        }
    }

    /// The one that waits for this user, or for whomever.
    func load(user: String?) throws(CommandFailure) -> SignInChallenge {
        let content: [UInt8]?
        do throws(PrivateFileError) {
            content = try file.read(maximumBytes: 64 << 10)
        } catch {
            throw CommandFailure(.badData, reason: "store_unreadable", message: "\(error).")
        }
        guard let content, let json = try? JSONValue(parsing: content), json["schemaVersion"]?.integer == 1,
            let name = json["user_name"]?.string, let session = json["session"]?.string, user == nil || user == name
        else {
            throw CommandFailure(
                .auth, reason: "no_pending_sign_in",
                message: "No sign-in waits for a code\(user.map { " of \($0.onOneLine)" } ?? ""). "
                    + "Begin one: rainctl login USER --one-time-code.")
        }
        return SignInChallenge(userName: name, session: Secret(session))
    }

    /// What is left behind is no harm: the cloud forgets its session in minutes.
    func remove() { try? file.remove() }
}
