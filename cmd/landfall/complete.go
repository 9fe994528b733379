package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/app"
	"landfall/internal/service/operate"
)

// completionTime limits how long Tab completion may wait for the database.
const completionTime = 2 * time.Second

// completer returns the candidates for an argument or a flag, and how the shell should continue.
type completer func(command *cobra.Command, begun string) ([]string, cobra.ShellCompDirective)

// completeArguments completes the arguments of a command, one completer per argument.
func completeArguments(each ...completer) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		// After the last argument there is nothing to offer, not even file names.
		if len(args) >= len(each) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return matchPrefix(each[len(args)], command, begun)
	}
}

func completeFlag(command *cobra.Command, flag string, known completer) {
	err := command.RegisterFlagCompletionFunc(flag, func(command *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return matchPrefix(known, command, begun)
	})
	if err != nil {
		panic(err) // programming error: the flag does not exist
	}
}

// matchPrefix keeps the candidates that start with what was typed.
func matchPrefix(known completer, command *cobra.Command, begun string) ([]string, cobra.ShellCompDirective) {
	all, directive := known(command, begun)
	var matching []string
	for _, word := range all {
		if strings.HasPrefix(word, begun) {
			matching = append(matching, word)
		}
	}
	return matching, directive | cobra.ShellCompDirectiveNoFileComp
}

// noCompletion is for values that only the user knows.
func noCompletion(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// oneOf completes a fixed list of words.
func oneOf(all ...string) completer {
	return func(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveDefault
	}
}

// prefixes completes a list of prefixes, without a space after them.
func prefixes(all ...string) completer {
	return func(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveNoSpace
	}
}

// ruleSeverities completes RULE=severity in two steps, because a list of all combinations would be
// too long.
func ruleSeverities(_ *cobra.Command, begun string) ([]string, cobra.ShellCompDirective) {
	if rule, _, named := strings.Cut(begun, "="); named {
		var all []string
		for _, severity := range []string{"error", "warning", "off", "default"} {
			all = append(all, rule+"="+severity)
		}
		return all, cobra.ShellCompDirectiveDefault
	}
	var all []string
	for _, rule := range contract.RuleBook() {
		all = append(all, rule.Code+"=")
	}
	return all, cobra.ShellCompDirectiveNoSpace
}

// Completers that read the database.
var (
	supplierCodes = fromDatabase((*operate.Operator).Suppliers, func(s landfall.Supplier) (string, string) {
		return s.Code, s.Name + ", " + string(s.Status)
	})
	organisationNames = fromDatabase((*operate.Operator).Organisations, func(o landfall.Organisation) (string, string) { return o.Name, "" })
	operatorNames     = fromDatabase((*operate.Operator).Operators, func(o landfall.Operator) (string, string) { return o.Name, string(o.Role) })
	packNames         = fromDatabase((*operate.Operator).Packs, func(p operate.PackFacts) (string, string) { return p.Name(), p.Description })
	vendorCodes       = fromDatabase((*operate.Operator).Vendors, func(v operate.VendorFacts) (string, string) { return v.Code, v.Adapter })
	webhookNames      = fromDatabase(func(o *operate.Operator, ctx context.Context) ([]landfall.Webhook, error) { return o.Webhooks(ctx, "") },
		func(w landfall.Webhook) (string, string) { return w.Name, w.Organisation + ", " + string(w.State) })
	targetCodes = fromDatabase(func(o *operate.Operator, ctx context.Context) ([]landfall.TargetFigures, error) {
		return o.Targets(ctx)
	},
		func(f landfall.TargetFigures) (string, string) { return f.Target.Code, string(f.Target.State) })
	keyIDs = fromDatabase(func(o *operate.Operator, ctx context.Context) ([]landfall.APIKey, error) { return o.Keys(ctx, "") },
		func(k landfall.APIKey) (string, string) { return k.ID, k.Organisation + ", " + string(k.Role) })
)

// fromDatabase completes with words from the database, each with a description. On any error it
// offers nothing.
func fromDatabase[T any](list func(*operate.Operator, context.Context) ([]T, error), describe func(T) (word, description string)) completer {
	return func(command *cobra.Command, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(command.Context(), completionTime)
		defer cancel()
		// Not loadSettings: completion cannot report a wrong setting.
		settings, err := app.Load(command.Flags())
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		store, err := openStore(ctx, settings, 0)
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		defer func() { _ = store.Close() }() // only read
		items, err := list(operate.New(store, operate.Options{}), ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var all []string
		for _, item := range items {
			word, description := describe(item)
			all = append(all, cobra.CompletionWithDesc(escapeText(word), escapeText(description)))
		}
		return all, cobra.ShellCompDirectiveDefault
	}
}
