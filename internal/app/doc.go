// Package app is the server: it reads the settings, opens the store, wires the packages,
// listens, and shuts down without losing a request.
package app

//go:generate env LANDFALL_TEST_UPDATE=1 go test -count=1 -run TestHandbookHasAll .
