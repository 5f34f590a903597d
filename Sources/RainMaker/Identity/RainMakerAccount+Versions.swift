// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// A version of the interface that a deployment speaks, and what it says about it.
public struct RainMakerVersion: Sendable, Equatable {
    /// Such as `v1`.
    public var name: String
    /// Which build of the service speaks it (`build_info`); nil where the deployment does not say.
    public var build: String?
    /// The operator's words about the version, for people; nil where there are none.
    public var releaseNotes: String?
}

extension RainMakerAccount {
    /// The one version that is spoken here.
    public static let spokenVersion = "v1"

    /// The versions of the interface that the deployment speaks. Needs no sign-in.
    public func versions() async throws(AccountError) -> [RainMakerVersion] {
        var call = RainMakerCall(.get, "apiversions")
        call.isVersioned = false
        let reply = try await service.call(call)
        guard let names = reply["supported_versions"]?.array?.compactMap(\.string) else {
            throw service.incomplete("supported_versions", in: reply)
        }
        let details = reply["additional_info"]?.array ?? []
        return names.map { name in
            let detail = details.first { $0["version"]?.string == name }
            return RainMakerVersion(
                name: name, build: detail?["build_info"]?.string, releaseNotes: detail?["release_notes"]?.string)
        }
    }

    /// The same, if the version that is spoken here is among them.
    /// - Throws: `unsupported`.
    public func supportedVersions() async throws(AccountError) -> [RainMakerVersion] {
        let versions = try await versions()
        guard versions.contains(where: { $0.name == Self.spokenVersion }) else {
            let spoken = versions.isEmpty ? "none" : versions.map { presentable($0.name) }.joined(separator: ", ")
            throw AccountError(
                .unsupported,
                message: "\(service.deployment.base.authority) speaks \(spoken), not \(Self.spokenVersion); "
                    + "a newer version of this program may")
        }
        return versions
    }
}
