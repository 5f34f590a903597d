import RainKit

/// Random bytes for keys and secrets.
enum SystemRandom {
    static func bytes(_ count: Int) -> [UInt8] {
        var source = OpenSSLRandom()
        return source.bytes(count)
    }
}
