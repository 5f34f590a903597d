// SPDX-License-Identifier: Apache-2.0
@testable import rainctl

extension GoldenResult {
    static let profileAndNode: [GoldenResult] = [
        GoldenResult(
            ProfileListResult(profiles: [
                .init(name: "global", baseURL: "https://a.example/", current: true),
                .init(name: "lab", baseURL: "https://b.example/", current: false),
            ]),
            json: """
                {"profiles":[{"name":"global","base_url":"https://a.example/","current":true},\
                {"name":"lab","base_url":"https://b.example/","current":false}]}
                """,
            text: "* global  https://a.example/\n  lab  https://b.example/"),
        GoldenResult(
            ProfileShowResult(values: settings, showsOrigin: false),
            json: #"{"profile":"lab","base_url":"https://b.example/"}"#,
            text: "profile   lab\nbase_url  https://b.example/"),
        GoldenResult(
            ProfileShowResult(values: settings, showsOrigin: true),
            json: """
                {"profile":{"value":"lab","origin":"option --profile"},\
                "base_url":{"value":"https://b.example/","origin":"built in"}}
                """,
            text: "profile   lab  (option --profile)\nbase_url  https://b.example/  (built in)"),
        GoldenResult(
            ProfileChangeResult(change: .added, name: "lab"), json: #"{"name":"lab"}"#,
            text: "Added. To use it: rainctl profile use lab"),
        GoldenResult(
            ProfileChangeResult(change: .removed, name: "lab"), json: #"{"name":"lab"}"#, text: "Removed lab."),
        GoldenResult(ProfileChangeResult(change: .inUse, name: "lab"), json: #"{"name":"lab"}"#, text: "Using lab."),
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
        .init(key: "base_url", text: "https://b.example/", origin: .builtIn),
    ]
}
