package main

import (
	"cmp"
	"context"
	"fmt"
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

func supplierCommand() *cobra.Command {
	return commandGroup("supplier", "Manage import suppliers and their settings",
		supplierChange("create", "Create an import supplier", "Created", (*operate.Operator).CreateSupplier),
		supplierChange("set", "Change settings of an import supplier", "Updated", (*operate.Operator).SetSupplier),
		supplierShow(), supplierList(),
		supplierGrant("grant", "Give an organisation access to an import supplier", "Granted supplier %s to %q.", (*operate.Operator).Grant),
		supplierGrant("revoke", "Remove an organisation's access to an import supplier", "Revoked supplier %s from %q.", (*operate.Operator).Revoke))
}

// supplierVerb is the signature of create and set.
type supplierVerb func(*operate.Operator, context.Context, string, operate.SupplierChange) (landfall.Supplier, error)

// supplierChange makes the two commands that take all settings of a supplier. The help shows the
// defaults, but the flags have none: an untouched flag must not change anything.
func supplierChange(verb, short, done string, change supplierVerb) *cobra.Command {
	var rules []string
	completion := supplierCodes
	if verb == "create" {
		completion = noCompletion
	}
	command := onDatabase(&cobra.Command{
		Use: verb + " CODE", Short: short, Args: checkArguments(cobra.ExactArgs(1)), ValidArgsFunction: completeArguments(completion),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// Parsed before the database is changed.
		wanted, err := readSupplierChange(command, rules)
		if err != nil {
			return err
		}
		supplier, err := change(operator, command.Context(), args[0], wanted)
		if err != nil {
			return err
		}
		// Warn only when the check is being switched on.
		if wanted.VerifyDocuments != nil && supplier.VerifyDocuments {
			warnIfNoDocumentStore(command)
		}
		return printDone(command, newSupplierEntry(supplier), "%s supplier %s; its status is %s.", done, supplier.Code, supplier.Status)
	})
	flags := command.Flags()
	flags.String("name", "", "display name")
	flags.String("status", "", "Ongoing, Paused or Complete")
	flags.String("document-root", "", "prefix of document paths")
	flags.String("currency", "", "ISO 4217 code (default GBP)")
	flags.String("region", "", "ISO 3166 code, for phone numbers and postcodes (default GB)")
	flags.String("time-zone", "", "time zone that decides which day it is (default Europe/London)")
	flags.String("statement-amounts", "", "unit of gross_amount of historical statements: major (pounds) or minor (pence) (default major)")
	flags.Int("concurrency-limit", 0, "accounts created at the same time; 0 means no limit")
	flags.String("undo-window", "", "how long after its creation an account can be undone, such as 72h or 14d; 0 means never (default 72h)")
	flags.String("keep-staged", "", "how long staged documents are kept that no account was created from, such as 90d; 0 means forever (default)")
	flags.String("keep-failures", "", "how long the texts of failures are kept, such as 90d; 0 means forever (default)")
	flags.String("keep-mails", "", "how long the recipients of settled mails are kept, such as 90d; 0 means forever (default)")
	flags.String("keep-events", "", "how long events are kept after every webhook has received them, such as 90d; 0 means forever (default)")
	flags.String("keep-runs", "", "how long the accounts and failures of a run are kept after it has ended; its totals stay; 0 means forever (default 90d)")
	flags.String("mail-delay", "", "how long after the creation of an account its e-mail is sent, such as 3d, so that notes and payments come first; at least the server's mail-delay (default 0)")
	flags.Bool("verify-documents", false, "check in the document store whether documents exist")
	flags.Bool("send-customer-emails", false, "send customers an e-mail when their account has been created")
	flags.StringArray("pack", nil, "NAME@VERSION of a pack of fields that accounts may have, or none; can be repeated; replaces the present ones")
	completeFlag(command, "pack", packNames)
	flags.String("target", "", "code of the target that created accounts are delivered to, or none (default none)")
	completeFlag(command, "target", targetCodes)
	flags.StringArrayVar(&rules, "rule", nil, "RULE=error, warning, off or default; can be repeated")
	completeFlag(command, "status", oneOf(string(landfall.Ongoing), string(landfall.Paused), string(landfall.Complete)))
	completeFlag(command, "rule", ruleSeverities)
	for _, name := range []string{"name", "document-root", "currency", "statement-amounts", "region", "time-zone", "concurrency-limit", "undo-window", "keep-staged", "keep-failures", "keep-mails",
		"keep-events", "keep-runs", "mail-delay"} {
		completeFlag(command, name, noCompletion)
	}
	return command
}

// warnIfNoDocumentStore warns if documents are to be verified but no document store is configured
// here. The server may have one.
func warnIfNoDocumentStore(command *cobra.Command) {
	if settings, err := loadSettings(command); err == nil && settings.Documents == "" {
		printWarning(command, "no document store is configured here (setting documents); "+
			"a server without one answers 503 to every request with documents of this supplier")
	}
}

// readSupplierChange returns only the settings whose flags were given.
func readSupplierChange(command *cobra.Command, rules []string) (operate.SupplierChange, error) {
	// An empty flag counts too: --document-root "" removes it.
	flags := command.Flags()
	text := func(name string) *string {
		if !flags.Changed(name) {
			return nil
		}
		value, _ := flags.GetString(name)
		return &value
	}
	toggle := func(name string) *bool {
		if !flags.Changed(name) {
			return nil
		}
		value, _ := flags.GetBool(name)
		return &value
	}
	change := operate.SupplierChange{
		Name: text("name"), DocumentRoot: text("document-root"), Currency: text("currency"),
		Region: text("region"), TimeZone: text("time-zone"),
		VerifyDocuments: toggle("verify-documents"), SendCustomerEmails: toggle("send-customer-emails"),
	}
	// The operator checks the value.
	if status := text("status"); status != nil {
		change.Status = (*landfall.SupplierStatus)(status)
	}
	change.StatementAmounts = (*landfall.AmountUnit)(text("statement-amounts"))
	if code := text("target"); code != nil {
		if *code == "none" {
			*code = ""
		}
		change.Target = code
	}
	if flags.Changed("pack") {
		packs, _ := flags.GetStringArray("pack")
		change.SetPacks(packs)
	}
	if flags.Changed("concurrency-limit") {
		limit, _ := flags.GetInt("concurrency-limit")
		change.ConcurrencyLimit = &limit
	}
	for flag, into := range map[string]**time.Duration{
		"undo-window": &change.UndoWindow, "keep-staged": &change.KeepStaged,
		"keep-failures": &change.KeepFailures, "keep-mails": &change.KeepMails, "keep-events": &change.KeepEvents, "keep-runs": &change.KeepRuns, "mail-delay": &change.MailDelay,
	} {
		if value := text(flag); value != nil {
			parsed, err := parseDurationFlag(flag, cmp.Or(*value, "?")) // empty is not a duration here
			if err != nil {
				return change, err
			}
			*into = &parsed
		}
	}
	for _, rule := range rules {
		if err := change.SetRule(rule); err != nil {
			return change, usageError{fmt.Errorf("--rule: %w", err)}
		}
	}
	return change, nil
}

// supplierGrant makes the commands that grant and revoke access to a supplier.
func supplierGrant(verb, short, done string, change func(*operate.Operator, context.Context, string, string) error) *cobra.Command {
	return changeCommand("supplier."+verb, &cobra.Command{
		Use: verb + " CODE ORGANISATION", Short: short, ValidArgsFunction: completeArguments(supplierCodes, organisationNames),
	}, "code organisation", func(operator *operate.Operator, ctx context.Context, args []string) error {
		return change(operator, ctx, args[0], args[1])
	}, done)
}

type supplierEntry struct {
	Code               string                       `json:"code" table:"CODE"`
	Status             landfall.SupplierStatus      `json:"status" table:"STATUS"`
	DocumentRoot       string                       `json:"document_root"`
	Currency           string                       `json:"currency" table:"CURRENCY"`
	StatementAmounts   string                       `json:"statement_amounts"`
	Region             string                       `json:"region" table:"REGION"`
	TimeZone           string                       `json:"time_zone" table:"TIME ZONE"`
	Name               string                       `json:"name" table:"NAME"`
	ConcurrencyLimit   int                          `json:"concurrency_limit"`
	UndoWindow         string                       `json:"undo_window"`
	KeepStaged         string                       `json:"keep_staged"`
	KeepFailures       string                       `json:"keep_failures"`
	KeepMails          string                       `json:"keep_mails"`
	KeepEvents         string                       `json:"keep_events"`
	KeepRuns           string                       `json:"keep_runs"`
	MailDelay          string                       `json:"mail_delay"`
	VerifyDocuments    bool                         `json:"verify_documents"`
	SendCustomerEmails bool                         `json:"send_customer_emails"`
	Packs              []string                     `json:"packs"`
	Target             string                       `json:"target,omitempty"`
	Rules              map[string]landfall.Severity `json:"rules"`
	CreatedAt          *string                      `json:"created_at,omitempty"`
	Grantees           []string                     `json:"organisations,omitempty"` // only in show
}

func newSupplierEntry(supplier landfall.Supplier) supplierEntry {
	return supplierEntry{
		Code: supplier.Code, Name: supplier.Name, Status: supplier.Status, DocumentRoot: supplier.DocumentRoot,
		Currency: supplier.Currency, StatementAmounts: string(supplier.StatementAmounts), Region: supplier.Region, TimeZone: supplier.TimeZone,
		ConcurrencyLimit: supplier.ConcurrencyLimit, UndoWindow: formatDuration(supplier.UndoWindow), VerifyDocuments: supplier.VerifyDocuments,
		KeepStaged: formatRetention(supplier.Retention.Staged), KeepFailures: formatRetention(supplier.Retention.Failures), KeepMails: formatRetention(supplier.Retention.Mails),
		KeepEvents: formatRetention(supplier.Retention.Events), KeepRuns: formatRetention(supplier.Retention.Runs), MailDelay: formatDuration(supplier.MailDelay),
		SendCustomerEmails: supplier.SendCustomerEmails, Packs: append([]string{}, supplier.Packs...), Target: supplier.Target, Rules: supplier.Severities, CreatedAt: timeOrNull(supplier.CreatedAt),
	}
}

// formatDuration formats a duration as it can be typed, in whole hours where possible.
func formatDuration(duration time.Duration) string {
	if hours := duration.Truncate(time.Hour); hours == duration {
		return strconv.Itoa(int(hours.Hours())) + "h"
	}
	return duration.String()
}

// formatRetention formats how long something is kept.
func formatRetention(duration time.Duration) string {
	if duration == 0 {
		return "forever"
	}
	return formatDuration(duration)
}

// supplierShow also prints which organisations have access to the supplier.
func supplierShow() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "show CODE", Short: "Show an import supplier", Args: checkArguments(cobra.ExactArgs(1)), ValidArgsFunction: completeArguments(supplierCodes),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		found, err := operator.ShowSupplier(command.Context(), args[0])
		if err != nil {
			return err
		}
		entry := newSupplierEntry(found.Supplier)
		entry.Grantees = found.Grantees
		return printData(command, entry, func(out io.Writer) { printSupplier(out, entry) })
	})
}

