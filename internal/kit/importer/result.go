package importer

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
	"landfall/internal/kit/check"
	"landfall/internal/kit/report"
)

// Result is the result of an import.
type Result struct {
	Tallies  map[Phase]Tally
	Failures landfall.FailureSummary
	Folder   string // folder of the report
}

// Failed reports whether something failed.
func (r Result) Failed() bool { return r.Failures.Accounts > 0 }

// Differs returns how many accounts exist and differ from the book.
func (r Result) Differs() int { return r.Tallies[phaseOf(book.Accounts)].Differs }

// result collects the result, writes the report, and finishes the journal.
func (m *Importer) result(ctx context.Context) (Result, error) {
	result := Result{Tallies: map[Phase]Tally{}}
	for name, progress := range m.journal.state.Phases {
		result.Tallies[name] = progress.Tally
	}
	if err := m.addUnsent(result.Tallies); err != nil {
		return Result{}, err
	}
	var tally landfall.FailureTally
	at := failureIndex{lines: map[lineRef]int64{}, accounts: map[[16]byte]int64{}}
	if err := m.journal.failures.each(0, func(one failure, offset int64) error {
		if !one.Differs {
			tally.Add(check.WithoutPosition(one.Failure))
		}
		at.put(one, offset)
		return nil
	}); err != nil {
		return Result{}, err
	}
	result.Failures = tally.Summary()
	// Asked before the report, which need not be written again if the server is gone.
	numbers, err := m.findNumbers(ctx)
	if err != nil {
		return Result{}, err
	}
	folder, err := m.report(result, at)
	if err == nil {
		err = m.writeResults(folder, at, numbers)
	}
	if err != nil {
		return Result{}, err
	}
	result.Folder = folder
	// Finished only after the report: otherwise the next attempt writes it.
	m.journal.state.Finished = true
	return result, m.journal.save()
}

// addUnsent counts the lines of files that were not sent: after a dry run or with StageOnly nothing
// is added to the accounts.
func (m *Importer) addUnsent(tallies map[Phase]Tally) error {
	for _, kind := range book.Kinds()[1:] {
		name := phaseOf(kind)
		if _, known := tallies[name]; known {
			continue
		}
		for _, file := range m.options.Book.Of(kind) {
			tally := tallies[name]
			for _, err := range file.Lines() {
				if err != nil {
					return err
				}
				tally.Lines++
				tally.NotReached++
			}
			tallies[name] = tally
		}
	}
	return nil
}

// lineRef identifies a line of the book.
type lineRef struct {
	kind       string
	file, line int
}

// failureIndex finds the failure of a line or an account. The lines themselves are found by reading
// the book again.
type failureIndex struct {
	lines    map[lineRef]int64
	accounts map[[16]byte]int64
}

// put uses the line if it is known. A failure of the run only names the account.
func (l failureIndex) put(one failure, offset int64) {
	if one.Line > 0 {
		l.lines[lineRef{one.Kind, one.File, one.Line}] = offset
		return
	}
	l.accounts[accountHash(one.Supplier, one.External)] = offset
}

func (l failureIndex) of(kind book.Kind, file int, line book.Line) (offset int64, failed bool) {
	if offset, failed = l.lines[lineRef{kind.Stem, file, line.Number}]; failed || kind != book.Accounts || len(l.accounts) == 0 {
		return offset, failed
	}
	supplier, external, _ := rules.Peek(line.Text, "import_supplier", "external_account_number")
	offset, failed = l.accounts[accountHash(supplier, external)]
	return offset, failed
}

// report writes the report into a new folder for each import.
func (m *Importer) report(result Result, at failureIndex) (folder string, err error) {
	now := time.Now()
	folder = filepath.Join(m.options.Folder, reportPrefix+now.UTC().Format("20060102-150405.000"))
	// The name is new. A folder or a link that is already there was not made by an import.
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	writer, err := report.Begin(folder)
	if err != nil {
		return "", err
	}
	for _, kind := range book.Kinds() {
		for i, file := range m.options.Book.Of(kind) {
			// Without failures the book need not be read again.
			if len(at.lines)+len(at.accounts) == 0 {
				break
			}
			if err := m.reportFile(writer, at, kind, i, file); err != nil {
				return "", err
			}
		}
	}
	summary := m.summary(result, now)
	summary.AddProfile(m.options.Folder)
	return folder, writer.Finish(summary)
}

