// Package contract defines the wire format: the tables of all requests, how they
// are converted to the nouns of the root package, the cross-field rules, the
// response bodies, and the catalogue of error codes.
//
// One declaration per payload gives its decoding, its violations with dotted
// paths, its JSON Schema and its documentation, so that they always agree.
package contract

//go:generate go test -run TestDocumentsAreCurrent -update .
