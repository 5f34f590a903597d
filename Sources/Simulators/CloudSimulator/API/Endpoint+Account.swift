// SPDX-License-Identifier: Apache-2.0

/// The names with a `2` belong to the current user pool. The names without are their older equivalents; the official client uses both.
extension Endpoint {
    static let accounts = signIn + passwords + profile + guests

    private static let signIn =
        ["login2", "login"].map { path in
            Endpoint("POST", "/v1/\(path)", isAuthorized: false) { api, call throws(APIError) in try api.logIn(call) }
        }
        + ["logout2", "logout"].map { path in
            Endpoint("POST", "/v1/\(path)") { api, call throws(APIError) in try api.logOut(call) }
        }

    private static let passwords =
        ["forgotpassword2", "forgotpassword"].map { path in
            Endpoint("PUT", "/v1/\(path)", isAuthorized: false) { api, call throws(APIError) in
                try api.forgotPassword(call)
            }
        }
        + ["password2", "password"].map { path in
            Endpoint("PUT", "/v1/\(path)") { api, call throws(APIError) in try api.changePassword(call) }
        }

    private static let profile =
        ["user2", "user"].flatMap { path in
            [
                Endpoint("POST", "/v1/\(path)", isAuthorized: false) { api, call throws(APIError) in
                    try api.signUp(call)
                },
                Endpoint("GET", "/v1/\(path)") { api, call throws(APIError) in try api.profile(call) },
                Endpoint("PUT", "/v1/\(path)") { api, call throws(APIError) in try api.updateProfile(call) },
                Endpoint("DELETE", "/v1/\(path)") { api, call throws(APIError) in try api.deleteAccount(call) },
            ]
        } + [
            Endpoint("GET", "/v1/user/custom_data") { api, call throws(APIError) in try api.customData(call) },
            Endpoint("PUT", "/v1/user/custom_data") { api, call throws(APIError) in try api.setCustomData(call) },
            Endpoint("GET", "/v1/user/public_profile") { api, call throws(APIError) in try api.publicProfile(call) },
            Endpoint("PUT", "/v1/user/public_profile") { api, call throws(APIError) in try api.setPublicProfile(call) },
            Endpoint("POST", "/v1/user/data-requests") { api, call throws(APIError) in try api.requestData(call) },
            Endpoint("GET", "/v1/user/data-requests/*") { api, call throws(APIError) in try api.requestedData(call) },
        ]
        + ["POST", "GET", "DELETE"].map { method in
            Endpoint(method, "/v1/user/push_notification/mobile_platform_endpoint") { api, call throws(APIError) in
                try api.pushEndpoint(call)
            }
        }

    private static let guests = [
        Endpoint("POST", "/v1/user/guest", isAuthorized: false) { api, call throws(APIError) in try api.beGuest(call) },
        Endpoint("POST", "/v1/user/guest/conversion/initiate") { api, call throws(APIError) in
            try api.initiateConversion(call)
        },
        Endpoint("POST", "/v1/user/guest/conversion/verify") { api, call throws(APIError) in
            try api.verifyConversion(call)
        },
    ]
}
