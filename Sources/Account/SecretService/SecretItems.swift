// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore

/// Our items in the Secret Service, and the operations on them. The calls block: use them only with ``ServiceThread``.
///
/// An item is found by its schema, its deployment and its account, so items of other programs are never touched. Nothing is unlocked and
/// the user is never asked: a locked keyring is an error.
struct SecretItems {
    let library: LibSecret
    let cancellable: LibSecret.Object?

    /// `xdg:schema` of the items.
    private static let schema = "org.rainkit.Session"

    // From libsecret's headers.
    private static let opensSession: Int32 = 1 << 1  // SECRET_SERVICE_OPEN_SESSION
    private static let findsAllWithSecrets: Int32 = 1 << 1 | 1 << 3  // SECRET_SEARCH_ALL | SECRET_SEARCH_LOAD_SECRETS
    private static let replaces: Int32 = 1 << 1  // SECRET_ITEM_CREATE_REPLACE

    func load(_ key: CredentialKey) throws(ServiceError) -> Secret? {
        let found = try find(key)
        // A locked keyring may hide its items. GNOME's does so until it is unlocked for the first time.
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

    /// Changes the existing item, or creates one in the default keyring.
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
                    let item = try object("store an item") {
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

    /// Checks that an item could be saved: there is an unlocked item, or an unlocked keyring for a new one.
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
        // By default GLib ends a process whose session bus disappears.
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

    /// Creates a `GHashTable` of strings that exist while `body` runs.
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

/// The functions of libsecret 0.20 and GLib that are used here. They are looked up at run time, so that programs start without these
/// libraries.
///
/// All of these functions may be called from any thread, which justifies `@unchecked`. Names and signatures are those of the libraries'
/// reference manuals. Objects are untyped pointers.
struct LibSecret: @unchecked Sendable {
    typealias Object = UnsafeMutableRawPointer
    /// The place where a function stores its ``GError``.
    fileprivate typealias Failure = UnsafeMutablePointer<Object?>

    /// `GError`, whose layout is public.
    struct GError {
        var domain: UInt32
        var code: Int32
        var message: UnsafeMutablePointer<CChar>?
    }

    /// The head of `GList`, whose layout is public.
    fileprivate struct GList {
        var data: Object?
        var next: Object?
    }

    // GLib
    let unref: @convention(c) (Object?) -> Void
    let freeError: @convention(c) (Object?) -> Void
    let quarkName: @convention(c) (UInt32) -> UnsafePointer<CChar>?
    let free: @convention(c) (Object?) -> Void
    fileprivate let freeList: @convention(c) (Object?) -> Void
    fileprivate let newTable: @convention(c) (Object?, Object?) -> Object?
    fileprivate let insert: @convention(c) (Object?, Object?, Object?) -> Int32
    fileprivate let unrefTable: @convention(c) (Object?) -> Void
    fileprivate let stringHash: Object
    fileprivate let stringEqual: Object
    let newCancellable: @convention(c) () -> Object?
    let cancel: @convention(c) (Object?) -> Void
    let remoteError: @convention(c) (Object?) -> UnsafeMutablePointer<CChar>?
    fileprivate let sessionBus: @convention(c) (Int32, Object?, Failure) -> Object?
    fileprivate let setExitOnClose: @convention(c) (Object?, Int32) -> Void

    // libsecret
    fileprivate let newSchema: @convention(c) (UnsafePointer<CChar>, Int32, Object?) -> Object?
    fileprivate let unrefSchema: @convention(c) (Object?) -> Void
    fileprivate let service: @convention(c) (Int32, Object?, Failure) -> Object?
    let disconnect: @convention(c) () -> Void
    fileprivate let search: @convention(c) (Object?, Object?, Object?, Int32, Object?, Failure) -> Object?
    fileprivate let collection: @convention(c) (Object?, UnsafePointer<CChar>, Int32, Object?, Failure) -> Object?
    fileprivate let isCollectionLocked: @convention(c) (Object?) -> Int32
    fileprivate let isItemLocked: @convention(c) (Object?) -> Int32
    fileprivate let secret: @convention(c) (Object?) -> Object?
    fileprivate let setSecret: @convention(c) (Object?, Object?, Object?, Failure) -> Int32
    fileprivate let createItem:
        @convention(c) (
            Object?, Object?, Object?, UnsafePointer<CChar>, Object?, Int32, Object?, Failure
        ) -> Object?
    fileprivate let deleteItem: @convention(c) (Object?, Object?, Failure) -> Int32
    fileprivate let newValue: @convention(c) (UnsafeRawPointer?, Int, UnsafePointer<CChar>) -> Object?
    fileprivate let valueBytes: @convention(c) (Object?, UnsafeMutablePointer<UInt>) -> UnsafePointer<UInt8>?
    fileprivate let unrefValue: @convention(c) (Object?) -> Void

    /// The libraries. They are loaded once and never unloaded, because GLib does not support unloading.
    private static let shared = try? LibSecret()

    static func load() throws(AccountError) -> LibSecret {
        guard let shared else {
            throw SessionBus.absent("libsecret-1.so.0 cannot be loaded (Debian's package is libsecret-1-0)")
        }
        return shared
    }

    private init() throws(SharedLibrary.Missing) {
        // This also finds names in the libraries that it depends on, such as GLib.
        let library = try SharedLibrary("libsecret-1.so.0")
        unref = try library.function("g_object_unref")
        freeError = try library.function("g_error_free")
        quarkName = try library.function("g_quark_to_string")
        free = try library.function("g_free")
        freeList = try library.function("g_list_free")
        newTable = try library.function("g_hash_table_new")
        insert = try library.function("g_hash_table_insert")
        unrefTable = try library.function("g_hash_table_unref")
        stringHash = try library.address("g_str_hash")
        stringEqual = try library.address("g_str_equal")
        newCancellable = try library.function("g_cancellable_new")
        cancel = try library.function("g_cancellable_cancel")
        remoteError = try library.function("g_dbus_error_get_remote_error")
        sessionBus = try library.function("g_bus_get_sync")
        setExitOnClose = try library.function("g_dbus_connection_set_exit_on_close")
        newSchema = try library.function("secret_schema_newv")
        unrefSchema = try library.function("secret_schema_unref")
        service = try library.function("secret_service_get_sync")
        disconnect = try library.function("secret_service_disconnect")
        search = try library.function("secret_service_search_sync")
        collection = try library.function("secret_collection_for_alias_sync")
        isCollectionLocked = try library.function("secret_collection_get_locked")
        isItemLocked = try library.function("secret_item_get_locked")
        secret = try library.function("secret_item_get_secret")
        setSecret = try library.function("secret_item_set_secret_sync")
        createItem = try library.function("secret_item_create_sync")
        deleteItem = try library.function("secret_item_delete_sync")
        newValue = try library.function("secret_value_new")
        valueBytes = try library.function("secret_value_get")
        unrefValue = try library.function("secret_value_unref")
    }
}

/// Finds the D-Bus session bus without connecting.
enum SessionBus {
    /// Checks that there is a bus to connect to. Without one, GLib would start its own daemon, and each process another one.
    static func find(in environment: [String: String]) throws(AccountError) {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty {
            let parts = address.split(separator: ";")
            guard parts.allSatisfy({ $0.contains(":") }) else {
                throw AccountError(
                    .storeAbsent,
                    message: "there is no Secret Service: DBUS_SESSION_BUS_ADDRESS is not an address of D-Bus, such as "
                        + "unix:path=/run/user/1000/bus", remedies: [.fileStore])
            }
            let transports = parts.map { $0.prefix { $0 != ":" } }
            guard transports.allSatisfy({ $0 == "unix" || $0 == "tcp" }) else {
                throw absent("DBUS_SESSION_BUS_ADDRESS names no running bus, but asks for a new D-Bus daemon")
            }
            return
        }
        // This is where GLib looks next. After it, GLib would start a bus.
        var status = stat()
        guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/"),
            stat("\(folder)/bus", &status) == 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid()
        else { throw absent("this process has no D-Bus session bus") }
    }

    static func absent(_ cause: String) -> AccountError {
        AccountError(
            .storeAbsent,
            message: "there is no Secret Service: \(cause)", remedies: [.fileStore])
    }
}
