// SPDX-License-Identifier: Apache-2.0
@testable import rainctl

extension GoldenResult {
    static let profileAndNode: [GoldenResult] = [
        GoldenResult(
            ProfileListResult(profiles: [
                .init(profile: "global", baseURL: "https://a.example/", current: true),
                .init(profile: "lab", baseURL: "https://b.example/", current: false),
            ]),
            json: """
                {"profiles":[{"profile":"global","base_url":"https://a.example/","current":true},\
                {"profile":"lab","base_url":"https://b.example/","current":false}]}
                """,
            text: "* global  https://a.example/\n  lab  https://b.example/"),
        GoldenResult(
            ProfileShowResult(values: settings, showsOrigin: false),
            json: "{\(settingsJSON)}",
            text: """
                profile    lab
                base_url   https://b.example/
                claim_url  https://c.example/
                auth_url   https://d.example/
                client_id  client
                ca_file    /ca.pem
                account    me
                store      file
                """),
        GoldenResult(
            ProfileShowResult(values: settings, showsOrigin: true),
            json: """
                {\(settingsJSON),"origins":{"profile":"option --profile","base_url":"file /d.json","claim_url":"file /d.json",\
                "auth_url":"file /d.json","client_id":"built in","ca_file":"environment RAINKIT_CA_FILE",\
                "account":"file /a.json","store":"file /a.json"}}
                """,
            text: """
                profile    lab  (option --profile)
                base_url   https://b.example/  (file /d.json)
                claim_url  https://c.example/  (file /d.json)
                auth_url   https://d.example/  (file /d.json)
                client_id  client  (built in)
                ca_file    /ca.pem  (environment RAINKIT_CA_FILE)
                account    me  (file /a.json)
                store      file  (file /a.json)
                """),
        GoldenResult(
            ProfileChangeResult(change: .added, profile: "lab"), json: #"{"profile":"lab"}"#,
            text: "Added. To use it: rainctl profile use lab"),
        GoldenResult(
            ProfileChangeResult(change: .removed, profile: "lab"), json: #"{"profile":"lab"}"#, text: "Removed lab."),
        GoldenResult(
            ProfileChangeResult(change: .inUse, profile: "lab"), json: #"{"profile":"lab"}"#, text: "Using lab."),
        GoldenResult(
            NodeListResult(nodes: [
                .init(nodeID: "N1", name: "Lamp", model: "m", role: "primary", connected: true),
                .init(nodeID: "N2", name: nil, model: nil, role: nil, connected: false),
                .init(nodeID: "N3", name: nil, model: nil, role: nil, connected: nil),
            ]),
            json: """
                {"nodes":[{"node_id":"N1","name":"Lamp","model":"m","role":"primary","connected":true},\
                {"node_id":"N2","connected":false},{"node_id":"N3"}]}
                """,
            text: "N1  online  Lamp\nN2  offline  \nN3  unknown  "),
        GoldenResult(NodeListResult(nodes: []), json: #"{"nodes":[]}"#, text: ""),
    ]

    private static let settings: [ProfileSettings.Value] = [
        .init(key: "profile", text: "lab", origin: .option("--profile")),
        .init(key: "base_url", text: "https://b.example/", origin: .file("/d.json")),
        .init(key: "claim_url", text: "https://c.example/", origin: .file("/d.json")),
        .init(key: "auth_url", text: "https://d.example/", origin: .file("/d.json")),
        .init(key: "client_id", text: "client", origin: .builtIn),
        .init(key: "ca_file", text: "/ca.pem", origin: .variable("RAINKIT_CA_FILE")),
        .init(key: "account", text: "me", origin: .state("/a.json")),
        .init(key: "store", text: "file", origin: .state("/a.json")),
    ]

    private static let settingsJSON = """
        "profile":"lab","base_url":"https://b.example/","claim_url":"https://c.example/","auth_url":"https://d.example/",\
        "client_id":"client","ca_file":"/ca.pem","account":"me","store":"file"
        """
}
