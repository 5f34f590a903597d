// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization

/// `user/otaimage`: firmware images that users upload, and where nodes get them.
extension CloudAPI {
    /// The largest image, in bytes, as the cloud has it.
    static let maximumImage = 5 << 20
    /// The oldest are forgotten beyond this.
    static let maximumImages = 16

    /// `POST {"image_name","base64_fwimage"}`.
    func keepImage(_ call: Call) throws(APIError) -> Response {
        _ = try call.caller()
        let limits = JSONLimits(maximumBytes: RequestParser.maximumImageBody, maximumDepth: 2, maximumValues: 16)
        guard let body = try? JSONValue(parsing: call.request.body, limits: limits),
            let name = body["image_name"]?.string, (1...256).contains(name.utf8.count),
            let image = body["base64_fwimage"]?.string.flatMap({ decodedBase64($0) }), !image.isEmpty
        else { throw .invalidBody }
        guard image.count <= Self.maximumImage else { throw APIError(100006, "Image is larger than 5 MB") }
        let id = Self.shortID()
        images.withLock { images in
            images.append((id, image))
            if images.count > Self.maximumImages { images.removeFirst() }
        }
        let base = addresses.withLock { $0.api }
        return Response(["status": "success", "image_url": .string("\(base)/otaimages/\(id)")])
    }

    /// `GET otaimages/ID`: for whoever has the address.
    func image(_ call: Call) throws(APIError) -> Response {
        guard let image = images.withLock({ images in images.first { $0.id == call.pathParameter }?.bytes }) else {
            throw .notFound
        }
        return Response(content: .data(image, type: "application/octet-stream"))
    }
}
