package contract_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"landfall"
)

// TestMarketAccountsAreValid reads accounts as suppliers of both markets send them, with
// names of old clients and numbers as texts or JSON numbers. Together they use every
// object of the packs.
func TestMarketAccountsAreValid(t *testing.T) {
	for market, region := range map[string][3]string{"gb": {"GB", "GBP", "Europe/London"}, "au": {"AU", "AUD", "Australia/Sydney"}} {
		t.Run(market, func(t *testing.T) {
			schema := openPacks(t, market+"-energy@1")
			files, err := filepath.Glob(filepath.Join("testdata", "market", market+"-*.json"))
			if err != nil || len(files) < 3 {
				t.Fatal(files, err)
			}
			used := map[string]bool{}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				account, err := schema.ReadAccount(t.Context(), text)
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				supplier := landfall.NewSupplier("S")
				supplier.Region, supplier.Currency, supplier.TimeZone = region[0], region[1], region[2]
				for _, one := range account.Check(&supplier, time.Date(2026, time.November, 17, 12, 0, 0, 0, time.UTC)).Errors {
					t.Errorf("%s: %s %s %s", file, one.Code, one.Attr, one.Detail)
				}
				if data := account.Data(); len(data.SupplyAddresses) == 0 || len(data.SupplyAddresses[0].SupplyPoints) == 0 || data.SupplyAddresses[0].SupplyPoints[0].Identifier == "" {
					t.Errorf("%s: its meter points are not read as supply points", file)
				}
				var document map[string]any
				if err := json.Unmarshal(text, &document); err != nil {
					t.Fatal(err)
				}
				addPaths(used, "", document)
			}
			objects := map[string]bool{}
			schema.Walk(func(path string, _ json.RawMessage) {
				if at := strings.LastIndexByte(path, '.'); at > 0 {
					objects[path[:at]] = true
				}
			})
			for path := range objects {
				// The parts of a business, a person and an address are the same wherever they are.
				repeated := strings.HasPrefix(path, "debt.") || strings.Contains(path, "notes.0") || strings.Contains(path, ".users.0.") || strings.Contains(path, "transactions.0") || strings.Contains(path, "prepay_details")
				if !used[path] && !repeated && !strings.HasSuffix(path, "_address") {
					t.Errorf("no account has %s", path)
				}
			}
		})
	}
}
