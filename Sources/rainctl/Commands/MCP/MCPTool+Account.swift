// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

extension MCPTool {
    /// Tools for the account: the sign-in, and what is shared.
    static let accountTools: [MCPTool] = [
        MCPTool(
            "login_instructions", "How to sign in",
            "Returns the steps for the user to sign in at a terminal. No tool takes a password.", schema: nil
        ) { _ in
            """
            This server uses the session of rainctl, the command line of RainKit. To sign in:

            1. Open a terminal on the computer that runs this server.
            2. Run `rainctl login` with the user name or e-mail address: `rainctl login me@example.com`. \
            If the server was started with --profile or --account, give the same options.
            3. Type the password there, or follow the browser. Never type it into this conversation.
            4. Call the tool `check_login_status`.
            """
        },
        MCPTool(
            "check_login_status", "Check the sign-in",
            "Returns the user of this server's session and the time when the session expires. Fails if nobody is signed in.",
            schema: "session"
        ) { call in
            try await call.command("account.status", [:])
        },
        MCPTool(
            "get_sharing", "Users of boards or groups",
            "Lists the users of your boards or groups: owners (primary) and guests (secondary).",
            [
                .kindOfShares,
                Argument(name: "name", help: "Only this board or group, by id or name (default: all)."),
            ], schema: "sharing-list"
        ) { call in
            try await call.command("\(call.noun).share.list", ["name": call["name"]])
        },
        MCPTool(
            "get_sharing_requests", "Offers to share",
            "Lists the boards or groups that other users offer to share, or the offers that this account has sent.",
            [
                .kindOfShares,
                Argument(name: "sent", kind: .boolean, help: "List the offers that were sent (default: false)."),
            ],
            schema: "sharing-requests"
        ) { call in
            try await call.command("\(call.noun).share.requests", ["sent": call["sent"]])
        },
    ]
}

extension MCPTool.Argument {
    fileprivate static let kindOfShares = Self(
        name: "kind", values: ["nodes", "groups"], help: "Boards (nodes) or groups (default: nodes).")
}

extension MCPCall {
    fileprivate var noun: String { text("kind") == "groups" ? "group" : "node" }
}
