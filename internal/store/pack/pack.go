// Package pack compresses documents for storage and returns them byte for byte.
//
// Accounts resemble each other more than the parts of one account do, so each is
// compressed against a sample of typical accounts: short ones with a format made
// for them, long ones with zstd and a dictionary. The first byte of the result
// names the format. A document stored uncompressed begins with a byte of JSON,
// which names no format. The samples must never change, because stored documents
// must stay readable.
package pack

import (
	_ "embed" // for the dictionary
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// accounts1 is a zstd dictionary made from generated accounts. The byte 1 in
// front of a document names it.
//
//go:embed accounts-1.dict
var accounts1 []byte

const withAccounts1 = 1

// minLength is the length below which packing cannot pay.
const minLength = 64

// maxUnpacked bounds the memory that a damaged row may ask for.
const maxUnpacked = 1 << 30

var errDamaged = errors.New("a packed document is damaged")

// codec compresses and decompresses with zstd. It is safe for concurrent use.
type codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

var newCodec = sync.OnceValues(func() (*codec, error) {
	// No checksum is needed: documents are stored with a hash.
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

// Pack returns the form in which a document is stored: packed, or the document
// itself if packing does not make it shorter.
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

// Unpack returns the document that Pack was given.
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
