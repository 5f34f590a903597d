// SPDX-License-Identifier: Apache-2.0

/// Reads the one request that a browser makes on a connection to the loopback listener: a GET without a body, or the relay page's POST;
/// both of bounded length.
struct CallbackRequestParser {
    enum Step: Equatable {
        case needsMore
        case request(CallbackRequest)
        /// Not a request that is served; the status says why.
        case refused(status: Int)
    }

    /// The largest head. A redirect with an unusually long code, and many cookies of other local servers, is still below it.
    static let maximumBytes = 32 << 10

    private var bytes: [UInt8] = []
    /// How far the end of the head has been looked for.
    private var searched = 0

    mutating func append(_ more: some Sequence<UInt8>) { bytes += more }

    mutating func next() -> Step {
        let end: [UInt8] = [13, 10, 13, 10]
        var start = max(0, searched - 3)
        while start + 4 <= bytes.count {
            if bytes[start] == 13, bytes[start..<start + 4].elementsEqual(end) {
                return start > Self.maximumBytes
                    ? .refused(status: 431) : whole(Self.parse(bytes[..<start]), from: start + 4)
            }
            start += 1
        }
        searched = bytes.count
        return bytes.count > Self.maximumBytes ? .refused(status: 431) : .needsMore
    }

    /// The largest body, which holds a fragment: as long as an address may be.
    static let maximumBodyBytes = 32 << 10

    /// With its body, once that has come.
    private func whole(_ step: Step, from start: Int) -> Step {
        guard case .request(var request) = step, request.bodyLength > 0 else { return step }
        guard request.method == "POST", request.bodyLength <= Self.maximumBodyBytes else {
            return .refused(status: 413)
        }
        guard bytes.count - start >= request.bodyLength else { return .needsMore }
        request.body = Array(bytes[start..<start + request.bodyLength])
        return .request(request)
    }

    private static func parse(_ head: ArraySlice<UInt8>) -> Step {
        // Control characters are not allowed in a head, and parsers differ in how they read them.
        var lines: [ArraySlice<UInt8>] = []
        var rest = head
        while true {
            guard let end = rest.firstIndex(of: 13) else {
                lines.append(rest)
                break
            }
            guard rest.index(after: end) < rest.endIndex, rest[end + 1] == 10 else { return .refused(status: 400) }
            lines.append(rest[..<end])
            rest = rest[(end + 2)...]
        }
        guard lines.allSatisfy({ $0.allSatisfy { $0 == 9 || $0 >= 0x20 && $0 != 0x7F } }) else {
            return .refused(status: 400)
        }
        let words = lines[0].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, words[2].elementsEqual("HTTP/1.1".utf8) || words[2].elementsEqual("HTTP/1.0".utf8),
            words[1].first == UInt8(ascii: "/"), !words[1].contains(UInt8(ascii: "#"))
        else { return .refused(status: 400) }

        var hosts: [String] = []
        var origin: String?
        var lengths: [Int] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { return .refused(status: 400) }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            var value = line[(colon + 1)...]
            while let first = value.first, first == 0x20 || first == 9 { value = value.dropFirst() }
            while let last = value.last, last == 0x20 || last == 9 { value = value.dropLast() }
            switch name {
            case "host": hosts.append(String(decoding: value, as: UTF8.self).lowercased())
            case "origin":
                guard origin == nil else { return .refused(status: 400) }
                origin = String(decoding: value, as: UTF8.self).lowercased()
            case "content-length":
                guard (1...9).contains(value.count), value.allSatisfy({ (0x30...0x39).contains($0) }), lengths.isEmpty
                else { return .refused(status: 413) }
                lengths.append(value.reduce(0) { $0 * 10 + Int($1 - 0x30) })
            case "transfer-encoding": return .refused(status: 413)
            default: break
            }
        }
        guard hosts.count == 1 else { return .refused(status: 400) }
        let query = words[1].firstIndex(of: UInt8(ascii: "?")) ?? words[1].endIndex
        return .request(
            CallbackRequest(
                method: String(decoding: words[0], as: UTF8.self), path: Array(words[1][..<query]),
                query: Array(words[1][query...].dropFirst()), host: hosts[0],
                origin: origin.map { $0.hasPrefix("http://") ? String($0.dropFirst(7)) : $0 },
                bodyLength: lengths.first ?? 0))
    }
}

/// A request to the loopback listener.
struct CallbackRequest: Equatable {
    var method: String
    var path: [UInt8]
    /// Without the `?`. It may hold a code: never to be logged.
    var query: [UInt8]
    /// In lower case.
    var host: String
    /// The `Origin` header without `http://`; nil if there is none.
    var origin: String?
    var bodyLength = 0
    var body: [UInt8] = []
}
