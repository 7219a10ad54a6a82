internal import COpenSSL
import Synchronization

/// Parts of OpenSSL (library contexts), each with the built-in algorithms and one provider more.
///
/// A provider may offer whatever OpenSSL has itself: digests, random bytes, keys that are made in the token. In a part of its
/// own it is asked for the keys that are in it, and for nothing else that the reader computes.
enum ProviderLibraries {
  /// `@unchecked Sendable`: OpenSSL's library contexts may be used by every thread. Never freed, since keys refer to them.
  private struct Library: @unchecked Sendable { let context: OpaquePointer }

  private static let loaded = Mutex<[String: Library]>([:])

  static func library(with provider: String) throws(KeyStoreFault) -> OpaquePointer {
    let result: Result<Library, KeyStoreFault> = loaded.withLock { loaded in
      if let library = loaded[provider] { return .success(library) }
      do throws(KeyStoreFault) {
        let library = Library(context: try make(provider))
        loaded[provider] = library
        return .success(library)
      } catch {
        return .failure(error)
      }
    }
    return try result.get().context
  }

  private static func make(_ provider: String) throws(KeyStoreFault) -> OpaquePointer {
    guard let context = OSSL_LIB_CTX_new() else { throw .provider(provider, reasons: StoreErrors.take().reasons) }
    // The provider's own settings are there. Without the file, or with one that has none, it has its usual ones.
    if let file = CONF_get1_default_config_file() {
      _ = OSSL_LIB_CTX_load_config(context, file)
      CRYPTO_free(file, nil, 0)
    }
    ERR_clear_error()
    guard OSSL_PROVIDER_load(context, "default") != nil, OSSL_PROVIDER_load(context, provider) != nil else {
      let reasons = StoreErrors.take().reasons
      OSSL_LIB_CTX_free(context)
      throw .provider(provider, reasons: reasons)
    }
    return context
  }
}

/// Whoever asks for a PIN or a passphrase hears that there is none: a service has no terminal, and an empty answer would count
/// as a wrong PIN.
enum SilentPrompt {
  /// `@unchecked Sendable`: never changed after it was made, and never freed.
  private struct Method: @unchecked Sendable { let pointer: OpaquePointer }

  private static let made: Method = {
    guard let method = UI_create_method("none") else { fatalError("UI_create_method") }
    UI_method_set_reader(method) { _, _ in
      SilentPrompt.asked.withLock { $0 += 1 }
      return 0
    }
    return Method(pointer: method)
  }()
  private static let asked = Mutex(0)

  static var method: OpaquePointer { made.pointer }
  /// How often somebody asked.
  static var count: Int { asked.withLock { $0 } }

  /// A provider may pass by the method that it was given, and ask by itself.
  static func answersEverybody() { UI_set_default_method(method) }
}

/// OpenSSL's error queue of this thread, emptied, in the words of the places that failed.
struct StoreErrors {
  /// Oldest first.
  private(set) var reasons: [String] = []
  /// Whether there is no store for this kind of address.
  private(set) var isUnknownScheme = false

  static func take() -> StoreErrors {
    var errors = StoreErrors()
    var text: UnsafePointer<CChar>?
    while case let code = mdoc_next_error(&text), code != 0 {
      // Both strings are OpenSSL's and last until the next call here.
      let reason = ERR_reason_error_string(code).map { String(cString: $0) }
      let added = text.map { String(cString: $0) } ?? ""
      let isOfStore = ERR_GET_LIB(code) == ERR_LIB_OSSL_STORE
      errors.isUnknownScheme = isOfStore && added.contains("No store loader")
      // Stores that were tried before the one that answers, OpenSSL's long remarks on them, and names that are known here
      if added.hasPrefix("calling stat(") || added.hasPrefix("name=") || isOfStore { continue }
      let line = [added, reason].compactMap { $0 }.first { !$0.isEmpty }
      if let line, errors.reasons.last != line { errors.reasons.append(line) }
    }
    return errors
  }
}
