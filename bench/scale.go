package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// scale moves one large book through the whole service on PostgreSQL, with the
// commands that an operator uses, and prints a table. It compares the first with the
// last tenth of every long step: what grows faster than its work is a fault.
type scale struct {
	*harness
	*service
	accounts int
	book     string
	ops      string
	readKey  string
	rows     []scaleRow
}

// scaleRow is one line of the table. Without rates a step has no tenths.
type scaleRow struct {
	what        string
	took        time.Duration
	units       string
	all         float64 // units a second
	first, last float64 // the same in the first and the last tenth
	memory      float64 // of the command, in MiB; 0 if it is not one
	remark      string
}

// measureScale prints the table, or writes it into a page. If a step fails, it does so
// with the steps before it: they may have taken hours.
func measureScale(ctx context.Context, accounts int, page string) (err error) {
	// Less log than usual, because a large database leaves little room on the disk.
	m, err := prepare(ctx, "2GB")
	if err != nil {
		return err
	}
	defer m.close()
	s := &scale{harness: m, accounts: accounts, book: filepath.Join(m.folder, "scale")}
	began := time.Now()
	failed := s.run(ctx)
	// Also after an interrupt.
	table, err := s.table(context.WithoutCancel(ctx), time.Since(began))
	if s.service != nil {
		s.stop()
	}
	if failed != nil {
		table += fmt.Sprintf("\nThe next step failed: %s\n", strings.TrimSpace(failed.Error()))
	}
	fmt.Print(table)
	if page != "" {
		err = errors.Join(err, writeTable(page, table))
	}
	return errors.Join(failed, err)
}

