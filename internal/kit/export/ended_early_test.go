package export

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"landfall/client"
	"landfall/internal/api/contract"
)

// TestExportWaitedForAPageThatNeverCompletes: a server does not answer a damaged record. It ends the
// page there, every time, and the export asked for it again for ten minutes without a word.
func TestExportWaitedForAPageThatNeverCompletes(t *testing.T) {
	for name, c := range map[string]struct {
		whole  int // accounts before the damaged one
		behind string
	}{"the third account": {2, "behind account A-2"}, "the first account": {0, "at the start of a page"}} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/graphql/" {
					fmt.Fprint(w, `{"data":{"obtainServiceToken":{"token":"token","expiresIn":3600}}}`)
					return
				}
				requests++
				for i := range c.whole {
					fmt.Fprintf(w, `{"import_supplier":"NORTH","external_account_number":"A-%d"}`+"\n", i+1)
				}
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}))
			defer server.Close()
			reader, err := client.New(server.URL, client.WithKey("key"))
			if err != nil {
				t.Fatal(err)
			}
			folder := filepath.Join(t.TempDir(), "export")
			_, err = Run(t.Context(), reader, Options{Supplier: "NORTH", Folder: folder, Format: NDJSON, Schema: contract.PlainSchema(), Progress: func(int) {}})
			if _, is := errors.AsType[*client.EndedEarlyError](err); !is || !strings.Contains(err.Error(), c.behind) {
				t.Errorf("the export ended with %v", err)
			}
			if requests != client.MaxEarlyEnds {
				t.Errorf("the page was requested %d times", requests)
			}
			// What arrived of the page is not in the file, and the export can go on once the account is repaired.
			if text, err := os.ReadFile(filepath.Join(folder, linesName)); err == nil && len(text) > 0 {
				t.Errorf("the file has a part of the page: %s", text)
			}
		})
	}
}
