// Issuer
