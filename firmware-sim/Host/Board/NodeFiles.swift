// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A board's id in the cloud, and the files that prove it.
struct NodeFiles {
    /// The certificate's common name unless given.
    var id: String?
    var certificate: String?
    var key: String?

    /// The first `count` nodes of a file, in the order of their ids: `{"nodes":{ID:{"cert":FILE,"key":FILE}}}`.
    static func read(_ file: String, count: Int) throws -> [NodeFiles] {
        guard let document = try? JSONValue(parsing: try contents(of: file)), let members = document["nodes"]?.members
        else { throw StartError("\(file): no JSON with an object \"nodes\"") }
        let nodes = members.map {
            NodeFiles(id: $0.name, certificate: $0.value["cert"]?.string, key: $0.value["key"]?.string)
        }
        guard nodes.allSatisfy({ $0.certificate != nil && $0.key != nil }) else {
            throw StartError("\(file): each node needs \"cert\" and \"key\"")
        }
        guard nodes.count >= count else { throw StartError("\(file) has \(nodes.count) nodes for \(count) boards") }
        return Array(nodes.sorted { ($0.id ?? "") < ($1.id ?? "") }.prefix(count))
    }
}
