package importer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"landfall/client"
	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
	"landfall/internal/lib/spreadsheet"
)

// accountResult is what became of an account of the book.
type accountResult struct {
	Supplier string `json:"import_supplier"`
	External string `json:"external_account_number"`
	Number   string `json:"platform_account_number"` // "" if there is no account
	State    string `json:"state"`
	Code     string `json:"code"` // of the failure
	Attrs    string `json:"attrs"`
	Detail   string `json:"detail"`
	Delivery string `json:"delivery"` // sent as Landfall-Delivery
	File     string `json:"file"`
	Line     int    `json:"line"`
	// Source are the columns of the old system that no attr is filled from.
	Source map[string]string `json:"source,omitempty"`
}

// The states of accounts.
const (
	stateCreated = "created" // it exists; it may have existed before
	stateRefused = "refused" // it was not staged
	stateFailed  = "failed"  // it was staged and could not be created
	stateStaged  = "staged"  // it is staged, and nothing tried to create it
	stateTested  = "tested"  // a dry run found nothing wrong
	stateDiffers = "differs" // it existed before and differs from the book
)

// askedOneByOne is up to how many accounts are looked up one by one. More are found in the list of all
// accounts of the supplier.
const askedOneByOne = 200

// platformNumbers are the numbers of the created accounts of a book. They take about 40
// bytes each, half of what a map of strings does.
type platformNumbers struct {
	starts map[[16]byte]uint32 // where the number of an account starts; 0 if it has none
	text   []byte              // the numbers, each after a line break
}

func (n *platformNumbers) add(hash [16]byte, number string) {
	n.text = append(n.text, '\n')
	n.starts[hash] = uint32(len(n.text)) //nolint:gosec // 300 million accounts have less text
	n.text = append(n.text, number...)
}

func (n *platformNumbers) of(hash [16]byte) string {
	start := n.starts[hash]
	if start == 0 {
		return ""
	}
	number, _, _ := bytes.Cut(n.text[start:], []byte{'\n'})
	return string(number)
}

// findNumbers returns the numbers of the created accounts of the book.
func (m *Importer) findNumbers(ctx context.Context) (platformNumbers, error) {
	numbers := platformNumbers{starts: map[[16]byte]uint32{}}
	if m.options.StageOnly || m.options.DryRun {
		return numbers, nil
	}
	suppliers := map[string]bool{}
	single := m.journal.state.Phases[phaseOf(book.Accounts)].Tally.Lines <= askedOneByOne
	for _, file := range m.options.Book.Of(book.Accounts) {
		for line, err := range file.Lines() {
			if err != nil {
				return numbers, err
			}
			supplier, external, _ := rules.Peek(line.Text, "import_supplier", "external_account_number")
			hash := accountHash(supplier, external)
			if _, known := numbers.starts[hash]; known || external == "" {
				continue
			}
			numbers.starts[hash] = 0
			suppliers[supplier] = true
			if !single {
				continue
			}
			status, err := m.client.Status(ctx, supplier, external)
			// An account that was refused is not known.
			if refusal, is := errors.AsType[*client.Error](err); is && refusal.Status < 500 {
				continue
			}
			if err != nil {
				return numbers, err
			}
			if status.Number != "" {
				numbers.add(hash, status.Number)
			}
		}
	}
	for supplier := range suppliers {
		if single {
			break
		}
		for entry, err := range m.client.Imported(ctx, supplier) {
			if refusal, is := errors.AsType[*client.Error](err); is && refusal.Status < 500 {
				break // all of its accounts failed
			}
			if err != nil {
				return numbers, err
			}
			hash := accountHash(supplier, entry.External)
			if _, wanted := numbers.starts[hash]; wanted {
				numbers.add(hash, entry.Number)
			}
		}
	}
	return numbers, nil
}

