//go:build !unix

package cache_test

// childMain does nothing where the tests with several processes don't run.
func childMain() bool { return false }
