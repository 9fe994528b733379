// Package contract is the wire: the declared tables of every request, how they
// are read into the root's nouns, the rule book that looks across fields, the
// bodies that go back, and the catalogue of every code a caller can meet.
//
// One declaration per payload gives its decoding, its violations with dotted
// paths, its JSON Schema and its documentation, so that they cannot disagree.
package contract

//go:generate go test -run TestDocumentsAreCurrent -update .
