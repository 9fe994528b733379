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
	"landfall/internal/kit/book"
	"landfall/internal/kit/importer"
)

// preflight asks the server about what it would refuse for every account or at the very end: the
// suppliers, the team, the payment vendors and the fields of packs. What the server does not answer
// is left to the import, which retries.
func preflight(command *cobra.Command, server *client.Client, order importer.Options) error {
	// The import says what to do about a server that does not respond.
	if server.Alive(command.Context()) != nil {
		return nil
	}
	named, err := readNames(order.Book)
	if err != nil {
		return err
	}
	if order.Supplier != "" && named[order.Supplier] == nil {
		named[order.Supplier] = map[string]bool{}
	}
	var problems []string
	for _, supplier := range slices.Sorted(maps.Keys(named)) {
		found := checkSupplier(command.Context(), server, supplier, slices.Sorted(maps.Keys(named[supplier])))
		if len(found) == 0 && !order.StageOnly {
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

// maxSuppliers limits how many suppliers are asked about. A book has few.
const maxSuppliers = 20

// readNames returns the suppliers of a book, each with the payment vendors of its accounts. Only lines
// that mention a vendor are read, and the first line of each file.
func readNames(found *book.Book) (map[string]map[string]bool, error) {
	named := map[string]map[string]bool{}
	for _, file := range found.Files {
		first := true
		for line, err := range file.Lines() {
			if err != nil {
				return nil, err
			}
			if !first && !bytes.Contains(line.Text, []byte(`"vendor"`)) {
				continue
			}
			first = false
			var body struct {
				Supplier     string `json:"import_supplier"`
				Vendor       string `json:"vendor"`
				Instructions []struct {
					Vendor string `json:"vendor"`
				} `json:"payment_instructions"`
			}
			// A line that is not JSON is reported by the import.
			if line.TooLong || json.Unmarshal(line.Text, &body) != nil || body.Supplier == "" {
				continue
			}
			if named[body.Supplier] == nil {
				if len(named) == maxSuppliers {
					continue
				}
				named[body.Supplier] = map[string]bool{}
			}
			vendors := named[body.Supplier]
			for _, vendor := range append([]string{body.Vendor}, vendorsOf(body.Instructions)...) {
				if vendor != "" && len(vendors) < maxVendors {
					vendors[vendor] = true
				}
			}
		}
	}
	return named, nil
}

// maxVendors limits how many different vendors are remembered.
const maxVendors = 100

// vendorsOf returns the vendors of the instructions in an account.
func vendorsOf(instructions []struct {
	Vendor string `json:"vendor"`
},
) (list []string) {
	for _, one := range instructions {
		list = append(list, one.Vendor)
	}
	return list
}

// checkSupplier asks whether a supplier exists and may use the vendors.
func checkSupplier(ctx context.Context, server *client.Client, supplier string, vendors []string) (problems []string) {
	text, err := server.SupplierOpenAPI(ctx, supplier)
	if refused, is := errors.AsType[*client.Error](err); is && refused.Status == http.StatusNotFound {
		return []string{fmt.Sprintf("there is no import supplier %s for this API key", supplier)}
	}
	var document struct {
		Vendors []string `json:"x-payment-vendors"`
	}
	if err != nil || json.Unmarshal(text, &document) != nil || document.Vendors == nil {
		return nil
	}
	for _, vendor := range vendors {
		if !slices.Contains(document.Vendors, vendor) {
			has := "it has none"
			if len(document.Vendors) > 0 {
				has = "it has " + strings.Join(document.Vendors, ", ")
			}
			problems = append(problems, fmt.Sprintf("supplier %s cannot use the payment vendor %s (%s)", supplier, vendor, has))
		}
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