// writeResults writes results.csv and results.ndjson: a row for every account of the book, in its
// order.
func (m *Importer) writeResults(folder string, at failureIndex, numbers platformNumbers) (err error) {
	create := func(name string) (*os.File, *bufio.Writer, error) {
		file, err := os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		return file, bufio.NewWriter(file), err
	}
	table, tableText, err := create("results.csv")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	lines, lineText, err := create("results.ndjson")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lines.Close()) }()
	// Without a byte order mark, spreadsheets assume windows-1252.
	_, _ = tableText.WriteString("\xef\xbb\xbf") // Flush returns the error
	rows := spreadsheet.NewWriter(tableText)
	kept, err := m.readUnused()
	if err != nil {
		return err
	}
	heading := []string{"import_supplier", "external_account_number", "platform_account_number", "state", "code", "attrs", "detail", "delivery", "file", "line"}
	for _, name := range kept.names {
		heading = append(heading, "source."+name)
	}
	if err := rows.Write(heading...); err != nil {
		return err
	}
	encoder := json.NewEncoder(lineText)
	encoder.SetEscapeHTML(false)
	for i, file := range m.options.Book.Of(book.Accounts) {
		for line, err := range file.Lines() {
			if err != nil {
				return err
			}
			one, err := m.accountResult(at, numbers, i, line)
			if err != nil {
				return err
			}
			one.File = filepath.Base(file.Path)
			cells := []string{one.Supplier, one.External, one.Number, one.State, one.Code, one.Attrs, one.Detail, one.Delivery, one.File, strconv.Itoa(one.Line)}
			if values := kept.rows[accountHash(one.Supplier, one.External)]; values != nil {
				one.Source = map[string]string{}
				for i, value := range values {
					one.Source[kept.names[i]] = value
				}
				cells = append(cells, values...)
			}
			err = rows.Write(cells...)
			if err = errors.Join(err, encoder.Encode(one)); err != nil {
				return err
			}
		}
	}
	return errors.Join(rows.Flush(), tableText.Flush(), lineText.Flush(), table.Sync(), lines.Sync())
}

// unusedColumns are the columns of the old system that the conversion did not use.
type unusedColumns struct {
	names []string
	rows  map[[16]byte][]string
}

// maxUnused is up to which size they are added to the results. A larger file stays where it is.
const maxUnused = 64 << 20

// readUnused reads what the conversion of the book did not use. A book need not be from a conversion.
func (m *Importer) readUnused() (kept unusedColumns, err error) {
	path := filepath.Join(m.options.Folder, "conversion", book.UnusedName)
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxUnused {
		return kept, nil // there is none
	}
	file, err := os.Open(path)
	if err != nil {
		return kept, err
	}
	defer func() { _ = file.Close() }() // only read
	rows := csv.NewReader(bufio.NewReader(file))
	heading, err := rows.Read()
	if err != nil || len(heading) < 2 {
		return kept, fmt.Errorf("%s cannot be read; remove it to go on without it: %w", path, err)
	}
	kept.names, kept.rows = heading[2:], map[[16]byte][]string{}
	for {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return kept, nil
		}
		if err != nil {
			return kept, fmt.Errorf("%s cannot be read; remove it to go on without it: %w", path, err)
		}
		kept.rows[accountHash(cells[0], cells[1])] = cells[2:]
	}
}

// accountResult describes what became of a line.
func (m *Importer) accountResult(at failureIndex, numbers platformNumbers, file int, line book.Line) (accountResult, error) {
	one := accountResult{Line: line.Number, Delivery: m.journal.state.Delivery, State: stateStaged}
	one.Supplier, one.External, _ = rules.Peek(line.Text, "import_supplier", "external_account_number")
	one.Number = numbers.of(accountHash(one.Supplier, one.External))
	offset, failed := at.of(book.Accounts, file, line)
	if !failed {
		switch {
		case one.Number != "":
			one.State = stateCreated
		case m.options.DryRun && m.options.Sample <= 1:
			one.State = stateTested
		}
		return one, nil
	}
	stored, err := m.journal.failures.at(offset)
	if err != nil {
		return one, err
	}
	switch {
	case stored.Differs:
		one.State = stateDiffers
	case stored.Line > 0:
		one.State = stateRefused
	default:
		one.State = stateFailed
	}
	var attrs []string
	for _, violation := range stored.Failure.Violations {
		attrs = append(attrs, strings.TrimSpace(violation.Code+" "+violation.Attr))
	}
	one.Code, one.Attrs, one.Detail = stored.Failure.Code, strings.Join(attrs, "; "), stored.Failure.Detail
	return one, nil
}
