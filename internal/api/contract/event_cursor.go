package contract

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// A feed cursor is one version byte, the position and time of the event and how
// far the log had been purged when the reader started as varints, the supplier
// that the reader asked for (none for all), and a four-byte checksum, in URL-safe
// base64. The time shows whether the log is still the one that the cursor was
// made for. The supplier keeps a cursor from being used with another filter, where
// it would skip events.
const eventCursorVersion = 0x51

// EncodeEventCursor encodes a log position for a URL, with the supplier whose
// events were read; "" for all.
func EncodeEventCursor(place landfall.EventPosition, supplier string) string {
	at := int64(0)
	if !place.At.IsZero() {
		at = place.At.UnixMicro()
	}
	raw := []byte{eventCursorVersion}
	for _, number := range []int64{place.ID, at, place.PurgedThrough} {
		raw = binary.AppendVarint(raw, number)
	}
	raw = append(raw, supplier...)
	raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// DecodeEventCursor decodes a cursor. It accepts only what EncodeEventCursor
// returns.
func DecodeEventCursor(text string) (place landfall.EventPosition, supplier string, sound bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) <= cursorTail || raw[0] != eventCursorVersion {
		return landfall.EventPosition{}, "", false
	}
	var at int64
	rest := raw[1 : len(raw)-cursorTail]
	for _, number := range []*int64{&place.ID, &at, &place.PurgedThrough} {
		read, length := binary.Varint(rest)
		*number, rest = read, rest[max(length, 0):]
	}
	if at != 0 {
		place.At = time.UnixMicro(at).UTC()
	}
	supplier = string(rest)
	// Accept only the canonical encoding, including the checksum.
	return place, supplier, place.ID >= 0 && place.PurgedThrough >= 0 && EncodeEventCursor(place, supplier) == text
}

// FeedQuery is the query of the feed.
type FeedQuery struct {
	After      landfall.EventPosition
	FromOldest bool // no cursor was given: start at the oldest event
	Limit      int
	Supplier   string // "": every supplier granted
	Wait       time.Duration
	// IncludeData asks for the whole accounts of the events.
	IncludeData bool
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
	asked.IncludeData = query.Bool("include_data", false)
	asked.Supplier, _ = query.take("import_supplier_code")
	text, given := query.take("after")
	asked.FromOldest = !given
	if given {
		place, supplier, sound := DecodeEventCursor(text)
		switch asked.After = place; {
		case !sound:
			query.refuse("after", CodeInvalidCursor, "Use the cursor from next in an earlier response.")
		case supplier != asked.Supplier:
			query.refuse("after", CodeInvalidCursor, "This cursor was given for another import_supplier_code. "+
				"Use it with the filter of the request that returned it.")
		}
	}
	return asked, query.Err()
}
