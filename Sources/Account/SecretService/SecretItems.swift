// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore

/// Our items in the Secret Service, and what is done with them: blocking calls, for ``ServiceThread`` alone.
///
/// An item is found by its schema, its deployment and its account, so that nothing that another program keeps is ever met. Nothing
/// is unlocked and nobody is asked: what is locked is an error.
struct SecretItems {
    let library: LibSecret
    let cancellable: LibSecret.Object?

    /// `xdg:schema` of the items, for those who look for them.
    static let schema = "org.rainkit.Session"

    // From libsecret's headers.
    private static let opensSession: Int32 = 1 << 1  // SECRET_SERVICE_OPEN_SESSION
    private static let findsAllWithSecrets: Int32 = 1 << 1 | 1 << 3  // SECRET_SEARCH_ALL | SECRET_SEARCH_LOAD_SECRETS
    private static let replaces: Int32 = 1 << 1  // SECRET_ITEM_CREATE_REPLACE

    func load(_ key: CredentialKey) throws(ServiceError) -> Secret? {
        let found = try find(key)
        // A locked keyring need not say what is in it: GNOME's does not, before it is unlocked for the first time.
        if found == nil { try withDefaultKeyring { _ throws(ServiceError) in } }
        return found
    }

    private func find(_ key: CredentialKey) throws(ServiceError) -> Secret? {
        try withItems(key) { items throws(ServiceError) in
            guard let item = try unlocked(items) else { return nil }
            guard let value = library.secret(item) else {
                throw ServiceError(AccountError(.storeUnreadable, message: "the item of \(key) has no secret"))
            }
            defer { library.unrefValue(value) }
            var count: UInt = 0
            guard let bytes = library.valueBytes(value, &count) else { return Secret([]) }
            return Secret(UnsafeBufferPointer(start: bytes, count: Int(count)))
        }
    }

    /// Changes the item where it is, or makes one in the default keyring.
    func save(_ secret: Secret, for key: CredentialKey) throws(ServiceError) {
        let value = secret.reveal { library.newValue($0.baseAddress, $0.count, "text/plain") }
        defer { library.unrefValue(value) }
        let isChanged = try withItems(key) { items throws(ServiceError) in
            guard let item = try unlocked(items) else { return false }
            try call("change an item") { library.setSecret(item, value, cancellable, $0) != 0 }
            return true
        }
        if isChanged { return }
        try withDefaultKeyring { keyring throws(ServiceError) in
            try withSchema { schema throws(ServiceError) in
                try withAttributes(of: key) { attributes throws(ServiceError) in
                    let item = try object("keep an item") {
                        library.createItem(
                            keyring, schema, attributes, "RainKit session of \(key)", value, Self.replaces,
                            cancellable, $0)
                    }
                    library.unref(item)
                }
            }
        }
    }

    func remove(_ key: CredentialKey) throws(ServiceError) {
        let isFound = try withItems(key) { items throws(ServiceError) in
            for item in items {
                guard library.isItemLocked(item) == 0 else { throw ServiceError(ServiceError.locked) }
                try call("remove an item") { library.deleteItem(item, cancellable, $0) != 0 }
            }
            return !items.isEmpty
        }
        if !isFound { try withDefaultKeyring { _ throws(ServiceError) in } }
    }

    /// Whether an item could be saved: an unlocked one is there, or an unlocked keyring to make it in.
    func probe(_ key: CredentialKey) throws(ServiceError) {
        let hasItem = try withItems(key) { items throws(ServiceError) in try unlocked(items) != nil }
        if !hasItem { try withDefaultKeyring { _ throws(ServiceError) in } }
    }

    // MARK: Steps

    private func unlocked(_ items: [LibSecret.Object]) throws(ServiceError) -> LibSecret.Object? {
        if let item = items.first(where: { library.isItemLocked($0) == 0 }) { return item }
        if !items.isEmpty { throw ServiceError(ServiceError.locked) }
        return nil
    }