// reportFile reads a file of the book again: the journal does not contain the lines.
func (m *Importer) reportFile(writer *report.Writer, at failureIndex, kind book.Kind, index int, file book.File) error {
	for line, err := range file.Lines() {
		if err != nil {
			return err
		}
		offset, failed := at.of(kind, index, line)
		if !failed {
			if err := m.reportUnsent(writer, kind, file, line); err != nil {
				return err
			}
			continue
		}
		one, err := m.journal.failures.at(offset)
		if err != nil {
			return err
		}
		if one.Differs {
			err = writer.Differs(file, line, one.External, one.Failure.Violations)
		} else {
			err = writer.Fail(file, line, one.External, one.Failure)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reportUnsent adds what belongs to a failed account to the report, so that the folder can be fixed
// and imported as a whole.
func (m *Importer) reportUnsent(writer *report.Writer, kind book.Kind, file book.File, line book.Line) error {
	if kind == book.Accounts {
		return nil
	}
	supplier, external, _ := rules.Peek(line.Text, "import_supplier", "external_account_number")
	if !m.failed.has(supplier, external) {
		return nil
	}
	return writer.NotSent(file, line, external)
}

// summary builds the summary of the report.
func (m *Importer) summary(result Result, now time.Time) report.Summary {
	summary := report.Summary{Title: "Import report", Program: m.options.Program, MadeAt: now, Failures: result.Failures, Counts: map[string]any{}}
	for name, tally := range result.Tallies {
		summary.Counts[strings.ReplaceAll(string(name), " ", "_")] = tally
	}
	for _, name := range Phases() {
		tally, known := result.Tallies[name]
		if !known || tally.Lines == 0 {
			continue
		}
		words := [2]string{"done", "already there"}
		if tally.Differs > 0 {
			words[1] = "already there, the same"
		}
		if name == PhaseRun {
			words = [2]string{"created", "processed by others or skipped"}
			if m.options.DryRun {
				words[0] = "would be created"
			}
		}
		summary.Bars = append(summary.Bars, report.Bar{Name: string(name), Parts: []report.Part{
			{Name: words[0], Count: tally.Done, Tone: report.Good}, {Name: words[1], Count: tally.Existing, Tone: report.Quiet},
			{Name: "already there, but different", Count: tally.Differs, Tone: report.Bad}, {Name: "failed", Count: tally.Failed, Tone: report.Bad}, {Name: "not reached", Count: tally.NotReached, Tone: report.Fair},
		}})
	}
	summary.Sentence = "Everything was imported."
	if result.Failed() {
		summary.Sentence = report.Number(result.Failures.Accounts) + " failed."
	}
	if count := result.Differs(); count > 0 {
		if !result.Failed() {
			summary.Sentence = "Nothing failed."
		}
		summary.Sentence += " " + report.Number(count) + " accounts exist and differ from the book: see differences.csv."
	}
	for _, file := range m.options.Book.Files {
		summary.Facts = append(summary.Facts, [2]string{file.Kind.Noun, file.Path})
	}
	for i, id := range m.journal.state.Runs {
		if id == "" || i >= len(m.journal.state.Supplier) {
			continue // no run was possible
		}
		summary.Facts = append(summary.Facts, [2]string{"run of " + m.journal.state.Supplier[i], id})
	}
	return summary
}

// Phases returns the phases in order.
func Phases() []Phase {
	list := []Phase{phaseOf(book.Accounts), PhaseRun}
	for _, kind := range book.Kinds()[1:] {
		list = append(list, phaseOf(kind))
	}
	return list
}

// readTotals reads the control totals of the book.
func readTotals(path string) (json.RawMessage, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !json.Valid(text) {
		return nil, fmt.Errorf("%s is not valid JSON", path)
	}
	return text, nil
}
