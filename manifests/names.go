package manifests

// CheckGlobalName returns nil when a namespace may have this globalName, or an
// error with the exact message of section 6.1 of the code mode contract.
func CheckGlobalName(name string) error { return nil }

// UnsafeKey reports whether key may not be a member name of a scope: it is
// empty, contains NUL, or is __proto__, constructor or prototype.
func UnsafeKey(key string) bool { return false }
