package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall/client"
	"landfall/internal/app"
	"landfall/internal/kit/book"
	"landfall/internal/kit/importer"
)

// preflight asks the server about what it would refuse for every account or at the very end: the
// suppliers, the team, the payment vendors, documents, the quota, the clock and the fields of packs.
// What the server does not answer is left to the import, which retries.
func preflight(command *cobra.Command, server *client.Client, order importer.Options) error {
	// The import says what to do about a server that does not respond.
	if server.Alive(command.Context()) != nil {
		return nil //nolint:nilerr // see above
	}
	needs, err := readNeeds(order.Book)
	if err != nil {
		return err
	}
	if order.Supplier != "" && needs.suppliers[order.Supplier] == nil {
		needs.suppliers[order.Supplier] = &supplierNeeds{}
	}
	problems := checkSpace(order.Folder, needs.bytes)
	if importer.Begun(order.Folder) {
		needs.bytes = 0 // how much of it is left to send is not known here
	}
	for _, supplier := range slices.Sorted(maps.Keys(needs.suppliers)) {
		found := checkSupplier(command, server, supplier, needs)
		if len(found) == 0 && !order.StageOnly && order.Team != "" {
			found = checkTeam(command.Context(), server, supplier, order.Team)
		}
		problems = append(problems, found...)
	}
	if len(problems) == 0 {
		problems = checkFields(command.Context(), server, order.Book)
	}
	slices.Sort(problems)
	if problems = slices.Compact(problems); len(problems) > 0 {
		return usageError{fmt.Errorf("nothing was sent: %s. Fix this, or send the book all the same with --skip-checks", escapeText(strings.Join(problems, "; ")))}
	}
	return nil
}

// bookNeeds is what a book needs on the server.
type bookNeeds struct {
	suppliers map[string]*supplierNeeds
	bytes     int64 // of all lines
}

// supplierNeeds is what the lines of one supplier need.
type supplierNeeds struct {
	accounts  bool     // there are accounts to stage
	vendors   []string // different payment vendors
	documents []string // the first documents
}

const (
	// maxSuppliers limits how many suppliers are asked about. A book has few.
	maxSuppliers = 20
	// maxVendors limits how many different vendors are remembered.
	maxVendors = 100
	// maxDocuments is how many documents of a supplier the server is asked about.
	maxDocuments = 20
)

// readNeeds reads what a book needs. It parses only lines that mention a vendor, lines with the first
// documents, and the first line of each file.
func readNeeds(found *book.Book) (bookNeeds, error) {
	needs := bookNeeds{suppliers: map[string]*supplierNeeds{}}
	documents := 0
	for _, file := range found.Files {
		first := true
		for line, err := range file.Lines() {
			if err != nil {
				return needs, err
			}
			needs.bytes += int64(len(line.Text)) + 1
			withDocument := documents < maxSuppliers*maxDocuments && (bytes.Contains(line.Text, []byte(`"document_path"`)) || bytes.Contains(line.Text, []byte(`"statement_path"`)))
			if !first && !withDocument && !bytes.Contains(line.Text, []byte(`"vendor"`)) {
				continue
			}
			first = false
			var body neededLine
			// A line that is not JSON is reported by the import.
			if line.TooLong || json.Unmarshal(line.Text, &body) != nil || body.Supplier == "" {
				continue
			}
			of := needs.suppliers[body.Supplier]
			if of == nil {
				if len(needs.suppliers) == maxSuppliers {
					continue
				}
				of = &supplierNeeds{}
				needs.suppliers[body.Supplier] = of
			}
			of.accounts = of.accounts || file.Kind == book.Accounts
			documents += of.add(&body)
		}
	}
	return needs, nil
}

// neededLine is the part of any line of a book that the server is asked about.
type neededLine struct {
	Supplier string `json:"import_supplier"`
	neededInstruction
	Instructions []neededInstruction `json:"payment_instructions"`
	Notes        []struct {
		Documents []struct {
			Path string `json:"document_path"`
		} `json:"document_paths"`
	} `json:"notes"`
	Statements []struct {
		Path string `json:"statement_path"`
	} `json:"statements"`
}

type neededInstruction struct {
	Vendor string `json:"vendor"`
}

// add adds what a line needs, and returns how many documents were added.
func (n *supplierNeeds) add(line *neededLine) int {
	for _, instruction := range append(line.Instructions, line.neededInstruction) {
		if vendor := instruction.Vendor; vendor != "" && len(n.vendors) < maxVendors && !slices.Contains(n.vendors, vendor) {
			n.vendors = append(n.vendors, vendor)
		}
	}
	before := len(n.documents)
	document := func(path string) {
		if path != "" && len(n.documents) < maxDocuments && !slices.Contains(n.documents, path) {
			n.documents = append(n.documents, path)
		}
	}
	for _, note := range line.Notes {
		for _, attached := range note.Documents {
			document(attached.Path)
		}
	}
	for _, statement := range line.Statements {
		document(statement.Path)
	}
	return len(n.documents) - before
}

// minimumSpace is how much room the journal and the report need in any case. Lines that fail are
// copied; a tenth of the book is room for a bad delivery.
const minimumSpace = 16 << 20

// checkSpace checks whether the journal and the report fit into the folder of the book.
func checkSpace(folder string, book int64) []string {
	needed := uint64(minimumSpace + book/10) //nolint:gosec // it is not negative
	free, _, known := app.DiskSpace(folder)
	if !known || free >= needed {
		return nil
	}
	return []string{fmt.Sprintf("the disk of %s has %s free, and the journal and the report need about %s; make room", folder,
		byteSize(free), byteSize(needed))}
}

