/// Published tokens, and tokens that another implementation made. The keys are public and prove nothing about anybody.
enum Figures {
  /// RFC 7515 appendix A.3.1.
  static let es256 = """
    eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19\
    yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU\
    1Q
    """

  /// RFC 7515 appendix A.4.1.
  static let es512 = """
    eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA.AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2\
    SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXo\
    lLzeO_Jn
    """

  /// The key proof of OpenID4VCI 1.0 appendix F.1, signed by the key in its header.
  static let proof = """
    eyJ0eXAiOiJvcGVuaWQ0dmNpLXByb29mK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwiY3J2IjoiUC0yNTYi\
    LCJ4IjoiblVXQW9BdjNYWml0aDhFN2kxOU9kYXhPTFlGT3dNLVoyRXVNMDJUaXJUNCIsInkiOiJIc2tIVThCalVpMVU5WHFpN1N3\
    bWo4Z3dBS18weGtjRGpFV183MVNvc0VZIn19.eyJhdWQiOiJodHRwczovL2NyZWRlbnRpYWwtaXNzdWVyLmV4YW1wbGUuY29tIiw\
    iaWF0IjoxNzAxOTYwNDQ0LCJub25jZSI6IkxhclJHU2JtVVBZdFJZTzZCUTR5bjgifQ.-a3EDsxClUB4O3LeDD5DVGEnNMT01FCQ\
    W4P6-2-BNBqc_Zxf0Qw4CWayLEpqkAomlkLb9zioZoipdP-jvh1WlA
    """

  /// RFC 7520 section 5.5: ECDH-ES with A128CBC-HS256.
  static let cookbook = """
    eyJhbGciOiJFQ0RILUVTIiwia2lkIjoibWVyaWFkb2MuYnJhbmR5YnVja0BidWNrbGFuZC5leGFtcGxlIiwiZXBrIjp7Imt0eSI6\
    IkVDIiwiY3J2IjoiUC0yNTYiLCJ4IjoibVBVS1RfYkFXR0hJaGcwVHBqanFWc1AxclhXUXVfdndWT0hIdE5rZFlvQSIsInkiOiI4\
    QlFBc0ltR2VBUzQ2ZnlXdzVNaFlmR1RUMElqQnBGdzJTUzM0RHY0SXJzIn0sImVuYyI6IkExMjhDQkMtSFMyNTYifQ..yc9N8v5s\
    Yyv3iGQT926IUg.BoDlwPnTypYq-ivjmQvAYJLb5Q6l-F3LIgQomlz87yW4OPKbWE1zSTEFjDfhU9IPIOSA9Bml4m7iDFwA-1ZXv\
    HteLDtw4R1XRGMEsDIqAYtskTTmzmzNa-_q4F_evAPUmwlO-ZG45Mnq4uhM1fm_D9rBtWolqZSF3xGNNkpOMQKF1Cl8i8wjzRli7\
    -IXgyirlKQsbhhqRzkv8IcY6aHl24j03C-AR2le1r7URUhArM79BY8soZU0lzwI-sD5PZ3l4NDCCei9XkoIAfsXJWmySPoeRb2Ni\
    5UZL4mYpvKDiwmyzGd65KqVw7MsFfI_K767G9C9Azp73gKZD0DyUn1mn0WW5LmyX_yJ-3AROq8p1WZBfG-ZyJ6195_JGG2m9Csg.\
    WCCkNa-x4BeB9hIDIfFuhg
    """

  /// The header of RFC 7518 appendix C, and "appendix C" encrypted with the key that is derived there, which a plain
  /// implementation of AES-GCM did. It decrypts only where the key derivation gives that very key.
  static let appendixC = """
    eyJhbGciOiJFQ0RILUVTIiwiZW5jIjoiQTEyOEdDTSIsImFwdSI6IlFXeHBZMlUiLCJhcHYiOiJRbTlpIiwiZXBrIjp7Imt0eSI6\
    IkVDIiwiY3J2IjoiUC0yNTYiLCJ4IjoiZ0kwR0FJTEJkdTdUNTNha3JGbU15R2NzRjNuNWRPN01td05CSEtXNVNWMCIsInkiOiJT\
    TFdfeFNmZnpsUFdySEVWSTMwREhNXzRlZ1Z3dDNOUXFlVUQ3bk1GcHBzIn19..AAECAwQFBgcICQoL.FftygSO1w8iaQQ.q1mPYa\
    SqPHJFG-L4TPUeEg
    """

