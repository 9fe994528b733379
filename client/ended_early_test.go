package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"landfall/client"
)

// TestPageThatEndsEarly cuts the second page off after one of its accounts: four times, which a reader
// survives, and for ever, which it must say.
func TestPageThatEndsEarly(t *testing.T) {
	for _, forever := range []bool{false, true} {
		second := 0
		_, c := newServer(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("after") == "" {
				w.Header().Set("Link", `</v1/data-import/accounts/NORTH/?after=2>; rel="next"`)
				fmt.Fprint(w, `{"external_account_number":"A-1"}`+"\n"+`{"external_account_number":"A-2"}`+"\n")
				return
			}
			fmt.Fprint(w, `{"external_account_number":"A-3"}`+"\n")
			if second++; forever || second < client.MaxEarlyEnds {
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
			fmt.Fprint(w, `{"external_account_number":"A-4"}`+"\n")
		})
		var got []string
		var ended error
		for account, err := range c.Accounts(t.Context(), "NORTH", client.AccountQuery{}) {
			if ended = err; err == nil {
				got = append(got, account.External)
			}
		}
		if forever {
			_, is := errors.AsType[*client.EndedEarlyError](ended)
			if _, again := client.Temporary(ended); !is || again || !strings.Contains(ended.Error(), "behind account A-3") || fmt.Sprint(got) != "[A-1 A-2 A-3]" {
				t.Errorf("got %v, then %v", got, ended)
			}
		} else if ended != nil || fmt.Sprint(got) != "[A-1 A-2 A-3 A-4]" {
			t.Errorf("got %v, then %v", got, ended)
		}
	}
}
