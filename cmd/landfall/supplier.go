package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

// supplierCommand holds what an operator decides about import suppliers.
func supplierCommand() *cobra.Command {
	return commandGroup("supplier", "Import suppliers and their settings",
		supplierChange("create", "Make an import supplier", "made", (*operate.Operator).CreateSupplier),
		supplierChange("set", "Change settings of an import supplier", "set", (*operate.Operator).SetSupplier),
		supplierShow(), supplierList(),
		supplierGrant("grant", "Let an organisation use an import supplier", "granted to", (*operate.Operator).Grant),
		supplierGrant("revoke", "Take an import supplier away from an organisation", "revoked from", (*operate.Operator).Revoke))
}

// supplierVerb is what create and set have in common.
type supplierVerb func(*operate.Operator, context.Context, string, operate.SupplierChange) (landfall.Supplier, error)

// supplierChange makes the two commands that take all settings of a supplier.
// Defaults are shown in the help but belong to the dictionary, not to the flags:
// an untouched flag must not change anything.
func supplierChange(verb, short, done string, change supplierVerb) *cobra.Command {
	var rules []string
	// A new code cannot be completed from the old ones.
	known := supplierCodes
	if verb == "create" {
		known = noCompletion
	}
	command := onDatabase(&cobra.Command{
		Use: verb + " CODE", Short: short, Args: checkArguments(cobra.ExactArgs(1)), ValidArgsFunction: completeArguments(known),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// What was typed is read before the database is changed, so that a slip changes nothing.
		wanted, err := readSupplierChange(command, rules)
		if err != nil {
			return err
		}
		supplier, err := change(operator, command.Context(), args[0], wanted)
		if err != nil {
			return err
		}
		// Only who switches the check on is warned; it would be noise later.
		if wanted.VerifyDocuments != nil && supplier.VerifyDocuments {
			warnIfNoDocumentStore(command)
		}
		return printDone(command, newSupplierEntry(supplier), "Supplier %s %s; it is %s.", supplier.Code, done, supplier.Status)
	})
	flags := command.Flags()
	flags.String("name", "", "name for people")
	flags.String("status", "", "Ongoing, Paused or Complete")
	flags.String("document-root", "", "where document paths start")
	flags.String("currency", "", "ISO 4217 code (default GBP)")
	flags.String("region", "", "ISO 3166 code, for phone numbers and postcodes (default GB)")
	flags.String("time-zone", "", "zone that says what day it is (default Europe/London)")
	flags.Int("concurrency-limit", 0, "accounts created at the same time; 0 means no limit")
	flags.String("undo-window", "", "how long after its creation an account can be taken back, such as 72h or 14d; 0 means never (default 72h)")
	flags.String("keep-staged", "", "how long staged documents are kept after the account was created, or else after the last staging, such as 90d; 0 means for ever (default)")
	flags.String("keep-failures", "", "how long the words of failures are kept, such as 90d; 0 means for ever (default)")
	flags.String("keep-mails", "", "how long it is known whom a settled mail went to, such as 90d; 0 means for ever (default)")
	flags.String("keep-events", "", "how long events are kept once every webhook has received them, such as 90d; 0 means for ever (default)")
	flags.Bool("verify-documents", false, "ask the object store whether documents exist")
	flags.Bool("send-customer-emails", false, "send customers an e-mail when they have moved")
	flags.StringArrayVar(&rules, "rule", nil, "RULE=error, warning, off or default; may be given several times")
	completeFlag(command, "status", oneOf(string(landfall.Ongoing), string(landfall.Paused), string(landfall.Complete)))
	completeFlag(command, "rule", ruleSeverities)
	for _, plain := range []string{"name", "document-root", "currency", "region", "time-zone", "concurrency-limit", "undo-window", "keep-staged", "keep-failures", "keep-mails",
		"keep-events"} {
		completeFlag(command, plain, noCompletion)
	}
	return command
}

// warnIfNoDocumentStore speaks up when documents are to be verified and nothing here says
// where they are. The server may know better: it has its own settings.
func warnIfNoDocumentStore(command *cobra.Command) {
	if settings, err := loadSettings(command); err == nil && settings.Documents == "" {
		printWarning(command, "no document store is configured here (setting documents); "+
			"a server without one answers 503 to every request with documents of this supplier")
	}
}

