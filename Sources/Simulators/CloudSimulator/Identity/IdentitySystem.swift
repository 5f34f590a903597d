// SPDX-License-Identifier: Apache-2.0

/// A system that people sign in to, of those that are simulated.
public enum IdentitySystem: String, Sendable, CaseIterable {
    /// Schibsted's account platform.
    case spid
    /// A company's portal.
    case liferay
    /// The libraries' network.
    case oclc
    /// Any server that speaks OpenID Connect.
    case oidc
    /// RainMaker Neo's accounts.
    case neo

    /// The system with the people and applications that every test knows.
    func service() throws(SimulatorError) -> any IdentityService {
        switch self {
        case .spid: SPiDService()
        case .liferay: LiferayService()
        case .oclc: OCLCService()
        case .oidc: try OIDCService()
        case .neo: try NeoService()
        }
    }
}
