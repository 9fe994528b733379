package contract

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"time"

	"landfall"
)

// A cursor of the feed is one byte of version, the event's place and its time,
// each as long as it needs to be, then, when events had been purged before its
// reader began, how far; and four bytes of check sum, in URL-safe base64. The time
// lets us see that the log is still the one the cursor was given for.
const eventCursorVersion = 0x51

// EncodeEventCursor writes a place in the log for a URL.
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

// DecodeEventCursor reads what EncodeEventCursor wrote and nothing else.
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
	// Only one spelling is ours, check sum included.
	return place, id >= 0 && place.PurgedThrough >= 0 && EncodeEventCursor(place) == text
}

// FeedQuery is what the query of the feed asks for.
type FeedQuery struct {
	After      landfall.EventPosition
	FromOldest bool // no cursor was given: from the oldest event that is kept
	Limit      int
	Supplier   string // "": every supplier granted
	Wait       time.Duration
}

const (
	defaultFeedLimit = 100
	maxFeedLimit     = 1000
)

// MaxFeedWait is how long a reader of the feed may wait for news: proxies
// between us and it tend to give up soon after.
const MaxFeedWait = 60 * time.Second

// ReadFeedQuery reads the raw query of the feed.
func ReadFeedQuery(raw string) (FeedQuery, error) {
	query := ReadQuery(raw)
	asked := FeedQuery{Limit: query.Int("limit", 1, maxFeedLimit), Wait: time.Duration(query.Int("wait", 0, int(MaxFeedWait/time.Second))) * time.Second}
	if asked.Limit == 0 {
		asked.Limit = defaultFeedLimit
	}
	if text, given := query.take("after"); given {
		var sound bool
		if asked.After, sound = DecodeEventCursor(text); !sound {
			query.refuse("after", CodeInvalidCursor, "Take the cursor from next in an earlier answer.")
		}
	} else {
		asked.FromOldest = true
	}
	asked.Supplier, _ = query.take("import_supplier_code")
	return asked, query.Err()
}