// run runs the steps until one fails.
func (s *scale) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{s.generateBook, s.open, s.importAll, s.reconcileAll, s.list, s.search, s.exportAll} {
		err := step(ctx)
		s.saySizes(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// writeTable replaces the table in a page.
func writeTable(page, table string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	head, rest, found := strings.Cut(string(text), "<!-- scale -->\n")
	_, tail, ended := strings.Cut(rest, "<!-- end of scale -->\n")
	if !found || !ended {
		return fmt.Errorf("%s has no place for the table", page)
	}
	return os.WriteFile(page, []byte(head+"<!-- scale -->\n"+table+"<!-- end of scale -->\n"+tail), 0o644) //nolint:gosec // a page
}

// saySizes tells a person who waits what grows. What cannot be asked is left out.
func (s *scale) saySizes(ctx context.Context) {
	var known []string
	add := func(what string, bytes float64, err error) {
		if err == nil {
			known = append(known, fmt.Sprintf("%s %.1f GiB", what, bytes/(1<<30)))
		}
	}
	if s.service != nil {
		size, err := s.harness.ask(ctx, s.database, "SELECT pg_database_size(current_database())")
		add("database", size, err)
		log, err := s.harness.ask(ctx, s.database, "SELECT sum(size) FROM pg_ls_waldir()")
		add("log", log, err)
		memory, err := s.memory("VmRSS")
		add("memory of the server", memory*(1<<20), err)
	}
	free, err := s.freeDisk()
	add("free disk", free, err)
	fmt.Fprintf(os.Stderr, "    %s\n", strings.Join(known, ", "))
}

// freeDisk returns how many bytes may still be written.
func (s *scale) freeDisk() (float64, error) {
	var disk syscall.Statfs_t
	err := syscall.Statfs(s.folder, &disk)
	return float64(disk.Bavail) * float64(disk.Bsize), err
}

// say tells a person who waits what has ended.
func (s *scale) say(row scaleRow) {
	s.rows = append(s.rows, row)
	fmt.Fprintf(os.Stderr, "%-40s %s\n", row.what, row.took.Round(time.Second))
}

func (s *scale) generateBook(ctx context.Context) error {
	began := time.Now()
	_, err := s.tell(ctx, "generate", s.book, "--accounts", strconv.Itoa(s.accounts), "--supplier", supplier, "--compress", "zst")
	if err != nil {
		return err
	}
	took := time.Since(began)
	s.say(scaleRow{what: "generate the book", took: took, units: "accounts", all: float64(s.accounts) / took.Seconds()})
	return nil
}

// open starts the server, with metrics.
func (s *scale) open(ctx context.Context) (err error) {
	database, err := s.freshPostgres(ctx, "scale")
	if err != nil {
		return err
	}
	key, err := s.setUp(ctx, database)
	if err != nil {
		return err
	}
	reader, err := s.tell(ctx, "key", "create", "Bench", "--role", "reader", "--database", database)
	if err != nil {
		return err
	}
	s.readKey = strings.TrimSpace(reader)
	if s.ops, err = freeAddress(); err != nil {
		return err
	}
	s.service, err = s.serve(ctx, database, key, "--ops-listen", s.ops)
	return err
}

// client runs a command against the server and returns its time and memory.
func (s *scale) client(ctx context.Context, key string, words ...string) (took time.Duration, memory float64, err error) {
	command := exec.CommandContext(ctx, s.program, words...)
	command.Env = append(os.Environ(), "LANDFALL_SERVER=http://"+s.address, "LANDFALL_API_KEY="+key)
	return runMeasured(command)
}

// importAll imports the book, and finds the rates of its parts in the server's
// counters.
func (s *scale) importAll(ctx context.Context) error {
	sampling, stop := context.WithCancel(ctx)
	sampled := make(chan map[string][]mark, 1)
	go func() { sampled <- s.sampleCounters(sampling) }()
	took, memory, err := s.client(ctx, s.key, "import", s.book, "--team", "Bench Team")
	stop()
	series := <-sampled
	if err != nil {
		return err
	}
	s.say(scaleRow{what: "import, all of it", took: took, units: "accounts", all: float64(s.accounts) / took.Seconds(), memory: memory})
	names := make([]string, 0, len(series))
	for name := range series {
		names = append(names, name)
	}
	// In the order in which the parts began.
	slices.SortFunc(names, func(a, b string) int { return series[a][0].at.Compare(series[b][0].at) })
	for _, name := range names {
		row := tenthsOf(series[name])
		row.what = "– " + name
		s.say(row)
	}
	return nil
}

// counted matches the counters of the parts of an import.
var counted = regexp.MustCompile(`^(landfall_run_accounts_created_total|landfall_bulk_lines_total\{kind="([^"]*)",.*\}) ([0-9.e+]+)$`)

// sampleCounters reads the counters five times a second until the context ends, and returns
// the marks of each part while it rose.
func (s *scale) sampleCounters(ctx context.Context) map[string][]mark {
	series := map[string][]mark{}
	for ctx.Err() == nil {
		answer, err := http.Get("http://" + s.ops + "/metrics") //nolint:noctx // a local server
		if err == nil {
			sums := map[string]float64{}
			for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
				if found := counted.FindStringSubmatch(lines.Text()); found != nil {
					value, _ := strconv.ParseFloat(found[3], 64)
					sums[cmp.Or(found[2], "created by the run")] += value
				}
			}
			_ = answer.Body.Close()
			for name, sum := range sums {
				done := int64(sum)
				if past := series[name]; done > 0 && (len(past) == 0 || past[len(past)-1].done != done) {
					series[name] = append(past, mark{done, time.Now()})
				}
			}
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return series
}

// tenthsOf returns the rate of all and of the first and the last tenth of a part.
func tenthsOf(marks []mark) scaleRow {
	end := marks[len(marks)-1]
	row := scaleRow{units: "lines", took: end.at.Sub(marks[0].at)}
	rate := func(from, to mark) float64 {
		if to.at.Equal(from.at) {
			return 0
		}
		return float64(to.done-from.done) / to.at.Sub(from.at).Seconds()
	}
	row.all = rate(marks[0], end)
	at := func(done int64) mark {
		i := slices.IndexFunc(marks, func(one mark) bool { return one.done >= done })
		return marks[i]
	}
	// Too few marks would say nothing.
	if len(marks) >= 20 {
		row.first, row.last = rate(marks[0], at(end.done/10)), rate(at(end.done*9/10), end)
	}
	return row
}

func (s *scale) reconcileAll(ctx context.Context) error {
	began := time.Now()
	if err := s.read(ctx, reconciliationPath, io.Discard, http.Header{}); err != nil {
		return err
	}
	s.say(scaleRow{what: "reconciliation of the supplier", took: time.Since(began)})
	took, memory, err := s.client(ctx, s.readKey, "reconcile", s.book)
	if err != nil {
		return err
	}
	s.say(scaleRow{what: "reconcile every field with the book", took: took, units: "accounts", all: float64(s.accounts) / took.Seconds(), memory: memory})
	return nil
}

// read copies one answer and its headers. A token is valid for an hour, which many steps
// take, so an expired one is replaced.
func (s *scale) read(ctx context.Context, path string, to io.Writer, headers http.Header) error {
	for expired := false; ; expired = true {
		answer, err := s.get(ctx, path)
		if err != nil {
			return err
		}
		if answer.StatusCode == http.StatusUnauthorized && !expired {
			_ = answer.Body.Close()
			if s.token, err = obtainToken(s.address, s.key); err != nil {
				return err
			}
			continue
		}
		defer func() { _ = answer.Body.Close() }()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answered %s", path, answer.Status)
		}
		maps.Copy(headers, answer.Header)
		_, err = io.Copy(to, answer.Body)
		return err
	}
}

// nextPage matches the address of the next page.
var nextPage = regexp.MustCompile(`<([^>]*)>; rel="next"`)

// list reads the whole list by pages.
func (s *scale) list(ctx context.Context) error {
	const size = 1000
	path, began, read := fmt.Sprintf("%s?limit=%d", listPath, size), time.Now(), int64(0)
	var slowest time.Duration
	marks := []mark{{0, began}}
	for path != "" {
		asked := time.Now()
		count, answered := &lineCounter{}, http.Header{}
		if err := s.read(ctx, path, count, answered); err != nil {
			return err
		}
		slowest, read, path = max(slowest, time.Since(asked)), read+int64(count.entries), ""
		marks = append(marks, mark{read, time.Now()})
		if found := nextPage.FindStringSubmatch(answered.Get("Link")); found != nil {
			_, path, _ = strings.Cut(found[1], s.address)
			path = cmp.Or(path, found[1])
		}
	}
	if read != int64(s.accounts) {
		return fmt.Errorf("the list has %d of %d accounts", read, s.accounts)
	}
	row := tenthsOf(marks)
	row.what, row.units, row.remark = "list all accounts by pages of 1,000", "accounts", fmt.Sprintf("slowest page %d ms", slowest.Milliseconds())
	s.say(row)
	return nil
}

// search looks for names that many accounts have, and for numbers.
func (s *scale) search(ctx context.Context) error {
	output, err := s.lines(ctx, s.database, `SELECT external FROM process ORDER BY id LIMIT 1 OFFSET `+strconv.Itoa(s.accounts/2))
	if err != nil {
		return err
	}
	var slowest time.Duration
	began := time.Now()
	words := append(output, "smith", "jones", "patel", "mary smith", "london", "sw1", "zzyzx")
	for _, word := range words {
		asked := time.Now()
		if _, err := s.tell(ctx, "find", word, "--database", s.database); err != nil && !errors.As(err, new(*exec.ExitError)) {
			return err
		}
		slowest = max(slowest, time.Since(asked))
	}
	s.say(scaleRow{what: fmt.Sprintf("%d searches", len(words)), took: time.Since(began), remark: fmt.Sprintf("slowest %d ms, with the start of the program", slowest.Milliseconds())})
	return nil
}

// exportedAccount is more than an account of a generated book takes in Parquet files: 835 bytes.
const exportedAccount = 2 << 10

// exportAll exports all accounts, unless they would fill the disk: the database needs room, too.
func (s *scale) exportAll(ctx context.Context) error {
	free, err := s.freeDisk()
	if err != nil {
		return err
	}
	if needed := float64(s.accounts) * exportedAccount; needed > free-1<<30 {
		return fmt.Errorf("there is no room for the export: it needs about %.0f GiB, and %.0f GiB are free", needed/(1<<30), free/(1<<30))
	}
	folder := filepath.Join(s.folder, "scale-export")
	took, memory, err := s.client(ctx, s.readKey, "export", supplier, "--to", folder, "--format", "parquet", "--reason", "bench")
	if err != nil {
		return err
	}
	size, err := folderSize(folder)
	s.say(scaleRow{what: "export every account as Parquet", took: took, units: "accounts", all: float64(s.accounts) / took.Seconds(), memory: memory,
		remark: fmt.Sprintf("%.0f bytes for each", size/float64(s.accounts))})
	return err
}

// folderSize returns the bytes of the files of a folder.
func folderSize(folder string) (size float64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			size += float64(info.Size())
		}
		return err
	})
	return size, err
}

