// Package landfall is the dictionary of the account migration import service:
// the nouns everybody uses, the ports technology plugs into, and the errors a
// user can see. It does no input or output and knows no wire format; every
// other package of the program speaks it.
package landfall
