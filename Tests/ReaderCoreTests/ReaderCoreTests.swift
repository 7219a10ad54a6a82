// ReaderCore
