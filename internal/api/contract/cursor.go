package contract

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"time"

	"landfall"
)

// A cursor is one version byte, eight bytes of microseconds, the external
// account number and a four-byte checksum, in URL-safe base64. It only contains
// what the caller already knows, so it needs no signature. The checksum detects
// truncated or mistyped cursors.
const (
	cursorVersion = 1
	cursorHead    = 9
	cursorTail    = 4
)

// EncodeCursor encodes a list position for a URL.
func EncodeCursor(cursor landfall.ProcessCursor) string {
	raw := make([]byte, 0, cursorHead+len(cursor.External)+cursorTail)
	raw = append(raw, cursorVersion)
	raw = binary.BigEndian.AppendUint64(raw, uint64(cursor.FirstStagedAt.UnixMicro()))
	raw = append(raw, cursor.External...)
	raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// DecodeCursor decodes a cursor. It accepts only what EncodeCursor returns.
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
