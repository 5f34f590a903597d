// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// `/api/jsonws`: the portal's services as JSON.
extension LiferayService {
    private static let maximumCommands = 32
    private static let limits = JSONLimits(maximumBytes: 64 << 10, maximumDepth: 8, maximumValues: 1000)

    /// An exception of the portal, in the format of its version.
    private struct PortalException: Error, Equatable {
        var type: String
        var message: String

        /// The error for guests, and for a request with a cookie but without the cookie's token.
        static let unauthenticated = PortalException(
            type: "java.lang.SecurityException", message: "Authenticated access required")

        func body(_ version: Version) -> JSONValue {
            let old = type.replacing("portal.kernel.exception", with: "portal")
            switch version {
            case .v61: return ["exception": .string("\(old): \(message)")]
            case .v62: return ["exception": .string(old), "message": .string(message)]
            case .v7, .v74:
                return [
                    "exception": .string(message), "throwable": .string("\(type): \(message)"),
                    "error": ["message": .string(message), "type": .string(type)],
                ]
            }
        }
    }

    private enum Caller {
        case person(Person)
        case guest
        case response(Response)
    }

    mutating func webService(_ parts: [String], _ call: inout IdentityCall) -> Response {
        let caller: Person?
        switch who(&call) {
        case .person(let person): caller = person
        case .guest: caller = nil
        case .response(let response): return response
        }
        call.person = caller?.email
        do throws(PortalException) {
            if parts == ["invoke"], call.method == "POST" {
                let command = try command(call.request)
                guard let list = command.array else { return Response(try invoke(command, caller)) }
                guard list.count <= Self.maximumCommands else {
                    throw PortalException(type: "java.lang.IllegalArgumentException", message: "Too many commands")
                }
                var results: [JSONValue] = []
                for element in list { results.append(try invoke(element, caller)) }
                return Response(.array(results))
            }
            // The direct form: the path is the command, the query and the form are its parameters.
            var members = call.request.query.map { JSONValue.Member($0.name, .string($0.value)) }
            if call.method == "POST", let text = String(validating: call.request.body, as: UTF8.self),
                text.utf8.count <= 16 << 10
            {
                members += Request.fields(ofQuery: Substring(text)).map { .init($0.name, .string($0.value)) }
            }
            return Response(try perform("/" + parts.joined(separator: "/"), .object(members), caller))
        } catch {
            return Response(error.body(version))
        }
    }

    /// Finds the caller by password, access token, or session and its token.
    private mutating func who(_ call: inout IdentityCall) -> Caller {
        if let header = call.request.header("Authorization"), challenge == nil {
            if let basic = BasicCredentials(header) {
                guard let person = people.person(basic.user, by: authenticationType),
                    person.accepts(password: basic.password)
                else {
                    call.note(.login, "refused") { $0.kind = "basic" }
                    var response = Response(status: 401, content: .html("<!DOCTYPE html><title>401</title>\n"))
                    response.headers = [.init("WWW-Authenticate", "Basic realm=\"PortalRealm\"")]
                    return .response(response)
                }
                return .person(person)
            }
            do throws(OAuthFailure) {
                let grant = try oauth.grant(call)
                call.client = grant.client
                guard !grant.scopes.isDisjoint(with: Self.scopes) else {
                    throw OAuthFailure(.insufficientScope, "The token is not for JSON web services")
                }
                return grant.person.flatMap { people[$0] }.map { .person($0) } ?? .guest
            } catch {
                return .response(error.resourceResponse())
            }
        }
        guard let found = session(call),
            call.request.header("X-CSRF-Token") ?? call.request.query("p_auth") == found.session.token,
            let person = people[found.session.person]
        else { return .guest }
        touch(found.id, at: call.now)
        return .person(person)
    }

    /// Reads JSON from the body, or from the form's `cmd`.
    private func command(_ request: Request) throws(PortalException) -> JSONValue {
        let isForm = request.header("Content-Type")?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true
        var bytes = request.body
        if isForm, bytes.count <= 64 << 10, bytes.first != UInt8(ascii: "["), bytes.first != UInt8(ascii: "{") {
            let fields = Request.fields(ofQuery: Substring(String(decoding: bytes, as: UTF8.self)))
            bytes = Array((fields.first { $0.name == "cmd" }?.value ?? "").utf8)
        }
        guard let command = try? JSONValue(parsing: bytes, limits: Self.limits) else {
            throw PortalException(
                type: "com.liferay.portal.kernel.json.JSONException", message: "The command is not JSON")
        }
        return command
    }