// readSupplierChange takes only what was typed: everything else stays as it is.
func readSupplierChange(command *cobra.Command, rules []string) (operate.SupplierChange, error) {
	// A flag that was typed empty is a wish too: --document-root "" takes it away.
	flags := command.Flags()
	text := func(name string) *string {
		if !flags.Changed(name) {
			return nil
		}
		given, _ := flags.GetString(name)
		return &given
	}
	toggle := func(name string) *bool {
		if !flags.Changed(name) {
			return nil
		}
		given, _ := flags.GetBool(name)
		return &given
	}
	change := operate.SupplierChange{
		Name: text("name"), DocumentRoot: text("document-root"), Currency: text("currency"),
		Region: text("region"), TimeZone: text("time-zone"),
		VerifyDocuments: toggle("verify-documents"), SendCustomerEmails: toggle("send-customer-emails"),
		Severities: map[string]landfall.Severity{},
	}
	// Whether such a status exists is for the verb to say, with the others.
	if status := text("status"); status != nil {
		change.Status = (*landfall.SupplierStatus)(status)
	}
	if flags.Changed("concurrency-limit") {
		limit, _ := flags.GetInt("concurrency-limit")
		change.ConcurrencyLimit = &limit
	}
	// All five are read alike, so that 14d means the same whichever of them it was typed for.
	for flag, into := range map[string]**time.Duration{
		"undo-window": &change.UndoWindow, "keep-staged": &change.KeepStaged,
		"keep-failures": &change.KeepFailures, "keep-mails": &change.KeepMails, "keep-events": &change.KeepEvents,
	} {
		if given := text(flag); given != nil {
			read, err := parseDurationFlag(flag, cmp.Or(*given, "?")) // nothing is no length
			if err != nil {
				return change, err
			}
			*into = &read
		}
	}
	for _, rule := range rules {
		code, severity, ok := strings.Cut(rule, "=")
		if !ok || severity == "" {
			return change, usageError{errors.New("--rule: want RULE=error, warning, off or default")}
		}
		// For people "default" is a word; for the verb it is none at all.
		if severity == "default" {
			severity = ""
		}
		change.Severities[code] = landfall.Severity(severity)
	}
	return change, nil
}

// supplierGrant makes the pair that opens and closes a supplier to an
// organisation.
func supplierGrant(verb, short, done string, change func(*operate.Operator, context.Context, string, string) error) *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: verb + " CODE ORGANISATION", Short: short, Args: checkArguments(cobra.ExactArgs(2)),
		ValidArgsFunction: completeArguments(supplierCodes, organisationNames),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// Whether both names exist is for the verb to say, which knows them.
		if err := change(operator, command.Context(), args[0], args[1]); err != nil {
			return err
		}
		return printDone(command, map[string]string{"action": "supplier." + verb, "code": args[0], "organisation": args[1]},
			"Supplier %s %s %q.", args[0], done, args[1])
	})
}

// supplierEntry is a supplier for machines.
type supplierEntry struct {
	Code               string                       `json:"code"`
	Name               string                       `json:"name"`
	Status             landfall.SupplierStatus      `json:"status"`
	DocumentRoot       string                       `json:"document_root"`
	Currency           string                       `json:"currency"`
	Region             string                       `json:"region"`
	TimeZone           string                       `json:"time_zone"`
	ConcurrencyLimit   int                          `json:"concurrency_limit"`
	UndoWindow         string                       `json:"undo_window"`
	KeepStaged         string                       `json:"keep_staged"`
	KeepFailures       string                       `json:"keep_failures"`
	KeepMails          string                       `json:"keep_mails"`
	KeepEvents         string                       `json:"keep_events"`
	VerifyDocuments    bool                         `json:"verify_documents"`
	SendCustomerEmails bool                         `json:"send_customer_emails"`
	Rules              map[string]landfall.Severity `json:"rules"`
	CreatedAt          *string                      `json:"created_at,omitempty"`
	Grantees           []string                     `json:"organisations,omitempty"`
}

