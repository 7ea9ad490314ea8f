package cache

import (
	"path/filepath"
)

// DefaultDir returns the folder of the cache for a user who named none by flag
// or configuration file, and says where the choice came from, for a line in
// the log:
//
//   - RAGJUDGE_CACHE, as it stands;
//   - $XDG_CACHE_HOME/ragjudge, if that is an absolute path and can be written;
//   - $HOME/.cache/ragjudge, likewise; a HOME of / counts as unset, which is
//     what a container with an unknown user id gets;
//   - ./.ragjudge-cache in the working directory.
//
// It creates nothing. getenv is os.Getenv outside of tests.
func DefaultDir(getenv func(string) string) (dir, from string) {
	if v := getenv("RAGJUDGE_CACHE"); v != "" {
		return v, "RAGJUDGE_CACHE"
	}
	if v := getenv("XDG_CACHE_HOME"); filepath.IsAbs(v) {
		if dir := filepath.Join(v, "ragjudge"); canMake(dir) {
			return dir, "XDG_CACHE_HOME"
		}
	}
	if v := getenv("HOME"); filepath.IsAbs(v) && filepath.Dir(v) != v {
		if dir := filepath.Join(v, ".cache", "ragjudge"); canMake(dir) {
			return dir, "HOME"
		}
	}
	return ".ragjudge-cache", "the working directory, because neither XDG_CACHE_HOME nor HOME gives a folder that can be written"
}
