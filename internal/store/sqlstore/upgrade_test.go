package sqlstore_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/store/sqlstore"
)

// TestEveryFormerSchemaComesUp stops at every schema there ever was, with an
// account in it that an early program wrote, and brings it up to date from
// there: the account is still there, whole.
func TestEveryFormerSchemaComesUp(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		embedded := strings.HasPrefix(url, "sqlite:")
		steps, err := sqlstore.SchemaApply(t.Context(), url, sqlstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		last := steps[len(steps)-1].Version
		stride := int64(1)
		if !embedded {
			stride = 4 // a step takes longer there, and each of them is tried by somebody's upgrade
		}
		sum := sha256.Sum256([]byte(`{"spelled":  "as sent"}`))
		hash := "X'" + hex.EncodeToString(sum[:]) + "'"
		if !embedded {
			hash = `'\x` + hex.EncodeToString(sum[:]) + "'"
		}
		var rows []string
		for _, row := range formerRows {
			rows = append(rows, strings.ReplaceAll(row, "{hash}", hash))
		}
		for version := int64(2); version < last; version += stride {
			t.Run(fmt.Sprint("step ", version), func(t *testing.T) {
				t.Parallel()
				former := databases[map[bool]string{true: "sqlite", false: "postgres"}[embedded]](t)
				if err := sqlstore.Former(t.Context(), former, 2, rows...); err != nil {
					t.Fatal(err)
				}
				if err := sqlstore.Former(t.Context(), former, version); err != nil {
					t.Fatal(err)
				}
				store := open(t, former)
				err := store.View(t.Context(), func(view landfall.View) error {
					account, err := view.Account(t.Context(), held)
					if err == nil && len(account.Ledger) != 2 {
						t.Errorf("the account has %d entries in its ledger", len(account.Ledger))
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	})
}
