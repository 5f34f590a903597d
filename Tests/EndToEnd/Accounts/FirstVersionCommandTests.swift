// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Document 002 as it is printed: `POST /v1/login` and `GET /v1/user` are all that the deployment has.
@Suite("rainctl at a deployment that has /v1/login and /v1/user only")
struct FirstVersionCommandTests {
    @Test("signs in, says who it is, hands out the token, and signs out here")
    func commands() async throws {
        try await withTemporaryFolder { folder in
            let user = """
                {"user_id": "string", "user_name": "string", "super_admin": true, "picture_url": "string",
                 "name": "string", "mfa": true, "phone_number": "<+Mobile Number with country code>"}
                """
            let cloud = try CannedCloud([
                "POST /v1/login": [
                    (
                        200,
                        """
                        {"status": "success", "description": "Login successful",
                         "idtoken": "idtoken", "accesstoken": "accesstoken", "refreshtoken": "refreshtoken"}
                        """
                    )
                ], "GET /v1/user": [(200, user)],
            ])
            let maker = try await cloud.maker(in: folder)
            let login = try await maker.rainctl(
                "login", "username@domain.com", "--password-file", folder.file("password"), "--json")
            #expect(login.status == 0 && login.document?["user_id"] == "string", "\(login.standardOutput)")
            let body = try #require(cloud.bodies("POST /v1/login").first ?? nil)
            #expect(body["user_name"] == "username@domain.com" && body.members?.count == 2)
            let who = try await maker.rainctl("whoami", "--json")
            #expect(who.status == 0 && who.document?["user_id"] == "string", "\(who.standardOutput)")
            #expect(who.document?["administrator"] == "super")
            #expect(try await maker.rainctl("account", "header").standardOutput == "Authorization: accesstoken\n")
            let logout = try await maker.rainctl("logout", "--json")
            #expect(logout.status == 0 && logout.document?["revoked"] == false, "\(logout.standardOutput)")
            #expect(try await maker.rainctl("whoami", "--json").failure?["reason"] == "not_signed_in")
        }
    }
}
