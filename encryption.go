package landfall

import "context"

// Encryption is how personal data is encrypted.
type Encryption struct {
	// WriteKey is the key that new data is encrypted with; "" means none.
	WriteKey string
	// Keys are all keys that something may be encrypted with. Those other than
	// WriteKey cannot be dropped yet.
	Keys []string
	// Rekeying is set while everything is encrypted again; Progress is how far that is.
	Rekeying bool
	Progress RekeyStep
	// HasPlaintext is set until everything was encrypted once. Until then values
	// from before there was a key are accepted, and afterwards they are refused.
	HasPlaintext bool
}

// RekeyStep is the progress of encrypting everything again.
type RekeyStep struct {
	Key         string   // that data is encrypted with
	Table       string   // that was examined
	Scanned     int64    // rows of this round
	Encrypted   int64    // of them encrypted again
	Changed     int64    // rows that changed meanwhile and need another round
	Done        bool     // nothing is left to do
	DroppedKeys []string // keys that are no longer needed
	// Waiting are the hosts of running servers that write with another key or with
	// none. Nothing was done, because they would undo it.
	Waiting []string
	// Problems name values that were left as they are: those that do not open, and
	// those in the clear in a database in which everything was encrypted.
	Problems []string
	// Unreadable counts the values that do not open. With any, no key is dropped.
	Unreadable int64
}

// Rekeyer encrypts personal data with the current key where it is encrypted with
// another one or not at all.
type Rekeyer interface {
	// Rekey examines a few hundred rows and encrypts what has to be. Rows that
	// change meanwhile are left alone and examined in the next round; an
	// interrupted round continues where it was. When a whole round finds nothing
	// left to do, the other keys are dropped. ErrNotFound when there are no keys.
	Rekey(ctx context.Context) (RekeyStep, error)

	// AcceptPlain accepts unencrypted values again after everything was encrypted,
	// so that the next Rekey encrypts them. ErrNotFound when there are no keys,
	// ErrExists while keys are being changed.
	AcceptPlain(ctx context.Context) error

	// Encryption returns which keys are in use.
	Encryption(ctx context.Context) (Encryption, error)
}
