// Wallet