// printSupplier prints one setting per line.
func printSupplier(out io.Writer, entry supplierEntry) {
	limit := "none"
	if entry.ConcurrencyLimit > 0 {
		limit = strconv.Itoa(entry.ConcurrencyLimit)
	}
	printFields(out,
		"code", entry.Code, "name", entry.Name, "status", string(entry.Status),
		"document root", entry.DocumentRoot, "currency", entry.Currency, "amounts of statements", entry.StatementAmounts+" units", "region", entry.Region,
		"time zone", entry.TimeZone, "concurrency limit", limit, "undo window", entry.UndoWindow,
		"keep staged documents", entry.KeepStaged, "keep texts of failures", entry.KeepFailures, "keep recipients of mails", entry.KeepMails,
		"keep events", entry.KeepEvents, "keep accounts of runs", entry.KeepRuns, "delay of e-mails", entry.MailDelay,
		"verify documents", yesNo(entry.VerifyDocuments), "send customer e-mails", yesNo(entry.SendCustomerEmails),
		"packs", strings.Join(entry.Packs, " "), "target", entry.Target, "created", formatCell(entry.CreatedAt), "organisations", strings.Join(entry.Grantees, ", "))
	// Only severities that differ from the default are stored.
	for _, code := range slices.Sorted(maps.Keys(entry.Rules)) {
		printFields(out, "rule "+code, string(entry.Rules[code]))
	}
}

func supplierList() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "list", Short: "List all import suppliers", Args: checkArguments(cobra.NoArgs),
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		found, err := operator.Suppliers(command.Context())
		if err != nil {
			return err
		}
		return printList(command, rowsOf(found, newSupplierEntry))
	})
}
