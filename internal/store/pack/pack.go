// Package pack compresses documents for storage and returns them byte for byte.
//
// Accounts resemble each other more than anything within one of them repeats, so each is
// compressed against a sample of what accounts look like: short ones with a format made
// for them, long ones with zstd and a dictionary. The first byte of the result names the
// way; a document that is stored as it is begins with a byte of JSON, which is none of
// those names. Neither sample may ever change: what was stored with it must stay readable.
package pack

import (
	_ "embed" // for the dictionary
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// accounts1 was made from generated accounts, by a test that can make others. Its name in front of a document
// is the byte 1.
//
//go:embed accounts-1.dict
var accounts1 []byte

const withAccounts1 = 1

// minLength is the length below which packing cannot pay.
const minLength = 64

// maxUnpacked bounds what a damaged row may ask for when it is unpacked.
const maxUnpacked = 1 << 30

var errDamaged = errors.New("a packed document is damaged")

// codec holds what both directions need. Both are safe for many callers.
type codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

var newCodec = sync.OnceValues(func() (*codec, error) {
	// A checksum would be the second one: documents are kept with a hash.
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderDict(accounts1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderDicts(accounts1), zstd.WithDecoderMaxMemory(maxUnpacked),
		zstd.WithDecoderConcurrency(runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	return &codec{encoder, decoder}, nil
})

// Pack gives the form in which a document is kept: packed, or the document
// itself where that is not longer.
func Pack(document []byte) ([]byte, error) {
	if len(document) < minLength {
		return document, nil
	}
	if len(document) <= maxShort {
		kept := accountsPattern().encode(append(make([]byte, 0, len(document)/3), withAccounts2), document)
		if len(kept) < len(document)/2 {
			return kept, nil
		}
	}
	machine, err := newCodec()
	if err != nil {
		return nil, err
	}
	kept := machine.encoder.EncodeAll(document, append(make([]byte, 0, len(document)/3), withAccounts1))
	if len(kept) >= len(document) {
		return document, nil
	}
	return kept, nil
}

// Unpack gives back the document that was packed.
func Unpack(kept []byte) ([]byte, error) {
	if len(kept) == 0 {
		return kept, nil
	}
	switch kept[0] {
	case withAccounts1:
	case withAccounts2:
		return accountsPattern().decode(kept[1:])
	default:
		return kept, nil
	}
	machine, err := newCodec()
	if err != nil {
		return nil, err
	}
	document, err := machine.decoder.DecodeAll(kept[1:], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return document, nil
}
