package app

// readableByOthers knows nothing on Windows, where files have no such modes.
func readableByOthers(string) bool { return false }
