// MdocVerification
