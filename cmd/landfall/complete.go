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

// completionTime is how long a shell may wait for the database behind a Tab.
// Whoever presses it wants help at once or none.
const completionTime = 2 * time.Second

// completer gives the words that may stand somewhere, and how a shell should
// go on after one.
type completer func(command *cobra.Command, begun string) ([]string, cobra.ShellCompDirective)

// completeArguments completes the arguments of a command, the first with the first
// vocabulary and so on. No argument of ours is the name of a file.
func completeArguments(each ...completer) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		// Behind the last argument there is nothing to offer, and names of files would only
		// mislead.
		if len(args) >= len(each) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return matchPrefix(each[len(args)], command, begun)
	}
}

// completeFlag gives a flag its vocabulary.
func completeFlag(command *cobra.Command, flag string, known completer) {
	err := command.RegisterFlagCompletionFunc(flag, func(command *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return matchPrefix(known, command, begun)
	})
	if err != nil {
		panic(err) // a flag of ours is misspelt here
	}
}

// matchPrefix keeps the words that go on as somebody began.
func matchPrefix(known completer, command *cobra.Command, begun string) ([]string, cobra.ShellCompDirective) {
	all, directive := known(command, begun)
	var fitting []string
	for _, word := range all {
		if strings.HasPrefix(word, begun) {
			fitting = append(fitting, word)
		}
	}
	return fitting, directive | cobra.ShellCompDirectiveNoFileComp
}

// noCompletion is the vocabulary of what only the user can know.
func noCompletion(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// oneOf is a vocabulary that is always the same.
func oneOf(all ...string) completer {
	return func(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveDefault
	}
}

// prefixes is a vocabulary of beginnings: something has to follow each.
func prefixes(all ...string) completer {
	return func(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveNoSpace
	}
}

// ruleSeverities completes RULE=severity in two steps, first the rule.
func ruleSeverities(_ *cobra.Command, begun string) ([]string, cobra.ShellCompDirective) {
	// In two steps, because every rule with every severity would be a list that nobody reads.
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

// The vocabularies that the database holds.
var (
	supplierCodes = fromDatabase((*operate.Operator).Suppliers, func(s landfall.Supplier) (string, string) {
		return s.Code, s.Name + ", " + string(s.Status)
	})
	organisationNames = fromDatabase((*operate.Operator).Organisations, func(o landfall.Organisation) (string, string) { return o.Name, "" })
	operatorNames     = fromDatabase((*operate.Operator).Operators, func(o landfall.Operator) (string, string) { return o.Name, string(o.Role) })
	vendorCodes       = fromDatabase((*operate.Operator).Vendors, func(v operate.VendorFacts) (string, string) { return v.Code, v.Adapter })
	webhookNames      = fromDatabase(func(o *operate.Operator, ctx context.Context) ([]landfall.Webhook, error) { return o.Webhooks(ctx, "") },
		func(w landfall.Webhook) (string, string) { return w.Name, w.Organisation + ", " + string(w.State) })
	keyIDs = fromDatabase(func(o *operate.Operator, ctx context.Context) ([]landfall.APIKey, error) { return o.Keys(ctx, "") },
		func(k landfall.APIKey) (string, string) { return k.ID, k.Organisation + ", " + string(k.Role) })
)

// fromDatabase asks the database for a vocabulary, each word with a description. When
// it cannot be asked there is none: a Tab is no place for an error.
func fromDatabase[T any](list func(*operate.Operator, context.Context) ([]T, error), describe func(T) (word, about string)) completer {
	return func(command *cobra.Command, _ string) ([]string, cobra.ShellCompDirective) {
		// A shell waits for the answer with the line frozen, so the database gets little time.
		ctx, cancel := context.WithTimeout(command.Context(), completionTime)
		defer cancel()
		// Not through loadSettings: there is nobody to tell a wrong setting to.
		settings, err := app.Load(command.Flags())
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		store, err := openStore(ctx, settings, 0)
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		defer func() { _ = store.Close() }() // it only read
		things, err := list(operate.New(store, operate.Options{}), ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var all []string
		for _, thing := range things {
			word, about := describe(thing)
			// Names come from the database and go to a terminal, where they must not play tricks.
			all = append(all, cobra.CompletionWithDesc(escapeText(word), escapeText(about)))
		}
		return all, cobra.ShellCompDirectiveDefault
	}
}