// newSupplierEntry writes a supplier as every command shows it.
func newSupplierEntry(supplier landfall.Supplier) supplierEntry {
	return supplierEntry{
		Code: supplier.Code, Name: supplier.Name, Status: supplier.Status, DocumentRoot: supplier.DocumentRoot,
		Currency: supplier.Currency, Region: supplier.Region, TimeZone: supplier.TimeZone,
		ConcurrencyLimit: supplier.ConcurrencyLimit, UndoWindow: formatDuration(supplier.UndoWindow), VerifyDocuments: supplier.VerifyDocuments,
		KeepStaged: formatRetention(supplier.Retention.Staged), KeepFailures: formatRetention(supplier.Retention.Failures), KeepMails: formatRetention(supplier.Retention.Mails),
		KeepEvents:         formatRetention(supplier.Retention.Events),
		SendCustomerEmails: supplier.SendCustomerEmails, Rules: supplier.Severities, CreatedAt: timeOrNull(supplier.CreatedAt),
	}
}

// formatDuration writes a length of time as it may be typed: whole hours where it has no
// less.
func formatDuration(length time.Duration) string {
	if hours := length.Truncate(time.Hour); hours == length {
		return strconv.Itoa(int(hours.Hours())) + "h"
	}
	return length.String()
}

// formatRetention writes for how long something is kept.
func formatRetention(length time.Duration) string {
	if length == 0 {
		return "forever"
	}
	return formatDuration(length)
}

// supplierShow adds to the settings who may use the supplier.
func supplierShow() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "show CODE", Short: "Show an import supplier", Args: checkArguments(cobra.ExactArgs(1)), ValidArgsFunction: completeArguments(supplierCodes),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		found, err := operator.ShowSupplier(command.Context(), args[0])
		if err != nil {
			return err
		}
		// Those who may use it are added here alone: lists are about settings.
		entry := newSupplierEntry(found.Supplier)
		entry.Grantees = found.Grantees
		return printData(command, entry, func(out io.Writer) { printSupplier(out, entry) })
	})
}

// printSupplier writes a setting a line; rules come last, since there may be many.
func printSupplier(out io.Writer, entry supplierEntry) {
	// For machines 0 means no limit; for people that has to be said.
	limit, created := "none", ""
	if entry.CreatedAt != nil {
		created = *entry.CreatedAt
	}
	if entry.ConcurrencyLimit > 0 {
		limit = strconv.Itoa(entry.ConcurrencyLimit)
	}
	printFields(out,
		"code", entry.Code, "name", entry.Name, "status", string(entry.Status),
		"document root", entry.DocumentRoot, "currency", entry.Currency, "region", entry.Region,
		"time zone", entry.TimeZone, "concurrency limit", limit, "undo window", entry.UndoWindow,
		"keep staged documents", entry.KeepStaged, "keep words of failures", entry.KeepFailures, "keep addresses of mails", entry.KeepMails,
		"keep events", entry.KeepEvents,
		"verify documents", yesNo(entry.VerifyDocuments), "send customer e-mails", yesNo(entry.SendCustomerEmails),
		"created", created, "organisations", strings.Join(entry.Grantees, ", "))
	// Only severities that differ from the rule book are kept, and so shown.
	for _, code := range slices.Sorted(maps.Keys(entry.Rules)) {
		printFields(out, "rule "+code, string(entry.Rules[code]))
	}
}

// supplierList has a line for each; names are last because they have no limit.
func supplierList() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "list", Short: "List all import suppliers", Args: checkArguments(cobra.NoArgs),
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		suppliers, err := operator.Suppliers(command.Context())
		if err != nil {
			return err
		}
		entries, rows := []supplierEntry{}, [][]string{}
		for _, supplier := range suppliers {
			entries = append(entries, newSupplierEntry(supplier))
			rows = append(rows, []string{supplier.Code, string(supplier.Status), supplier.Currency, supplier.Region, supplier.TimeZone, supplier.Name})
		}
		return printData(command, entries, func(out io.Writer) {
			printTable(out, []string{"CODE", "STATUS", "CURRENCY", "REGION", "ZONE", "NAME"}, rows)
		})
	})
}