    /// Runs a command such as `{"/user/get-user-by-id": {"userId": 1001}}`.
    private func invoke(_ command: JSONValue, _ caller: Person?) throws(PortalException) -> JSONValue {
        guard let members = command.members, members.count == 1, let member = members.first else {
            throw PortalException(type: "java.lang.IllegalArgumentException", message: "A command has one name")
        }
        return try perform(member.name, member.value, caller)
    }

    private func perform(
        _ name: String, _ parameters: JSONValue, _ caller: Person?
    ) throws(PortalException) -> JSONValue {
        let currentUser = version == .v62 ? "/screens-web.screensuser/get-current-user" : "/user/get-current-user"
        let sites = version == .v61 || version == .v62 ? "/group/get-user-sites" : "/group/get-user-sites-groups"
        let known = [
            "/user/get-user-by-email-address", "/user/get-user-by-screen-name", "/user/get-user-by-id", currentUser,
            sites,
        ]
        guard known.contains(name) else {
            throw PortalException(
                type: "com.liferay.portal.kernel.jsonwebservice.NoSuchJSONWebServiceException",
                message: "No JSON web service action associated with path \(name.prefix(128))")
        }
        guard let caller else { throw .unauthenticated }
        switch name {
        case "/user/get-user-by-email-address":
            let email = try text("emailAddress", parameters)
            return try entity(try inCompany(parameters) { $0.with(email: email) }, "emailAddress=\(email)", caller)
        case "/user/get-user-by-screen-name":
            let name = try text("screenName", parameters)
            return try entity(try inCompany(parameters) { $0.with(screenName: name) }, "screenName=\(name)", caller)
        case "/user/get-user-by-id":
            let id = try number("userId", parameters)
            return try entity(people[id], "userId=\(id)", caller)
        case sites:
            return [
                [
                    "groupId": long(Self.groupID), "companyId": long(companyID), "friendlyURL": "/guest",
                    "descriptiveName": "Guest", "active": true, "site": true,
                ]
            ]
        default: return entity(caller)
        }
    }

    /// Finds a person only in this company.
    private func inCompany(
        _ parameters: JSONValue, _ find: (People) -> Person?
    ) throws(PortalException) -> Person? {
        try number("companyId", parameters) == companyID ? find(people) : nil
    }

    private func text(_ name: String, _ parameters: JSONValue) throws(PortalException) -> String {
        guard let text = parameters[name]?.string, text.utf8.count <= 254 else { throw Self.missing(name) }
        return text
    }

    private func number(_ name: String, _ parameters: JSONValue) throws(PortalException) -> Int64 {
        guard let number = parameters[name]?.integer ?? parameters[name]?.string.flatMap({ Int64($0) }) else {
            throw Self.missing(name)
        }
        return number
    }

    private static func missing(_ name: String) -> PortalException {
        PortalException(type: "java.lang.IllegalArgumentException", message: "Missing required parameter \(name)")
    }

    private func entity(_ person: Person?, _ key: String, _ caller: Person) throws(PortalException) -> JSONValue {
        guard let person else {
            throw PortalException(
                type: "com.liferay.portal.kernel.exception.NoSuchUserException",
                message: "No User exists with the key {companyId=\(companyID), \(key)}")
        }
        guard person.id == caller.id else {
            throw PortalException(
                type: "com.liferay.portal.kernel.security.auth.PrincipalException",
                message:
                    "User \(caller.id) must have VIEW permission for com.liferay.portal.kernel.model.User \(person.id)")
        }
        return entity(person)
    }

    /// Long numbers are text since 6.2: JavaScript would round them.
    private func long(_ number: Int64) -> JSONValue { version == .v61 ? .integer(number) : .string("\(number)") }

    private func entity(_ person: Person) -> JSONValue {
        [
            "agreedToTermsOfUse": true, "comments": "", "companyId": long(companyID),
            "contactId": long(person.id + 1),
            "createDate": 1_389_000_000_000, "defaultUser": false, "emailAddress": .string(person.email),
            "emailAddressVerified": .bool(person.isVerified), "facebookId": long(0), "failedLoginAttempts": 0,
            "firstName": .string(person.givenName), "graceLoginCount": 0,
            "greeting": .string("Welcome \(person.fullName)!"),
            "jobTitle": "", "languageId": "en_US", "lastName": .string(person.familyName), "lockout": false,
            "middleName": "", "modifiedDate": 1_389_000_000_000, "openId": "", "portraitId": long(0),
            "screenName": .string(person.screenName), "status": 0, "timeZoneId": "UTC", "userId": long(person.id),
            "uuid": .string("00000000-0000-4000-8000-\(String(repeating: "0", count: 8))\(person.id)"),
        ]
    }
}
