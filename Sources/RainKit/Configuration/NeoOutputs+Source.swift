// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainMaker
import RainPrivateFiles

extension NeoOutputs {
    /// Reads the description of a RainMaker Neo deployment: the file `rmng-client-outputs.json`, or its URL.
    ///
    /// - Parameters:
    ///   - location: a path, or an https URL. The addresses in the document decide where passwords and tokens are sent.
    ///   - authorities: a PEM file of authorities to trust instead of the system's.
    /// - Throws: `invalidConfiguration` for a document that is not one of these, `insecureURL` for plain http to another machine, and the
    ///   errors of the request.
    public static func load(
        _ location: String, tools: RainKitTools = RainKitTools(), certificateAuthorities authorities: String? = nil
    ) async throws -> NeoOutputs {
        try await RainKitError.rethrowing { () async throws(AccountError) in
            let isURL = ["http://", "https://"].contains { location.lowercased().hasPrefix($0) }
            guard isURL else { return try NeoOutputs(parsing: try contents(of: location)) }
            return try NeoOutputs(parsing: try await fetched(location, tools.http(authorities)))
        }
    }

    private static func contents(of path: String) throws(AccountError) -> [UInt8] {
        let bytes: [UInt8]?
        do throws(PrivateFileError) {
            bytes = try OwnedFile.contents(of: path, maximumBytes: maximumBytes)
        } catch {
            throw AccountError(.invalidConfiguration, message: "\(error)")
        }
        if let bytes { return bytes }
        throw AccountError(
            .invalidConfiguration,
            message: "the file \(presentable(path)) with the description of the deployment does not exist")
    }

    private static func fetched(_ location: String, _ http: any HTTPClient) async throws(AccountError) -> [UInt8] {
        let url = try ServiceURL(location)
        let request = HTTPRequest(
            method: .get, url: url.text,
            headers: [HTTPHeader("Accept", "application/json"), HTTPHeader("User-Agent", "RainKit")],
            maximumResponseBytes: maximumBytes)
        return try await http.send(request) { response throws(AccountError) in
            guard response.status == 200 else {
                throw AccountError(
                    .invalidConfiguration,
                    message:
                        "\(url.authority) has no description of a deployment at this address (HTTP \(response.status)); check the URL",
                    status: response.status)
            }
            return response.body
        }
    }
}
