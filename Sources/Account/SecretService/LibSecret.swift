// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The part of libsecret 0.20 and of GLib below it that is used here, found at run time: programs start where neither is installed.
///
/// All of these functions may be called from any thread, which `@unchecked` vouches for. Names and signatures are those of the
/// libraries' reference manuals; objects are untyped pointers.
struct LibSecret: @unchecked Sendable {
    typealias Object = UnsafeMutableRawPointer
    /// Where a function leaves its ``GError``.
    typealias Failure = UnsafeMutablePointer<Object?>

    /// `GError`, whose layout is public.
    struct GError {
        var domain: UInt32
        var code: Int32
        var message: UnsafeMutablePointer<CChar>?
    }

    /// The head of `GList`, whose layout is public.
    struct GList {
        var data: Object?
        var next: Object?
    }

    // GLib
    let unref: @convention(c) (Object?) -> Void
    let freeError: @convention(c) (Object?) -> Void
    let quarkName: @convention(c) (UInt32) -> UnsafePointer<CChar>?
    let free: @convention(c) (Object?) -> Void
    let freeList: @convention(c) (Object?) -> Void
    let newTable: @convention(c) (Object?, Object?) -> Object?
    let insert: @convention(c) (Object?, Object?, Object?) -> Int32
    let unrefTable: @convention(c) (Object?) -> Void
    let stringHash: Object
    let stringEqual: Object
    let newCancellable: @convention(c) () -> Object?
    let cancel: @convention(c) (Object?) -> Void
    let remoteError: @convention(c) (Object?) -> UnsafeMutablePointer<CChar>?
    let sessionBus: @convention(c) (Int32, Object?, Failure) -> Object?
    let setExitOnClose: @convention(c) (Object?, Int32) -> Void

    // libsecret
    let newSchema: @convention(c) (UnsafePointer<CChar>, Int32, Object?) -> Object?
    let unrefSchema: @convention(c) (Object?) -> Void
    let service: @convention(c) (Int32, Object?, Failure) -> Object?
    let disconnect: @convention(c) () -> Void
    let search: @convention(c) (Object?, Object?, Object?, Int32, Object?, Failure) -> Object?
    let collection: @convention(c) (Object?, UnsafePointer<CChar>, Int32, Object?, Failure) -> Object?
    let isCollectionLocked: @convention(c) (Object?) -> Int32
    let isItemLocked: @convention(c) (Object?) -> Int32
    let secret: @convention(c) (Object?) -> Object?
    let setSecret: @convention(c) (Object?, Object?, Object?, Failure) -> Int32
    let createItem:
        @convention(c) (
            Object?, Object?, Object?, UnsafePointer<CChar>, Object?, Int32, Object?, Failure
        ) -> Object?
    let deleteItem: @convention(c) (Object?, Object?, Failure) -> Int32
    let newValue: @convention(c) (UnsafeRawPointer?, Int, UnsafePointer<CChar>) -> Object?
    let valueBytes: @convention(c) (Object?, UnsafeMutablePointer<UInt>) -> UnsafePointer<UInt8>?
    let unrefValue: @convention(c) (Object?) -> Void

    /// Loaded once, and never unloaded: GLib does not survive that.
    static let shared = LibSecret()

    static func load() throws(AccountError) -> LibSecret {
        guard let shared else {
            throw SessionBus.absent("libsecret-1.so.0 cannot be loaded (Debian has it in libsecret-1-0)")
        }
        return shared
    }

    private init?() {
        // Looks names up in the libraries below it too, which is where GLib's are.
        guard let library = dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL) else { return nil }
        var isComplete = true
        func address(_ name: String) -> Object {
            if let found = dlsym(library, name) { return found }
            isComplete = false
            return library
        }
        func function<Signature>(_ name: String) -> Signature {
            unsafeBitCast(address(name), to: Signature.self)
        }
        unref = function("g_object_unref")
        freeError = function("g_error_free")
        quarkName = function("g_quark_to_string")
        free = function("g_free")
        freeList = function("g_list_free")
        newTable = function("g_hash_table_new")
        insert = function("g_hash_table_insert")
        unrefTable = function("g_hash_table_unref")
        stringHash = address("g_str_hash")
        stringEqual = address("g_str_equal")
        newCancellable = function("g_cancellable_new")
        cancel = function("g_cancellable_cancel")
        remoteError = function("g_dbus_error_get_remote_error")
        sessionBus = function("g_bus_get_sync")
        setExitOnClose = function("g_dbus_connection_set_exit_on_close")
        newSchema = function("secret_schema_newv")
        unrefSchema = function("secret_schema_unref")
        service = function("secret_service_get_sync")
        disconnect = function("secret_service_disconnect")
        search = function("secret_service_search_sync")
        collection = function("secret_collection_for_alias_sync")
        isCollectionLocked = function("secret_collection_get_locked")
        isItemLocked = function("secret_item_get_locked")
        secret = function("secret_item_get_secret")
        setSecret = function("secret_item_set_secret_sync")
        createItem = function("secret_item_create_sync")
        deleteItem = function("secret_item_delete_sync")
        newValue = function("secret_value_new")
        valueBytes = function("secret_value_get")
        unrefValue = function("secret_value_unref")
        guard isComplete else { return nil }
    }
}
