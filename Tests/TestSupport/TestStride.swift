import Glibc

/// How much of what a test could try is tried.
public enum TestStride {
  /// From one case of thousands to the next that is tried: 1, unless a slow build or processor asks for less in `MDOC_STRIDE`.
  public static let step = getenv("MDOC_STRIDE").flatMap { Int(String(cString: $0)) }.map { max(1, $0) } ?? 1
}
