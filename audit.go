package landfall

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// AuditEntry records who changed what, from where, and in which request. It is
// written in the transaction of the change and holds no personal data.
type AuditEntry struct {
	ID        int64
	At        time.Time
	Actor     string // "operator:<login>" in the console, "shell:<login>" on the command line, "key:<id>", or "service" for what the service did itself
	Action    string // "supplier.set", "key.revoke", …
	Subject   string // the name of the thing changed
	Detail    string
	Source    string // the address or the machine it came from
	RequestID string
	// Batch is the stored form of many changes by organisations in one transaction;
	// Expand parses it. It is empty for every other entry.
	Batch string
}

// AuditHash is the hash of an audit entry and all entries before it.
type AuditHash [sha256.Size]byte

// String returns the hash in hexadecimal.
func (h AuditHash) String() string { return hex.EncodeToString(h[:]) }

// ParseAuditHash parses what String returns. An empty text is the beginning of
// the chain. Anything else that is not a hash gives the zero hash, which no entry
// has.
func ParseAuditHash(text string) (hash AuditHash) {
	if read, err := hex.DecodeString(text); err == nil && len(read) == len(hash) {
		copy(hash[:], read)
	}
	return hash
}

// HashAfter returns the hash of an entry that follows another one in the chain.
// It covers every field with its length, so that text cannot move from one field
// into the next.
func (e AuditEntry) HashAfter(before AuditHash) AuditHash {
	text := append(make([]byte, 0, 256+len(e.Batch)), before[:]...)
	text = binary.BigEndian.AppendUint64(text, uint64(e.ID)) //nolint:gosec // the bits of an int64
	text = binary.BigEndian.AppendUint64(text, uint64(e.At.UnixMicro()))
	for _, field := range [...]string{e.Actor, e.Action, e.Subject, e.Detail, e.Source, e.RequestID, e.Batch} {
		text = binary.BigEndian.AppendUint64(text, uint64(len(field)))
		text = append(text, field...)
	}
	return sha256.Sum256(text)
}

// AuditChain is how far the entries are chained. Entries up to Through have their
// position; newer ones get it within a second.
type AuditChain struct {
	Name     string // random, one per database
	Position int64  // of the last entry in the chain; 0: none
	Hash     AuditHash
	Through  int64 // the last id that was examined
}

// AuditLink is an entry with its position in the chain.
type AuditLink struct {
	AuditEntry
	Position int64 // 0: not chained
	Hash     AuditHash
}

// AuditBacklog counts the entries that are not chained yet.
type AuditBacklog struct {
	Entries int
	Age     time.Duration // of the oldest
}

// AuditQuery asks for a part of the audit.
type AuditQuery struct {
	After  int64 // only entries with a greater id
	Before int64 // only entries with a smaller id; 0: all
	Newest bool  // newest first
	Limit  int
}

// AuditChainer chains audit entries. Writers do not chain: a chain that grows in
// every transaction would make all transactions wait for each other.
type AuditChainer interface {
	// ChainAudit gives some entries a position in the chain, in the order of
	// their ids, once it is certain that no older entry is still to come. When
	// several replicas chain at once, one does and the others do nothing. It takes
	// a watermark of the audit and returns the next one, as EventLog.Watermark
	// does.
	ChainAudit(ctx context.Context, before Watermark) (after Watermark, step ChainStep, err error)
}

// ChainStep is the result of one call of ChainAudit.
type ChainStep struct {
	Chained int  // entries
	More    bool // more entries can be chained now
}

// AuditReader reads the audit.
type AuditReader interface {
	// Audit returns the audit entries about one subject, oldest first.
	Audit(ctx context.Context, subject string) ([]AuditEntry, error)
	// AuditTrail returns entries in the order of their ids, with their positions in
	// the chain.
	AuditTrail(ctx context.Context, query AuditQuery) ([]AuditLink, error)
	// AuditChain returns how far the entries are chained.
	AuditChain(ctx context.Context) (AuditChain, error)
	// AuditPosition returns the id of the entry that was given a position and
	// whether the entry still exists; ErrNotFound when no entry has the position.
	AuditPosition(ctx context.Context, position int64) (id int64, exists bool, err error)
	// AuditBacklog returns how many entries are not chained yet, counted up to
	// limit, and the age of the oldest.
	AuditBacklog(ctx context.Context, limit int) (AuditBacklog, error)
}

// AuditWriter appends to the audit, in the transaction of the change.
type AuditWriter interface {
	AppendAudit(ctx context.Context, entry AuditEntry) error // sets At and ID
	// CountAudit counts the entries of an action about a subject within a duration before
	// now, by the database's clock.
	CountAudit(ctx context.Context, subject, action string, within time.Duration) (int, error)
}
