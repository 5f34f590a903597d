/// `SecSchemeVersion`: the number that `proto-ver` calls `sec_ver`.
public struct SecurityVersion: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    public static let security0 = SecurityVersion(rawValue: 0)
    public static let security1 = SecurityVersion(rawValue: 1)
    public static let security2 = SecurityVersion(rawValue: 2)
}
