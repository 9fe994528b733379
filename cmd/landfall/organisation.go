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

// organisationCommand holds who may call the API at all. Which suppliers an
// organisation may use is said with supplier grant.
func organisationCommand() *cobra.Command {
	return commandGroup("organisation", "Organisations that call the API",
		organisationChange("create", "Make an organisation", "made", (*operate.Operator).CreateOrganisation),
		organisationChange("disable", "Shut an organisation out; its keys and tokens stop working", "disabled", (*operate.Operator).DisableOrganisation),
		organisationChange("enable", "Let a disabled organisation in again", "enabled", (*operate.Operator).EnableOrganisation),
		organisationSet(), organisationShow(), organisationList())
}

// quotaFlags are the quotas in the order people expect them.
var quotaFlags = []struct {
	name, usage string
	change      func(*operate.QuotaChange) **int64
	value       func(landfall.Quotas) int64
}{
	{"requests-per-second", "requests a second, of each server; 0 means no limit",
		func(c *operate.QuotaChange) **int64 { return &c.RequestsPerSecond }, func(q landfall.Quotas) int64 { return q.RequestsPerSecond }},
	{"bytes-per-day", "bytes of request bodies a day (UTC), over all servers; 0 means no limit",
		func(c *operate.QuotaChange) **int64 { return &c.BytesPerDay }, func(q landfall.Quotas) int64 { return q.BytesPerDay }},
	{"revisions-per-account", "stagings of one account with other content; 0 means no limit",
		func(c *operate.QuotaChange) **int64 { return &c.RevisionsPerAccount }, func(q landfall.Quotas) int64 { return q.RevisionsPerAccount }},
	{"tokens-per-minute", "service tokens a minute, of each server; 0 means no limit",
		func(c *operate.QuotaChange) **int64 { return &c.TokensPerMinute }, func(q landfall.Quotas) int64 { return q.TokensPerMinute }},
	{"concurrent-creations", "accounts being created at once, on each server; 0 means no limit",
		func(c *operate.QuotaChange) **int64 { return &c.ConcurrentCreations }, func(q landfall.Quotas) int64 { return q.ConcurrentCreations }},
}

// organisationSet changes only what is named. There is no way to name none: a command
// that does nothing would look as if it had worked.
func organisationSet() *cobra.Command {
	command := onDatabase(&cobra.Command{
		Use: "set NAME", Short: "Set what an organisation may take of the service", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(organisationNames),
		Example:           "  landfall organisation set Acme --requests-per-second 200 --bytes-per-day 2000000000",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		var change operate.QuotaChange
		given := false
		for _, quota := range quotaFlags {
			// Changed and not above zero: 0 is a wish as well, and means no limit.
			if command.Flags().Changed(quota.name) {
				number, _ := command.Flags().GetInt64(quota.name)
				*quota.change(&change), given = &number, true
			}
		}
		if !given {
			return usageError{errors.New("name at least one quota to set")}
		}
		if _, err := operator.SetQuotas(command.Context(), args[0], change); err != nil {
			return err
		}
		return printDone(command, map[string]string{"action": "organisation.set", "name": args[0]}, "Organisation %q set.", args[0])
	})
	for _, quota := range quotaFlags {
		command.Flags().Int64(quota.name, 0, quota.usage)
	}
	return command
}

// organisationShow puts the use of today beside the limit, since that is what a caller
// who was refused asks about.
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
		Use: "show NAME", Short: "Show an organisation, its quotas and what it has sent today", Args: checkArguments(cobra.ExactArgs(1)),
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
			// Names of flags become names of members, so that what is shown can be typed.
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

// organisationChange makes the three commands that take a name and say what was
// done to it.
func organisationChange(verb, short, done string, change func(*operate.Operator, context.Context, string) error) *cobra.Command {
	// A new name cannot be completed from the old ones.
	known := organisationNames
	if verb == "create" {
		known = noCompletion
	}
	return onDatabase(&cobra.Command{
		Use: verb + " NAME", Short: short, Args: checkArguments(cobra.ExactArgs(1)), ValidArgsFunction: completeArguments(known),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		if err := change(operator, command.Context(), args[0]); err != nil {
			return err
		}
		return printDone(command, map[string]string{"action": "organisation." + verb, "name": args[0]}, "Organisation %q %s.", args[0], done)
	})
}

// organisationList shows disabled ones too, marked as such.
func organisationList() *cobra.Command {
	type entry struct {
		Name      string `json:"name"`
		Disabled  bool   `json:"disabled"`
		CreatedAt string `json:"created_at"`
	}
	return onDatabase(&cobra.Command{
		Use: "list", Short: "List all organisations", Args: checkArguments(cobra.NoArgs),
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		organisations, err := operator.Organisations(command.Context())
		if err != nil {
			return err
		}
		entries, rows := []entry{}, [][]string{}
		for _, one := range organisations {
			entries = append(entries, entry{one.Name, one.Disabled, formatTime(one.CreatedAt)})
			rows = append(rows, []string{one.Name, yesNo(one.Disabled), formatTime(one.CreatedAt)})
		}
		return printData(command, entries, func(out io.Writer) { printTable(out, []string{"NAME", "DISABLED", "CREATED"}, rows) })
	})
}