// table returns the results as Markdown. The rows are there even if the server or the
// database no longer answers.
func (s *scale) table(ctx context.Context, took time.Duration) (string, error) {
	machine, err := exec.CommandContext(ctx, "nproc").Output()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Measured on %s: %d accounts on %s cores that PostgreSQL, the server and the commands share, in %s.\n\n",
		time.Now().UTC().Format(time.DateOnly), s.accounts, strings.TrimSpace(string(machine)), took.Round(time.Second))
	out.WriteString("| step | took | a second | first tenth | last tenth | last / first | memory | |\n|---|---|---|---|---|---|---|---|\n")
	cell := func(value float64, format string) string {
		if value == 0 {
			return ""
		}
		return fmt.Sprintf(format, value)
	}
	for _, row := range s.rows {
		ratio := 0.0
		if row.first > 0 {
			ratio = row.last / row.first
		}
		units := ""
		if row.all > 0 {
			units = fmt.Sprintf("%.0f %s", row.all, row.units)
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", row.what, row.took.Round(time.Second/10), units, cell(row.first, "%.0f"), cell(row.last, "%.0f"),
			cell(ratio, "%.2f"), cell(row.memory, "%.0f MiB"), row.remark)
	}
	if s.service == nil {
		return out.String(), nil
	}
	size, written, err := s.disk(ctx, s.service, s.database)
	if err != nil {
		return out.String(), err
	}
	peak, err := s.memory("VmHWM")
	if err != nil {
		return out.String(), err
	}
	each := func(bytes float64) float64 { return bytes / float64(s.accounts) }
	fmt.Fprintf(&out, "\nThe database has %.1f GiB, %.0f bytes for each account, and wrote %.1f GiB of log. The server used %.0f MiB at most.\n",
		size/(1<<30), each(size), written/(1<<30), peak)
	return out.String(), nil
}
