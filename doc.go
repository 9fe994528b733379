// Package landfall is the domain of the account migration import service: its
// nouns, the interfaces that stores and other technology implement, and the
// errors a user can see. It does no input or output and knows no wire format.
// Every other package uses it.
package landfall