// byteSize formats a size for people.
func byteSize[N int64 | uint64](size N) string {
	if size < 10<<20 {
		return fmt.Sprintf("%d KiB", (size+1023)>>10)
	}
	return fmt.Sprintf("%d MiB", size>>20)
}

// maxClockDifference is how far the clocks may be apart. The server refuses dates in its future.
const maxClockDifference = 5 * time.Minute

// checkSupplier asks whether a supplier exists and takes what the book has for it.
func checkSupplier(command *cobra.Command, server *client.Client, supplier string, needs bookNeeds) (problems []string) {
	of := needs.suppliers[supplier]
	asked := time.Now()
	text, err := server.SupplierOpenAPI(command.Context(), supplier, of.documents...)
	if refused, is := errors.AsType[*client.Error](err); is && refused.Status == http.StatusNotFound {
		return []string{fmt.Sprintf("there is no import supplier %s for this API key", supplier)}
	}
	answered := time.Now()
	var document struct {
		Vendors []string `json:"x-payment-vendors"`
		Facts   *struct {
			Status      string    `json:"status"`
			FileStore   bool      `json:"file_store_available"`
			Missing     []string  `json:"missing_documents"`
			BytesPerDay int64     `json:"bytes_per_day"`
			BytesLeft   int64     `json:"bytes_left_today"`
			ServerTime  time.Time `json:"server_time"`
		} `json:"x-import-supplier"`
	}
	if err != nil || json.Unmarshal(text, &document) != nil {
		return nil
	}
	problem := func(format string, values ...any) { problems = append(problems, fmt.Sprintf(format, values...)) }
	for _, vendor := range of.vendors {
		if document.Vendors != nil && !slices.Contains(document.Vendors, vendor) {
			has := "it has none"
			if len(document.Vendors) > 0 {
				has = "it has " + strings.Join(document.Vendors, ", ")
			}
			problem("supplier %s cannot use the payment vendor %s (%s)", supplier, vendor, has)
		}
	}
	facts := document.Facts
	if facts == nil {
		return problems
	}
	// A complete supplier still takes postings for its accounts.
	if facts.Status == "Paused" || facts.Status == "Complete" && of.accounts {
		problem("supplier %s is %s and takes no accounts; an operator can change that with: landfall supplier set %s --status Ongoing", supplier, facts.Status, supplier)
	}
	switch missing := len(facts.Missing); {
	case !facts.FileStore:
		problem("the server cannot reach the document store of supplier %s, and would refuse every line with a document; ask its operator to check the setting documents", supplier)
	case missing > 0 && missing == len(of.documents):
		problem("none of the first %d documents of supplier %s is in its document store, such as %s; check the paths, and the supplier's document root on the server",
			missing, supplier, facts.Missing[0])
	case missing > 0:
		printWarning(command, fmt.Sprintf("%d of the first %d documents of supplier %s are not in its document store, such as %s; their lines will fail",
			missing, len(of.documents), supplier, facts.Missing[0]))
	}
	if facts.BytesPerDay > 0 && needs.bytes > facts.BytesLeft {
		problem("the book has %s, and your organisation may send %s more today (its quota is %s a day); ask the operator for a larger quota, or send the book in parts",
			byteSize(needs.bytes), byteSize(facts.BytesLeft), byteSize(facts.BytesPerDay))
	}
	if ahead, behind := facts.ServerTime.Sub(answered), asked.Sub(facts.ServerTime); max(ahead, behind) > maxClockDifference {
		problem("the clock of the server and of this computer differ by %s (%s and %s); set the wrong one right",
			max(ahead, behind).Round(time.Second), formatTime(facts.ServerTime), formatTime(asked))
	}
	return problems
}

// longAgo is the end of a run that can never begin.
var longAgo = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// checkTeam asks whether the operations team exists. The run that it asks for is refused in any case,
// because its time is over; an unknown team is refused before that.
func checkTeam(ctx context.Context, server *client.Client, supplier, team string) []string {
	_, err := server.StartRun(ctx, client.RunPlan{Supplier: supplier, Team: team, DryRun: true, NotAfter: &longAgo})
	refused, is := errors.AsType[*client.Error](err)
	if !is {
		return nil
	}
	for _, violation := range refused.Violations {
		if violation.Attr == "operations_team_name" {
			return []string{fmt.Sprintf("there is no operations team %q", team)}
		}
	}
	return nil
}

// checkFields validates the first accounts. If none of them has only known fields, a pack is missing,
// or the file is not one of accounts.
func checkFields(ctx context.Context, server *client.Client, found *book.Book) []string {
	common := map[string]string{}
	count := 0
	for _, file := range found.Of(book.Accounts) {
		for line, err := range file.Lines() {
			if err != nil || line.TooLong || count == validatedAccounts {
				break
			}
			_, err := server.Validate(ctx, json.RawMessage(slices.Clone(line.Text)))
			refused, is := errors.AsType[*client.Error](err)
			if !is {
				return nil // it is valid, or the server did not answer
			}
			unknown := map[string]string{}
			for _, violation := range refused.Violations {
				if _, before := common[violation.Attr]; violation.Code == "unknown_field" && (before || count == 0) {
					unknown[violation.Attr] = violation.Detail
				}
			}
			common = unknown
			count++
		}
	}
	if count < validatedAccounts {
		return nil
	}
	var problems []string
	for attr := range common {
		problems = append(problems, fmt.Sprintf("the server does not know the attr %s; does the supplier lack a pack?", attr))
	}
	return problems
}

// validatedAccounts is how many accounts checkFields looks at: a single one may be wrong by itself.
const validatedAccounts = 3
