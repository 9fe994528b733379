package contract

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"time"

	"landfall"
)

// A cursor is one byte of version, eight of microseconds, the external account
// number, and four of check sum, in URL-safe base64. It holds nothing the
// caller has not seen, so it needs no secret; the check sum tells a cut or
// mistyped one from the next page.
const (
	cursorVersion = 1
	cursorHead    = 9
	cursorTail    = 4
)

// EncodeCursor writes a place in a list for a URL.
func EncodeCursor(cursor landfall.ProcessCursor) string {
	raw := make([]byte, 0, cursorHead+len(cursor.External)+cursorTail)
	raw = append(raw, cursorVersion)
	raw = binary.BigEndian.AppendUint64(raw, uint64(cursor.FirstStagedAt.UnixMicro()))
	raw = append(raw, cursor.External...)
	raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// DecodeCursor reads what EncodeCursor wrote and nothing else.
func DecodeCursor(text string) (landfall.ProcessCursor, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < cursorHead+cursorTail || raw[0] != cursorVersion {
		return landfall.ProcessCursor{}, false
	}
	content, sum := raw[:len(raw)-cursorTail], binary.BigEndian.Uint32(raw[len(raw)-cursorTail:])
	cursor := landfall.ProcessCursor{
		FirstStagedAt: time.UnixMicro(int64(binary.BigEndian.Uint64(raw[1:cursorHead]))).UTC(), //nolint:gosec // the bits of an int64
		External:      string(content[cursorHead:]),
	}
	sound := crc32.ChecksumIEEE(content) == sum && ValidExternalNumber(cursor.External)
	return cursor, sound && EncodeCursor(cursor) == text
}
