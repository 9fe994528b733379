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
	"{vendor}", "SANDBOX", "{webhook}", "billing", "{id}", "1", "{target}", consoleTarget, "{mail}", "1", "{name}", consoleColleague,
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
		console.Root+"admin/audit/?subject="+supplier+"/OLD-77", console.Root+"admin/audit/?action=account.",
	), nil
}

// consoleSearches are what callers say, in the words that are typed.
var consoleSearches = []struct{ name, words string }{
	{"an external number", "OLD-5000"}, {"a common name", "ada7"}, {"a rare name", "lovelace77"}, {"a name that nobody has", "nobody of this name"},
	{"a typing mistake", "lovelcae77"}, {"a typing mistake in a common name, with a postcode", "adda7 nr12 1ab"},
	{"part of a phone number", "000791"}, {"a postcode and a name", "ada7 nr12"}, {"the end of a number", "0077"},
}

const (
	// pageTries is how often each page is fetched.
	pageTries = 15
	// barePage is the query behind a page of a list.
	barePage = `SELECT external, account_number FROM process WHERE supplier_id = 1 AND account_number IS NOT NULL ORDER BY first_staged_at, external LIMIT 100`
)

// consoleServer is a server with very many accounts on SQLite, and somebody who is signed
// in to it.
type consoleServer struct {
	*service
	browser *http.Client
}

// openConsole fills a database and starts a server on it.
func (m *harness) openConsole(ctx context.Context, p plan) (*consoleServer, error) {
	// Fill the database before the server starts: otherwise its background work
	// would run during the measurement.
	key, err := m.setUp(ctx, m.sqlite("console"))
	if err != nil {
		return nil, err
	}
	if _, err := m.tell(ctx, "operator", "create", consoleColleague, "--database", m.sqlite("console")); err != nil {
		return nil, err
	}
	db, err := m.openConsoleFile()
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	if err := seedConsole(ctx, db, p.rows); err != nil {
		return nil, err
	}
	s, err := m.serve(ctx, m.sqlite("console"), key)
	if err != nil {
		return nil, err
	}
	browser, err := m.signInAs(ctx, s, "bench")
	if err != nil {
		s.stop()
		return nil, err
	}
	return &consoleServer{s, browser}, nil
}

// openConsoleFile opens the database behind the console without its server.
func (m *harness) openConsoleFile() (*sql.DB, error) {
	return sql.Open("sqlite", filepath.Join(m.folder, "console.db")+"?_pragma=busy_timeout(10000)")
}

// slowest returns the median of the slowest of some pages in milliseconds. Not the mean:
// nobody waits for a mean.
func (c *consoleServer) slowest(ctx context.Context, pages []string) (worst time.Duration, which string, err error) {
	for _, page := range pages {
		took, err := median(func() error { return browse(ctx, c.browser, "http://"+c.address+page) })
		if err != nil {
			return 0, "", err
		}
		if took > worst {
			worst, which = took, page
		}
	}
	return worst, which, nil
}

// inMillis writes a duration in milliseconds.
func inMillis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// consoleFigures are the results of both measurements of the console, which share a
// database: filling it takes long.
type consoleFigures struct{ page, search measured }

func measureConsole(ctx context.Context, p plan, m *harness) (measured, error) {
	figures, err := m.consoleFigures(ctx, p)
	return figures.page, err
}

func measureSearch(ctx context.Context, p plan, m *harness) (measured, error) {
	figures, err := m.consoleFigures(ctx, p)
	return figures.search, err
}

// consoleFigures measures pages and searches, once.
func (m *harness) consoleFigures(ctx context.Context, p plan) (figures consoleFigures, err error) {
	if m.console != nil {
		return *m.console, nil
	}
	pages, err := consoleAddresses()
	if err != nil {
		return figures, err
	}
	c, err := m.openConsole(ctx, p)
	if err != nil {
		return figures, err
	}
	defer c.stop()
	if figures.page, err = c.measurePages(ctx, m, pages); err != nil {
		return figures, err
	}
	if figures.search, err = c.measureSearches(ctx); err != nil {
		return figures, err
	}
	m.console = &figures
	return figures, nil
}

// measurePages returns the median of the slowest console page in milliseconds, and the
// bare query of a list.
func (c *consoleServer) measurePages(ctx context.Context, m *harness, pages []string) (measured, error) {
	worst, which, err := c.slowest(ctx, pages)
	if err != nil {
		return measured{}, err
	}
	db, err := m.openConsoleFile()
	if err != nil {
		return measured{}, err
	}
	defer func() { _ = db.Close() }()
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
	return measured{
		ratio: inMillis(worst), atMost: true, ours: fmt.Sprintf("%.1f ms for %s, of %d pages", inMillis(worst), which, len(pages)),
		raw: fmt.Sprintf("%.1f ms for the bare query, %.1f times", inMillis(bare), inMillis(worst)/inMillis(bare)),
	}, err
}

// measureSearches returns the median of the slowest search in milliseconds, as it is sent
// while somebody types.
func (c *consoleServer) measureSearches(ctx context.Context) (measured, error) {
	worst, ours := time.Duration(0), []string{}
	for _, search := range consoleSearches {
		took, _, err := c.slowest(ctx, []string{console.Root + "search/found/?q=" + url.QueryEscape(search.words)})
		if err != nil {
			return measured{}, err
		}
		worst = max(worst, took)
		ours = append(ours, fmt.Sprintf("%.1f ms for %s", inMillis(took), search.name))
	}
	return measured{ratio: inMillis(worst), atMost: true, ours: strings.Join(ours, ", "), raw: fmt.Sprintf("%d searches", len(consoleSearches))}, nil
}

// signInAs returns an HTTP client that is signed in to the console.
func (m *harness) signInAs(ctx context.Context, s *service, name string) (*http.Client, error) {
	// As administrator, who can open every page. Actions are not measured.
	link, err := m.tell(ctx, "operator", "create", name, "--database", m.sqlite("console"))
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
