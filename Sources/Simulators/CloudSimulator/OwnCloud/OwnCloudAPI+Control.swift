// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization

extension OwnCloudAPI {
    /// `POST /_sim/…`, as the identity systems have it.
    func control(_ request: Request) -> Response {
        let what = String(request.path.dropFirst(CloudAPI.controlPrefix.count))
        let response: Response
        do throws(APIError) {
            guard request.method == "POST" else { throw .methodNotAllowed }
            try control(what, try Call(request: request).body())
            response = Response(["status": "success", "description": "Done"])
        } catch {
            response = error.response
        }
        journal.control(what, user: nil, status: response.status)
        return response
    }

    private func control(_ what: String, _ body: Fields) throws(APIError) {
        switch what {
        case "faults":
            let table = try FaultTable(body)
            faults.withLock { $0 = table }
        case "clock":
            guard let seconds = try body.integer("offset"), seconds.magnitude <= 1_000_000_000 else {
                throw .invalidBody
            }
            clockOffset.store(seconds * 1000, ordering: .relaxed)
        case "settings":
            guard let confirmation = try body.string("confirmation").flatMap(NodeOwners.Confirmation.init) else {
                throw .invalidBody
            }
            owners.withLock { $0.confirmation = confirmation }
        case "nodes":
            guard let node = try body.string("node"), let key = try body.string("public_key"),
                owners.withLock({ $0.setKey(key, of: node) })
            else { throw .invalidBody }
        default: throw .notFound
        }
    }
}
