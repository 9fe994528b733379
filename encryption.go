package landfall

// Encryption is how what is personal is kept.
type Encryption struct {
	// Writes names the key that seals; "" keeps everything as it is.
	Writes string
	// Held names every key that something may be sealed with. Those besides the
	// one that writes cannot be dropped yet.
	Held []string
	// Under says that everything is being sealed anew, and Place how far it is.
	Under bool
	Place RekeyStep
	// Bare says that something may be kept unsealed, from before there was a key.
	Bare bool
}

// RekeyStep is how far everything is sealed anew.
type RekeyStep struct {
	Key     string   // the one that seals
	Table   string   // that was looked at
	Looked  int64    // rows of this round
	Sealed  int64    // of them sealed anew
	Missed  int64    // that changed meanwhile, and need another round
	Done    bool     // nothing is left
	Dropped []string // the keys that are not needed any more
}
