package landfall

import "context"

// Encryption is how what is personal is kept.
type Encryption struct {
	// Writes names the key that seals; "" keeps everything as it is.
	WriteKey string
	// Held names every key that something may be sealed with. Those besides the
	// one that writes cannot be dropped yet.
	Keys []string
	// Under says that everything is being sealed anew, and Place how far it is.
	Rekeying bool
	Progress RekeyStep
	// Bare says that something may be kept unsealed, from before there was a key.
	HasPlaintext bool
}

// RekeyStep is how far everything is sealed anew.
type RekeyStep struct {
	Key         string   // the one that seals
	Table       string   // that was looked at
	Scanned     int64    // rows of this round
	Encrypted   int64    // of them sealed anew
	Changed     int64    // that changed meanwhile, and need another round
	Done        bool     // nothing is left
	DroppedKeys []string // the keys that are not needed any more
}

// Rekeyer encrypts personal data with the current key where it is encrypted with
// another one or not at all.
type Rekeyer interface {
	// Rekey examines a few hundred rows and encrypts what has to be. Rows that
	// change meanwhile are left alone and examined in the next round; an
	// interrupted round continues where it was. When a whole round finds nothing
	// left to do, the other keys are dropped. ErrNotFound when there are no keys.
	Rekey(ctx context.Context) (RekeyStep, error)

	// Encryption returns which keys are in use.
	Encryption(ctx context.Context) (Encryption, error)
}
