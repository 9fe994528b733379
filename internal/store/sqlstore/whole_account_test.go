package sqlstore_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestFewLongRecordsAreUnpackedAhead reads records that are a thousand times as long
// as their packed form. A batch of them, unpacked at once, would fill the memory.
func TestFewLongRecordsAreUnpackedAhead(t *testing.T) {
	store := openStore(t, "sqlite:"+filepath.Join(t.TempDir(), "landfall.db"))
	for _, c := range []struct{ length, ahead int }{{100, 400}, {1 << 19, 2}} {
		document := []byte(`{"note":"` + strings.Repeat("a", c.length) + `"}`)
		ahead, whole, err := store.UnpackedAhead(document, 400)
		if err != nil || ahead != c.ahead || whole != 400 {
			t.Errorf("of 400 records of %d bytes %d are unpacked ahead, want %d, and %d are whole in the end: %v", len(document), ahead, c.ahead, whole, err)
		}
	}
}
