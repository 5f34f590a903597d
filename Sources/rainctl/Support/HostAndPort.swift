import RainKit

/// `HOST`, `HOST:PORT`, `[IPV6]` or `[IPV6]:PORT`; a board's own access point where nothing is given.
struct HostAndPort: Equatable {
    var host: String
    var port: Int

    init(_ text: String?) throws(CommandFailure) {
        guard let text else {
            (host, port) = (SoftAPTransport.defaultHost, 80)
            return
        }
        let end =
            text.hasPrefix("[") ? text.firstIndex(of: "]").map { text.index(after: $0) } : text.firstIndex(of: ":")
        let (host, rest) = (text[..<(end ?? text.endIndex)], text[(end ?? text.endIndex)...])
        let port = rest.isEmpty ? 80 : rest.hasPrefix(":") ? Int(rest.dropFirst()) ?? 0 : 0
        let allowed = host.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"/?#@%\\".utf8.contains($0) }
        guard !host.isEmpty, allowed, (1...65535).contains(port) else {
            throw CommandFailure(.usage, message: "--device-host takes HOST or HOST:PORT.")
        }
        self.host = String(host)
        self.port = port
    }
}
