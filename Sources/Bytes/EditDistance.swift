/// Insertions, deletions and replacements of bytes, and exchanges of neighbours, that make one text of the other: what
/// a slip of the finger costs 1. Texts beyond 64 bytes resemble nothing: they are as far as can be.
package func editDistance(_ left: String, _ right: String) -> Int {
  let (left, right) = (Array(left.utf8), Array(right.utf8))
  guard left.count <= 64, right.count <= 64 else { return .max }
  var rows = [Array(0...right.count)]
  for (i, a) in left.enumerated() {
    var row = [i + 1]
    for (j, b) in right.enumerated() {
      var distance = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a == b ? 0 : 1))
      if i > 0, j > 0, a == right[j - 1], left[i - 1] == b { distance = min(distance, rows[i - 1][j - 1] + 1) }
      row.append(distance)
    }
    rows.append(row)
  }
  return rows[left.count][right.count]
}
