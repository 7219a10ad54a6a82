// MdocSession
