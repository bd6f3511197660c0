//go:build !unix

package testguests

func lock(string) (unlock func(), err error) { return func() {}, nil }
