package landfall

import (
	"context"
	"time"
)

// Pack is a stored file that declares more fields for the accounts of the
// suppliers that use it. A version never changes.
type Pack struct {
	Code      string
	Version   int
	Text      []byte
	CreatedAt time.Time
}

// PackReader reads packs.
type PackReader interface {
	// Pack returns one version of a pack, or ErrNotFound.
	Pack(ctx context.Context, code string, version int) (Pack, error)
	// Packs returns every version of every pack, by code and version.
	Packs(ctx context.Context) ([]Pack, error)
}

// PackWriter stores packs.
type PackWriter interface {
	// AddPack stores a version of a pack, or returns ErrExists. It sets CreatedAt.
	AddPack(ctx context.Context, pack Pack) error
}
