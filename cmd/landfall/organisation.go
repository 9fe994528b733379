package main

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

// organisationCommand groups the commands for organisations. 'supplier grant' decides which
// suppliers they can use.
func organisationCommand() *cobra.Command {
	return commandGroup("organisation", "Manage organisations that call the API",
		organisationChange("create", "Create an organisation", "Created", (*operate.Operator).CreateOrganisation),
		organisationChange("disable", "Disable an organisation; its keys and tokens stop working", "Disabled", (*operate.Operator).DisableOrganisation),
		organisationChange("enable", "Enable a disabled organisation", "Enabled", (*operate.Operator).EnableOrganisation),
		organisationSet(), organisationShow(), organisationList())
}

// quotaFlags are the quotas, in the order they are shown.
var quotaFlags = []struct {
	name, help string
	change     func(*operate.QuotaChange) **int64
	value      func(landfall.Quotas) int64
}{
	{"requests-per-second", "requests per second on each server; 0 means no limit",
		func(c *operate.QuotaChange) **int64 { return &c.RequestsPerSecond }, func(q landfall.Quotas) int64 { return q.RequestsPerSecond }},
	{"bytes-per-day", "bytes of request bodies per day (UTC) on all servers; 0 means no limit",
		func(c *operate.QuotaChange) **int64 { return &c.BytesPerDay }, func(q landfall.Quotas) int64 { return q.BytesPerDay }},
	{"revisions-per-account", "stagings of one account with different content; 0 means no limit",
		func(c *operate.QuotaChange) **int64 { return &c.RevisionsPerAccount }, func(q landfall.Quotas) int64 { return q.RevisionsPerAccount }},
	{"tokens-per-minute", "service tokens per minute on each server; 0 means no limit",
		func(c *operate.QuotaChange) **int64 { return &c.TokensPerMinute }, func(q landfall.Quotas) int64 { return q.TokensPerMinute }},
	{"concurrent-creations", "accounts being created at the same time on each server; 0 means no limit",
		func(c *operate.QuotaChange) **int64 { return &c.ConcurrentCreations }, func(q landfall.Quotas) int64 { return q.ConcurrentCreations }},
}

// organisationSet changes only the quotas that are given. At least one is required.
func organisationSet() *cobra.Command {
	command := onDatabase(&cobra.Command{
		Use: "set NAME", Short: "Set the quotas of an organisation", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(organisationNames),
		Example:           "  landfall organisation set Acme --requests-per-second 200 --bytes-per-day 2000000000",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		var change operate.QuotaChange
		changed := false
		for _, quota := range quotaFlags {
			// 0 is a value too and means no limit.
			if command.Flags().Changed(quota.name) {
				number, _ := command.Flags().GetInt64(quota.name)
				*quota.change(&change), changed = &number, true
			}
		}
		if !changed {
			return usageError{errors.New("set at least one quota")}
		}
		if _, err := operator.SetQuotas(command.Context(), args[0], change); err != nil {
			return err
		}
		return printDone(command, map[string]string{"action": "organisation.set", "name": args[0]}, "Updated the quotas of organisation %q.", args[0])
	})
	for _, quota := range quotaFlags {
		command.Flags().Int64(quota.name, 0, quota.help)
	}
	return command
}

// organisationShow prints today's usage next to the quotas.
func organisationShow() *cobra.Command {
	type entry struct {
		Name       string           `json:"name"`
		Disabled   bool             `json:"disabled"`
		CreatedAt  string           `json:"created_at"`
		Suppliers  []string         `json:"suppliers"`
		Quotas     map[string]int64 `json:"quotas"` // 0 means no limit
		BytesToday int64            `json:"bytes_today"`
	}
	return onDatabase(&cobra.Command{
		Use: "show NAME", Short: "Show an organisation, its quotas and today's usage", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(organisationNames),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		found, err := operator.ShowOrganisation(command.Context(), args[0])
		if err != nil {
			return err
		}
		shown := entry{found.Name, found.Disabled, formatTime(found.CreatedAt), append([]string{}, found.Suppliers...), map[string]int64{}, found.BytesToday}
		pairs := []string{"name", found.Name, "disabled", yesNo(found.Disabled), "created", shown.CreatedAt,
			"suppliers", strings.Join(found.Suppliers, ", ")}
		for _, quota := range quotaFlags {
			// Named like the flags.
			number := quota.value(found.Quotas)
			shown.Quotas[strings.ReplaceAll(quota.name, "-", "_")] = number
			text := "no limit"
			if number > 0 {
				text = strconv.FormatInt(number, 10)
			}
			pairs = append(pairs, strings.ReplaceAll(quota.name, "-", " "), text)
		}
		pairs = append(pairs, "bytes sent today", strconv.FormatInt(found.BytesToday, 10))
		return printData(command, shown, func(out io.Writer) { printFields(out, pairs...) })
	})
}

// organisationChange makes a command that creates or changes an organisation.
func organisationChange(verb, short, done string, change func(*operate.Operator, context.Context, string) error) *cobra.Command {
	completion := organisationNames
	if verb == "create" {
		completion = noCompletion
	}
	return changeCommand("organisation."+verb, &cobra.Command{
		Use: verb + " NAME", Short: short, ValidArgsFunction: completeArguments(completion),
	}, "name", func(operator *operate.Operator, ctx context.Context, args []string) error {
		return change(operator, ctx, args[0])
	}, done+" organisation %q.")
}

type organisationEntry struct {
	Name      string `json:"name" table:"NAME"`
	Disabled  bool   `json:"disabled" table:"DISABLED"`
	CreatedAt string `json:"created_at" table:"CREATED"`
}

// organisationList lists all organisations, including disabled ones.
func organisationList() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "list", Short: "List all organisations", Args: checkArguments(cobra.NoArgs),
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		found, err := operator.Organisations(command.Context())
		if err != nil {
			return err
		}
		return printList(command, rowsOf(found, func(o landfall.Organisation) organisationEntry {
			return organisationEntry{o.Name, o.Disabled, formatTime(o.CreatedAt)}
		}))
	})
}