  /// What jwcrypto 1.1 encrypted for Bob of RFC 7518 appendix C, with "Alice" and "Bob" as party information. The plaintext
  /// is `{"enc":"..."}` with the algorithm's name.
  static let peer: [String: String] = [
    "A128GCM":
      """
    eyJhbGciOiJFQ0RILUVTIiwiYXB1IjoiUVd4cFkyVSIsImFwdiI6IlFtOWkiLCJlbmMiOiJBMTI4R0NNIiwiZXBrIjp7ImNydiI6\
    IlAtMjU2Iiwia3R5IjoiRUMiLCJ4IjoidTIyOGlPMHZnLVV4d0hJR0hYOVJxcFlncXJDSWwxdDZkLVh5M3NrYkZyWSIsInkiOiJ4\
    UlBucUJGRGJDTXN2Q2VuZUFLemVYZ2JrV0twdUZDLUp2Vkx0RWxYY00wIn19..USpFnP27vv3sQ-xo.7TFKKLuDGY7YV7vbCDN_z\
    Gk.gws0hyLdbeWxRV_pLvbrqA
    """,
    "A192GCM":
      """
    eyJhbGciOiJFQ0RILUVTIiwiYXB1IjoiUVd4cFkyVSIsImFwdiI6IlFtOWkiLCJlbmMiOiJBMTkyR0NNIiwiZXBrIjp7ImNydiI6\
    IlAtMjU2Iiwia3R5IjoiRUMiLCJ4IjoiaEpDZ0o2X3dYM1BtV1hvWlV3czFqSVZoTTJkZVRacGZWMVU1SGhJUkhfSSIsInkiOiJX\
    dENoQWdQeFY0amV6R294T1R1ZTY0WjNmTGw3T3RSV1dpdjMzWWFKY21zIn19.._f58Lreqvup-goef.KcxL3fsIICi9inhIfR6SJ\
    zk.1Mt2j9FE8PsH3bkdsE2qjw
    """,
    "A256GCM":
      """
    eyJhbGciOiJFQ0RILUVTIiwiYXB1IjoiUVd4cFkyVSIsImFwdiI6IlFtOWkiLCJlbmMiOiJBMjU2R0NNIiwiZXBrIjp7ImNydiI6\
    IlAtMjU2Iiwia3R5IjoiRUMiLCJ4IjoiQXp5cFFBMkdydU5xQlRMQm8yWENFZUhPN2FPbjM5Nk92c1h1VzBJalZkTSIsInkiOiI3\
    U3NyWlZzaDQwVThIT01KVVRXUkxBTlI1NTVGYjlnMkNGcGgwNENlUUp3In19..wslnYix4PLOuhq4m.2UI-5vhrged8rRbYNR-tI\
    xU.k7MSY3aXSPYoJqauBt6FFA
    """,
    "A128CBC-HS256":
      """
    eyJhbGciOiJFQ0RILUVTIiwiYXB1IjoiUVd4cFkyVSIsImFwdiI6IlFtOWkiLCJlbmMiOiJBMTI4Q0JDLUhTMjU2IiwiZXBrIjp7\
    ImNydiI6IlAtMjU2Iiwia3R5IjoiRUMiLCJ4IjoiQlVRbEtVN0xsbzZ6SVZQd1g0UTFSWkFsVU12aDh3OWdUcnBKMFdkcGxWQSIs\
    InkiOiI1UldZWGZMcmwxU29vUGc4ZE5vQ3J5X0tNMlRXN0Exd1Z5NlVZNUNzc2dRIn19..uXPvS8AZ4qlC_vtvDlY8rw.x4nPlkW\
    xHmlBN8WLoFJGdk39MZAZFWhoK7IopscDzck.gF2yws23Fdrwjn2tVUFtwA
    """,
    "A192CBC-HS384":
      """
    eyJhbGciOiJFQ0RILUVTIiwiYXB1IjoiUVd4cFkyVSIsImFwdiI6IlFtOWkiLCJlbmMiOiJBMTkyQ0JDLUhTMzg0IiwiZXBrIjp7\
    ImNydiI6IlAtMjU2Iiwia3R5IjoiRUMiLCJ4IjoiVGRMLUp4YkZXQXdTQWNfMU1CT09FMWI3Z1o4cVVheVlZR1B1NUtkWTF0WSIs\
    InkiOiIycmZ3enpFamNLNkduQl9rVmlYZzM0ay1xb0pqU0t3SHNOOHJBcXREMVJFIn19..noTriXiMcELcwttIpHBG4A.d-WgQcd\
    KPfZI6gO18Cn1d4sYwTEB-wyel3_fvndbEhE.rjjyqb-QgZ6x0GNDKeTVmXHKlcfrenrG
    """,
    "A256CBC-HS512":
      """
    eyJhbGciOiJFQ0RILUVTIiwiYXB1IjoiUVd4cFkyVSIsImFwdiI6IlFtOWkiLCJlbmMiOiJBMjU2Q0JDLUhTNTEyIiwiZXBrIjp7\
    ImNydiI6IlAtMjU2Iiwia3R5IjoiRUMiLCJ4IjoibWZaVTR1aTVJOFFzWjlNRXNhai01UC02R1FUM2pzTFFWdlpVNTRRU24xVSIs\
    InkiOiIxRUJCeHk5T244eGZ3YW80SU53NF8xaHFETFZOQWtWa1lBbDA5YTc2N2dJIn19..FCotwp-eX0WrxGslK_A_yw.RP0qsAT\
    cNqmzZSWkxalqT7pc-K0xA32PtlKRFdENQR4.GaVxnTlWnZNiD-5qFL9GHibmPwjWcVx1CbWeg9PT6vI
    """,
  ]

