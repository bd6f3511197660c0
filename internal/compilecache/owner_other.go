//go:build !unix

package compilecache

import "io/fs"

// checkOwner trusts the access lists of systems without owners and modes.
func checkOwner(string, fs.FileInfo) error { return nil }
