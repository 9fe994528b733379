package sqlstore_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
)

// TestPurgeDelaysStagingLittle purges many events while another caller stages.
// LANDFALL_PURGE_ROWS sets how many: a step reads the same number of rows
// whatever the size, so the last steps must not be slower than the first.
func TestPurgeDelaysStagingLittle(t *testing.T) {
	rows := int64(1500)
	if given := os.Getenv("LANDFALL_PURGE_ROWS"); given != "" {
		var err error
		if rows, err = strconv.ParseInt(given, 10, 64); err != nil || rows < 1000 {
			t.Fatalf("LANDFALL_PURGE_ROWS: want a number from 1000 on, got %q", given)
		}
	}
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store, "1")
		details := `'{}'`
		if strings.HasPrefix(url, "postgres") {
			details = `CAST('{}' AS JSON)`
		}
		for from := int64(0); from < rows; from += 10_000 {
			if err := store.Force(t.Context(), `INSERT INTO event (type, supplier, external, account_number, at, details)
				WITH RECURSIVE n (i) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $2)
				SELECT 'account_import.skipped', '`+testKey.Supplier+`', CAST(i AS TEXT), '', i, `+details+` FROM n`, from, min(from+9_999, rows-1)); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.Force(t.Context(), `UPDATE supplier SET keep_events = 1`); err != nil {
			t.Fatal(err)
		}
		stage := func(i int) time.Duration {
			key, text := testKey, []byte(fmt.Sprintf(`{"n":%d}`, i))
			key.External = fmt.Sprint("beside-", i)
			began := time.Now()
			if _, err := store.Stage(t.Context(), landfall.Staging{Key: key, Document: text, Hash: sha256.Sum256(text)}); err != nil {
				t.Errorf("staging during a purge: %v", err)
			}
			return time.Since(began)
		}
		var alone, beside, steps []time.Duration
		for i := range 50 {
			alone = append(alone, stage(i))
		}
		var work sync.WaitGroup
		over := make(chan struct{})
		work.Go(func() {
			for i := 50; ; i++ {
				select {
				case <-over:
					return
				default:
					beside = append(beside, stage(i))
				}
			}
		})
		gone := 0
		for order := (landfall.PurgeRequest{Supplier: testKey.Supplier}); ; {
			began := time.Now()
			step, err := store.Purge(t.Context(), order)
			if err != nil {
				t.Error(err)
				break
			}
			steps = append(steps, time.Since(began))
			if gone += step.Removed.Events; step.Done {
				break
			}
			order.After = step.Next
		}
		close(over)
		work.Wait()
		if int64(gone) < rows-1 {
			t.Errorf("%d of %d were sent", gone, rows)
		}
		t.Logf("%d events in %d steps, half of them within %s, the longest %s; staging took %s alone and %s beside them",
			gone, len(steps), median(steps), slices.Max(steps), median(alone), median(beside))
		partial := len(steps) / 2
		if early, late := median(slices.Clone(steps[:partial])), median(slices.Clone(steps[partial:])); len(steps) > 100 && late > 10*early {
			t.Errorf("the last steps take %s, the first ones %s", late, early)
		}
	})
}

func median(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}