  /// The same with A256GCM for `p384Scalar`; the plaintext is "P-384".
  static let peerP384 = """
    eyJhbGciOiJFQ0RILUVTIiwiZW5jIjoiQTI1NkdDTSIsImVwayI6eyJjcnYiOiJQLTM4NCIsImt0eSI6IkVDIiwieCI6Ijh6emZX\
    RFFMR0tQLXZMR1dvcE1aYXBuOXZvMFBvMHNVV0hHWHY1Zk1wNWxJRG8yUERQamh6a0diekRZZ0RydGoiLCJ5Ijoicjh1LVZEOGxo\
    U3FaeUhNVF9HQVR1dkVvX05ZTGw3VWJ1bkRxQ0x4bVhDVUE0U1VEbGNlazRwZEJKOTUwaEVzaiJ9fQ..uP4F54gIEX-_l8vP.h8s\
    gJVE.VBIGRR3DTLRRRD_gnQQdww
    """

  /// A private key on P-384.
  static let p384Scalar = "-hphYUV2293eChPNJb8E0KZscu3ZNR5zvm3PlC9TR7lNh1lgHyGM1sNxyOOcpokK"

  /// The same with A256GCM for `p521Scalar`; the plaintext is "P-521".
  static let peerP521 = """
    eyJhbGciOiJFQ0RILUVTIiwiZW5jIjoiQTI1NkdDTSIsImVwayI6eyJjcnYiOiJQLTUyMSIsImt0eSI6IkVDIiwieCI6IkFFbFZf\
    SWQtSWdvc051eHlDUmwycDNTSm9lYUZITk5ZYmNHVThtWFpZTEdFTHpHVlplX0o3MXh2d0RIVWh2WWotdWMyYlNYMHI1R0g0RGth\
    NjlGeVF0MlQiLCJ5IjoiQUg2WE1VOFdILUFrX1dzX1dfT19JMm1kNXB3MkNrVDFCQ1o0VHpDU18tOXJRbk14WmRIWnZMNzJmQ2tZ\
    ZXpINU5MWEtTbXhxWUtGZDVhSHA5U25lZVJ4YiJ9fQ..D8RTKR-lq6eOhHCH.rolXhaw.QJwifuMNgMpSzyD5k6mmcw
    """

  /// A private key on P-521.
  static let p521Scalar = "AF_ZtOv36OUQ2hgFwpTG7oMELfoj2m4Ovvgv92rF79jyj0jtpvsRTQVSIY_N0ZgFH5UjoePG10zV6dRzIrrsLhKF"

  /// The same with A256GCM for Bob, where the shared secret begins with a zero byte; the plaintext is "leading zero".
  static let leadingZero = """
    eyJhbGciOiJFQ0RILUVTIiwiZW5jIjoiQTI1NkdDTSIsImVwayI6eyJjcnYiOiJQLTI1NiIsImt0eSI6IkVDIiwieCI6IkZuSmFa\
    eWRMMWdqWGZDbENoNG9mOGswOFdMcEdxUjRub3R0dVFKN3VpRFUiLCJ5IjoiZzVRV3JFYjVxZ2M1UFdSbWRfRldDbjY0Qi1URXRV\
    TkYtU003a3l1SloyVSJ9fQ..RgJpQBogWoClgRLT.XwXVrCzVSsQ5awfJ.SRWys-Cdal1hC_qLevcsIQ
    """
}