    private func withService<Result>(
        _ body: (LibSecret.Object) throws(ServiceError) -> Result
    ) throws(ServiceError) -> Result {
        // GLib ends a process whose session bus goes away, unless it is told not to.
        let bus = try object("be reached") { library.sessionBus(2, cancellable, $0) }
        library.setExitOnClose(bus, 0)
        defer { library.unref(bus) }
        let service = try object("be reached") { library.service(Self.opensSession, cancellable, $0) }
        defer { library.unref(service) }
        return try body(service)
    }

    private func withItems<Result>(
        _ key: CredentialKey, _ body: ([LibSecret.Object]) throws(ServiceError) -> Result
    ) throws(ServiceError) -> Result {
        try withService { service throws(ServiceError) in
            try withSchema { schema throws(ServiceError) in
                try withAttributes(of: key) { attributes throws(ServiceError) in
                    var failure: LibSecret.Object?
                    let list = library.search(
                        service, schema, attributes, Self.findsAllWithSecrets, cancellable, &failure)
                    if let failure { throw ServiceError(failure, library, doing: "look for an item") }
                    var items: [LibSecret.Object] = []
                    var next = list
                    while let node = next {
                        let link = node.load(as: LibSecret.GList.self)
                        if let item = link.data { items.append(item) }
                        next = link.next
                    }
                    defer {
                        for item in items { library.unref(item) }
                        library.freeList(list)
                    }
                    return try body(items)
                }
            }
        }
    }

    private func withDefaultKeyring(
        _ body: (LibSecret.Object) throws(ServiceError) -> Void
    ) throws(ServiceError) {
        try withService { service throws(ServiceError) in
            var failure: LibSecret.Object?
            let keyring = library.collection(service, "default", 0, cancellable, &failure)
            if let failure { throw ServiceError(failure, library, doing: "name its default keyring") }
            guard let keyring else { throw ServiceError(ServiceError.noKeyring) }
            defer { library.unref(keyring) }
            guard library.isCollectionLocked(keyring) == 0 else { throw ServiceError(ServiceError.locked) }
            try body(keyring)
        }
    }

    private func withSchema<Result>(
        _ body: (LibSecret.Object?) throws(ServiceError) -> Result
    ) throws(ServiceError) -> Result {
        // The values are SECRET_SCHEMA_ATTRIBUTE_STRING, 0.
        try withTable([("deployment", nil), ("account", nil)]) { types throws(ServiceError) in
            let schema = library.newSchema(Self.schema, 0, types)
            defer { library.unrefSchema(schema) }
            return try body(schema)
        }
    }

    private func withAttributes<Result>(
        of key: CredentialKey, _ body: (LibSecret.Object?) throws(ServiceError) -> Result
    ) throws(ServiceError) -> Result {
        try withTable([("deployment", key.deployment), ("account", key.account ?? "")], body)
    }

    /// A `GHashTable` of strings that live as long as `body` runs.
    private func withTable<Result>(
        _ entries: [(name: String, value: String?)], _ body: (LibSecret.Object?) throws(ServiceError) -> Result
    ) throws(ServiceError) -> Result {
        let table = library.newTable(library.stringHash, library.stringEqual)
        var strings: [UnsafeMutablePointer<CChar>?] = []
        defer {
            library.unrefTable(table)
            for string in strings { free(string) }
        }
        for entry in entries {
            let name = strdup(entry.name)
            let value = entry.value.flatMap { strdup($0) }
            strings += [name, value]
            _ = library.insert(table, name, value)
        }
        return try body(table)
    }

    private func object(
        _ what: String, _ body: (LibSecret.Failure) -> LibSecret.Object?
    ) throws(ServiceError) -> LibSecret.Object {
        var failure: LibSecret.Object?
        guard let object = body(&failure) else { throw ServiceError(failure, library, doing: what) }
        return object
    }

    private func call(_ what: String, _ body: (LibSecret.Failure) -> Bool) throws(ServiceError) {
        var failure: LibSecret.Object?
        guard body(&failure) else { throw ServiceError(failure, library, doing: what) }
    }
}
