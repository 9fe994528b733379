// Package app puts the program together: it reads the settings, opens the
// store, wires the rooms to each other, listens, and ends without losing a
// request.
package app

//go:generate env LANDFALL_TEST_UPDATE=1 go test -count=1 -run TestHandbookHasAll .
