// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// What a refusal says in words, not yet fit to be shown; nil where it says nothing.
///
/// Read are the envelopes of OAuth (RFC 6749, section 5.2), RainMaker and AWS, of problem details (`detail`, `title`: RFC 9457), and
/// those of FastAPI and its like, which list what is wrong with which member: `{"detail":[{"loc":["body","user_name"],"msg":"…"}]}`.
package func serverWords(_ json: JSONValue) -> String? {
    let names = ["description", "message", "error_description", "detail", "title", "error"]
    if let text = names.lazy.compactMap({ json[$0]?.string }).first(where: { !$0.isEmpty }) { return text }
    let lists = ["detail", "errors", "message"].lazy.compactMap { json[$0]?.array }
    let complaints = (lists.first ?? []).compactMap(complaint)
    return complaints.isEmpty ? nil : complaints.prefix(maximumComplaints).joined(separator: "; ")
}

/// A message has one line.
private let maximumComplaints = 3

private func complaint(_ json: JSONValue) -> String? {
    if let text = json.string { return text }
    guard let text = ["msg", "message", "detail", "description"].lazy.compactMap({ json[$0]?.string }).first else {
        return nil
    }
    let place = (json["loc"]?.array ?? []).compactMap { $0.string ?? $0.integer.map { "\($0)" } }
    return place.isEmpty ? text : "\(place.joined(separator: ".")): \(text)"
}
