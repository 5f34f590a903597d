/// A system that people sign in to, of those that are simulated.
public enum IdentitySystem: String, Sendable, CaseIterable {
    /// Schibsted's account platform.
    case spid
    /// A company's portal.
    case liferay
    /// The libraries' network.
    case oclc

    /// The system with the people and applications that every test knows.
    func service() throws(SimulatorError) -> any IdentityService {
        switch self {
        case .spid: SPiDService()
        case .liferay: LiferayService()
        case .oclc: OCLCService()
        }
    }
}
