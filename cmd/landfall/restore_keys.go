package main

import (
	"io"
	"os"
	"time"

	"landfall/internal/service/operate"
)

// maxRevokedList bounds what is read: some hundred thousand keys.
const maxRevokedList = 16 << 20

// readRevokedKeys reads a list of keys that have ended from a file, or from
// standard input, which is bounded because a pipe may never end.
func readRevokedKeys(stdin io.Reader, path string) ([]string, error) {
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(io.LimitReader(stdin, maxRevokedList))
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	return operate.ParseRevokedKeys(text, time.Now())
}
