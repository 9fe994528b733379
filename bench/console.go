package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"landfall/internal/console"
)

// consoleNames are the values for the parameters in the paths of pages.
var consoleNames = strings.NewReplacer(
	"{supplier}", supplier, "{external}", longAccount, "{account}", longAccount, "{number}", "O-1", "{run}", consoleRun, "{organisation}", "Bench", "{team}", "Bench%20Team",
	"{vendor}", "SANDBOX", "{webhook}", "billing", "{id}", "1",
)

// consoleAddresses lists every readable page of the console, some of them also
// with a search.
func consoleAddresses() (all []string, err error) {
	for _, path := range console.Paths() {
		address := consoleNames.Replace(path)
		if strings.Contains(address, "{") {
			// An unknown page ends the run: otherwise the slowest page could be
			// one that is not measured.
			return nil, fmt.Errorf("the console has a page %s, and nothing to show on it is known here", path)
		}
		switch {
		case strings.HasSuffix(path, "live"): // a single reading, as for clients that poll
			address += "?once=1"
		case strings.HasSuffix(path, "reconciliation/accounts/"):
			address += "?measure=accounts&reason=pending"
		}
		all = append(all, address)
	}
	// Filters and searches use other queries than the first view of a page.
	const accounts = console.Root + "suppliers/" + supplier + "/accounts/?state="
	return append(all,
		accounts+"imported", accounts+"pending", accounts+"failed", accounts+"refused", accounts+"faulty&code=invalid_date&attr=customers.*.email",
		console.Root+"runs/"+undoneRun+"/", console.Root+"runs/"+undoneRun+"/undo/",
		console.Root+"search/?q=OLD-5000", console.Root+"search/?q=lovelace5", console.Root+"search/?q=nobody+of+this+name",
		// A typing mistake, a common word with a postcode, two common words with mistakes, and a part of a number.
		console.Root+"search/?q=lovelcae77", console.Root+"search/?q=ada7+nr12", console.Root+"search/?q=adda7+nr12+1ab", console.Root+"search/?q=0077",
		console.Root+"admin/audit/?subject="+supplier+"/OLD-77", console.Root+"admin/audit/?action=account.",
	), nil
}

const (
	// pageTries is how often each page is fetched.
	pageTries = 15
	// barePage is the query behind a page of a list.
	barePage = `SELECT external, account_number FROM process WHERE supplier_id = 1 AND account_number IS NOT NULL ORDER BY first_staged_at, external LIMIT 100`
)

// measureConsole returns the median of the slowest console page in
// milliseconds, on SQLite with very many accounts, beside the bare query of a
// list.
func measureConsole(ctx context.Context, p plan, m *harness) (measured, error) {
	// Fill the database before the server starts: otherwise its background work
	// would run during the measurement.
	key, err := m.setUp(ctx, m.sqlite("console"))
	if err != nil {
		return measured{}, err
	}
	db, err := sql.Open("sqlite", filepath.Join(m.folder, "console.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return measured{}, err
	}
	defer func() { _ = db.Close() }()
	if err := seedConsole(ctx, db, p.rows); err != nil {
		return measured{}, err
	}
	s, err := m.serve(ctx, m.sqlite("console"), key)
	if err != nil {
		return measured{}, err
	}
	defer s.stop()
	browser, err := m.signInAs(ctx, s, "bench")
	if err != nil {
		return measured{}, err
	}
	pages, err := consoleAddresses()
	if err != nil {
		return measured{}, err
	}
	// The slowest page, not the mean: nobody waits for a mean.
	worst, which := time.Duration(0), ""
	for _, page := range pages {
		took, err := median(func() error { return browse(ctx, browser, "http://"+s.address+page) })
		if err != nil {
			return measured{}, err
		}
		if took > worst {
			worst, which = took, page
		}
	}
	bare, err := median(func() error {
		rows, err := db.QueryContext(ctx, barePage)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
		}
		return rows.Err()
	})
	millis := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return measured{
		ratio: millis(worst), atMost: true, ours: fmt.Sprintf("%.1f ms for %s, of %d pages", millis(worst), which, len(pages)),
		raw: fmt.Sprintf("%.1f ms for the bare query, %.1f times", millis(bare), millis(worst)/millis(bare)),
	}, err
}

// signInAs returns an HTTP client that is signed in to the console.
func (m *harness) signInAs(ctx context.Context, s *service, name string) (*http.Client, error) {
	// As support, who can read everything. Actions are not measured.
	link, err := m.tell(ctx, "operator", "create", name, "--role", "support", "--database", m.sqlite("console"))
	if err != nil {
		return nil, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{Jar: jar}
	const password = "a password for measuring"
	// The link redirects to the first page when signing in succeeded.
	answer, err := browser.PostForm("http://"+s.address+strings.TrimSpace(link), url.Values{"password": {password}, "again": {password}})
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("signing in to the console: %s", answer.Status)
	}
	return browser, nil
}

// browse reads the page to its end.
func browse(ctx context.Context, browser *http.Client, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	answer, err := browser.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	// For a file that is streamed the first byte counts.
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/csv") {
		_, err = answer.Body.Read(make([]byte, 1))
	} else {
		_, err = io.Copy(io.Discard, answer.Body)
	}
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, answer.Status)
	}
	return nil
}

// median repeats something and returns the median time.
func median(try func() error) (time.Duration, error) {
	var took []time.Duration
	for range pageTries {
		began := time.Now()
		if err := try(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	// The median: the first try has cold caches, and any try can coincide with
	// a checkpoint.
	slices.Sort(took)
	return took[len(took)/2], nil
}
