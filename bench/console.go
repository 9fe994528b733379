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
)

// consolePages are the pages of the console that show or count accounts.
var consolePages = []string{
	"", "suppliers/" + supplier + "/", "suppliers/" + supplier + "/runs/", "suppliers/" + supplier + "/accounts/?state=imported",
	"suppliers/" + supplier + "/accounts/?state=pending", "suppliers/" + supplier + "/failures/", "suppliers/" + supplier + "/reconciliation/",
	"search/?q=OLD-5000", "admin/", "admin/audit/",
}

const (
	// pageTries is how often each page is fetched.
	pageTries = 15
	// barePage is the query behind a page of a list, and nothing else.
	barePage = `SELECT external, account_number FROM process WHERE supplier_id = 1 AND account_number IS NOT NULL ORDER BY first_staged_at, external LIMIT 100`
)

// measureConsole gives the median of the slowest page of the console in
// milliseconds, on SQLite with very many accounts, beside the bare query of a
// list of them.
func measureConsole(ctx context.Context, p plan, m *machinery, s *service) (result, error) {
	db, err := sql.Open("sqlite", filepath.Join(m.folder, "console.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return result{}, err
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(ctx, `INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at, account_number, account_created_at)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
		SELECT 1, 'OLD-' || i, CASE WHEN i % 5 = 0 THEN 'staged' ELSE 'imported' END, 1, x'00', i, i,
			CASE WHEN i % 5 = 0 THEN NULL ELSE 'O-' || i END, CASE WHEN i % 5 = 0 THEN NULL ELSE i END FROM n`, p.rows); err != nil {
		return result{}, err
	}
	browser, err := m.signIn(ctx, s)
	if err != nil {
		return result{}, err
	}
	worst, which := time.Duration(0), ""
	for _, page := range consolePages {
		took, err := median(func() error { return browse(ctx, browser, "http://"+s.address+"/console/"+page) })
		if err != nil {
			return result{}, err
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
	return result{
		ratio: millis(worst), atMost: true, ours: fmt.Sprintf("%.1f ms for /console/%s", millis(worst), which),
		raw: fmt.Sprintf("%.1f ms for the bare query, %.1f times", millis(bare), millis(worst)/millis(bare)),
	}, err
}

// signIn gives a browser of somebody who has signed in to the console.
func (m *machinery) signIn(ctx context.Context, s *service) (*http.Client, error) {
	link, err := m.tell(ctx, "operator", "create", "bench", "--role", "support", "--database", m.sqlite("console"))
	if err != nil {
		return nil, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{Jar: jar}
	const password = "a password for measuring"
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

// browse reads the page to its end: a page that is still being written is not there.
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
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, answer.Status)
	}
	return nil
}

// median tries something again and again and gives the time in the middle.
func median(try func() error) (time.Duration, error) {
	var took []time.Duration
	for range pageTries {
		began := time.Now()
		if err := try(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}
