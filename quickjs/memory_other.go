//go:build !unix

package quickjs

func reserve(n uint64) ([]byte, error) { return make([]byte, n), nil }
func commit([]byte) error              { return nil }
func unreserve([]byte)                 {}
