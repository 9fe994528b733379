package landfall

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// AuditEntry says who changed what, from where, and in which request. It is
// written in the transaction of the change and holds no personal data.
type AuditEntry struct {
	ID        int64
	At        time.Time
	Actor     string // "operator:<login>", "key:<id>", or "service" for what it did by itself
	Action    string // "supplier.set", "key.revoke", …
	Subject   string // the name of the thing changed
	Detail    string
	Source    string // the address or the machine it came from
	RequestID string
	// Acts is what organisations did in one transaction, many of them at once,
	// as it is kept; Expand reads it. It is empty for everything else.
	Batch string
}

// AuditHash is a place in the chain of audit entries.
type AuditHash [sha256.Size]byte

// String is the hash in hexadecimal digits.
func (h AuditHash) String() string { return hex.EncodeToString(h[:]) }

// ParseAuditHash reads what String wrote; an empty text is the beginning of the
// chain. What is no hash is none that any entry has.
func ParseAuditHash(text string) (hash AuditHash) {
	if read, err := hex.DecodeString(text); err == nil && len(read) == len(hash) {
		copy(hash[:], read)
	}
	return hash
}

// HashAfter is the hash of an entry that follows a place in the chain. Every field
// counts, with its length, so that nothing can move from one into the next.
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

// AuditChain is how far the entries are chained. Those up to Through have their
// place; newer ones get it within a second.
type AuditChain struct {
	Name    string // drawn for this database
	Position   int64  // of the last entry in the chain; 0: none
	Hash    AuditHash
	Through int64 // the last id that has been looked at
}

// AuditLink is an entry with its place in the chain.
type AuditLink struct {
	AuditEntry
	Position int64 // 0: it has none
	Hash  AuditHash
}

// AuditBacklog is what is not chained yet.
type AuditBacklog struct {
	Entries int
	Age     time.Duration // of the oldest
}

// AuditQuery asks for a part of the audit.
type AuditQuery struct {
	After  int64 // only entries with a greater id
	Before int64 // only entries with a smaller one; 0: all
	Newest bool  // those first
	Limit  int
}
