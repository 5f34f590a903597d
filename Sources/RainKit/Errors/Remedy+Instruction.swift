// SPDX-License-Identifier: Apache-2.0
import RainCore

extension Remedy {
    /// What to do, as a part of a sentence such as "Give the base URL." A program that has an option, a command or a field for it names
    /// that instead.
    public var instruction: String {
        switch self {
        case .proofOfPossession: "give the board's proof of possession"
        case .securityUserName: "if the board has another user name of Security 2, give it"
        case .anySecurity: "do not require a security scheme"
        case .acceptedSecurity(let version): "if you are sure that it is the right board, accept Security \(version)"
        case .otherTransport: "reach the board over Bluetooth or its own access point"
        case .accessPoint: "reach the board over its own access point"
        case .networkName: "give the name of the network"
        case .networkPassword: "give the Wi-Fi password"
        case .openNetwork: "state that the network has no password"
        case .claimService: "name the claim service of the deployment"
        case .claimOverCable: "claim the board over its cable"
        case .boardLog: "read the board's log from its start"
        case .withoutMapping: "set up the Wi-Fi alone, without an account"
        case .moreTime: "allow more time"
        case .waiting: "connect the board or switch it on, and try again"
        case .boardName(let names): Self.choice("name the board", names)
        case .port(let paths): Self.choice("name the serial port", paths)
        case .host: "give the board's host"
        case .localHost: "give the node's address"
        case .localProof: "give the proof of possession of local control"
        case .nodeInAccount: "once the board is in your account, ask the cloud for its values"
        case .accessPointPassword: "give the password of the board's own network"
        case .anyOtherTransport: "use another transport to the board"
        case .backend: "describe your own cloud"
        case .espressifTools: "name a Python that has Espressif's tools"
        case .macAddress: "give the board's MAC address"
        case .flashAddress: "give the address of the board's partition fctry"
        case .signIn: "sign in"
        case .storedSession: "look at the stored session"
        case .cloudAnswer: "look at the cloud's complete answer about the signed-in user"
        case .deploymentSettings: "check the settings of the deployment"
        case .certificateAuthorities: "name a file with the certificate authorities to trust"
        case .signInMode(let provider, let modes):
            "sign in to \(provider.onOneLine) in the mode \(modes.map(\.onOneLine).joined(separator: " or "))"
        case .forgottenPending: "forget the mappings that earlier runs left unfinished"
        case .signInPage: "sign in on the provider's page, in a browser"
        case .pastedAddress: "paste the last address that the browser shows"
        case .otherCallbackPort: "use another port for the browser's answer"
        case .otherRedirect: "use another redirect URI"
        case .baseURL: "give the base URL of the service"
        case .clientID: "give the client id"
        case .clientSecret: "give the client secret"
        case .parameter(let name): "give the parameter \(name.onOneLine)"
        case .secretParameter(let name): "give the secret \(name.onOneLine)"
        case .gateCredentials: "give the name and password for the server in front of the provider"
        case .applicationID: "give the application's id"
        case .redirectURI: "give the redirect URI"
        case .rememberedSettings(let names):
            names.isEmpty
                ? "give other settings" : "change the settings \(names.map(\.onOneLine).joined(separator: ", "))"
        case .knownAccount: "choose one of the known accounts"
        case .knownDeployment: "choose one of the known deployments"
        case .knownProvider: "choose one of the known identity providers"
        case .updateState: "read the node's values later: they show the update's progress"
        case .updateJob: "ask for the update's state later"
        case .updateJobs: "then start the update for the node"
        case .knownNode: "list the nodes of the account, and choose one of them"
        case .otherNodeName(let node): "give \(node.onOneLine) another name"
        case .knownGroup: "choose one of the groups in the account"
        case .knownAutomation: "choose one of your automations"
        case .knownCommand: "give the request id that was returned when the command was sent"
        case .resumedBatch(let batch): "continue batch \(batch), or begin another batch of the same file"
        case .retriedBatch(let batch):
            "try the failed boards of batch \(batch) again, or begin another batch of the same file"
        case .begunLedger: "check the place of the ledger, or begin a batch: that creates the ledger"
        case .knownBatch: "list the batches of the ledger"
        case .originalBatchFile: "give the file as it was when the batch began, or begin another batch"
        case .otherParent: "give the group another parent"
        case .sharedGroups: "list the users of your groups"
        case .scheduleTime: "give a time of day or a delay"
        case .scheduleDays: "give the days or the date with the time of day"
        case .laterSchedule: "give the schedule another time"
        case .modelNode: "name the board whose copy is right"
        case .repairedCopies: "repair the copies, or add the board to the schedule or scene"
        case .valuesOfNode: "give separate values for that board"
        case .accountName: "give the account a name of your own"
        case .removedDeployment: "remove the deployment of that name"
        case .fileStore: "keep the session in a file"
        case .exportedSession: "export the session again"
        case .brokerCredentials: "give the name and the password for the broker"
        case .brokerAuthorities: "name a file with the certificate authorities to trust for the broker"
        case .brokerClientCertificate: "give the client's certificate and its key"
        }
    }

    private static func choice(_ words: String, _ names: [String]) -> String {
        names.isEmpty ? words : "\(words): \(names.map(\.onOneLine).joined(separator: " or "))"
    }
}
