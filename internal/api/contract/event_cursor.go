package contract

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// A feed cursor is one version byte, the position and time of the event as
// varints, how far the log had been purged when the reader started (if it was),
// and a four-byte checksum, in URL-safe base64. The time shows whether the log
// is still the one that the cursor was made for.
const eventCursorVersion = 0x51

// EncodeEventCursor encodes a log position for a URL.
func EncodeEventCursor(place landfall.EventPosition) string {
	at := int64(0)
	if !place.At.IsZero() {
		at = place.At.UnixMicro()
	}
	raw := binary.AppendVarint(binary.AppendVarint([]byte{eventCursorVersion}, place.ID), at)
	if place.PurgedThrough > 0 {
		raw = binary.AppendVarint(raw, place.PurgedThrough)
	}
	raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// DecodeEventCursor decodes a cursor. It accepts only what EncodeEventCursor
// returns.
func DecodeEventCursor(text string) (landfall.EventPosition, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) <= cursorTail || raw[0] != eventCursorVersion {
		return landfall.EventPosition{}, false
	}
	var place landfall.EventPosition
	id, length := binary.Varint(raw[1:])
	rest := raw[1+max(length, 0) : len(raw)-cursorTail]
	at, length := binary.Varint(rest)
	place.PurgedThrough, _ = binary.Varint(rest[max(length, 0):])
	if place.ID = id; at != 0 {
		place.At = time.UnixMicro(at).UTC()
	}
	// Accept only the canonical encoding, including the checksum.
	return place, id >= 0 && place.PurgedThrough >= 0 && EncodeEventCursor(place) == text
}

// FeedQuery is the query of the feed.
type FeedQuery struct {
	After      landfall.EventPosition
	FromOldest bool // no cursor was given: start at the oldest event
	Limit      int
	Supplier   string // "": every supplier granted
	Wait       time.Duration
}

const (
	defaultFeedLimit = 100
	maxFeedLimit     = 1000
)

// MaxFeedWait is how long a reader may wait for events. Proxies tend to time out
// soon after.
const MaxFeedWait = limits.EventWait

// ReadFeedQuery reads the query of the feed.
func ReadFeedQuery(raw string) (FeedQuery, error) {
	query := ReadQuery(raw)
	asked := FeedQuery{Limit: query.Int("limit", 1, maxFeedLimit), Wait: time.Duration(query.Int("wait", 0, int(MaxFeedWait/time.Second))) * time.Second}
	if asked.Limit == 0 {
		asked.Limit = defaultFeedLimit
	}
	if text, given := query.take("after"); given {
		var sound bool
		if asked.After, sound = DecodeEventCursor(text); !sound {
			query.refuse("after", CodeInvalidCursor, "Use the cursor from next in an earlier response.")
		}
	} else {
		asked.FromOldest = true
	}
	asked.Supplier, _ = query.take("import_supplier_code")
	return asked, query.Err()
}
