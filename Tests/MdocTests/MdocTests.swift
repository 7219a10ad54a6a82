// Mdoc
