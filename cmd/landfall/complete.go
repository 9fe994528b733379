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

// vocabulary gives the words that may stand somewhere, and how a shell should
// go on after one.
type vocabulary func(command *cobra.Command, begun string) ([]string, cobra.ShellCompDirective)

// words completes the arguments of a command, the first with the first
// vocabulary and so on. No argument of ours is the name of a file.
func words(each ...vocabulary) cobra.CompletionFunc {
	return func(command *cobra.Command, arguments []string, begun string) ([]string, cobra.ShellCompDirective) {
		// Behind the last argument there is nothing to offer, and names of files would only
		// mislead.
		if len(arguments) >= len(each) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return begin(each[len(arguments)], command, begun)
	}
}

// completes gives a flag its vocabulary.
func completes(command *cobra.Command, flag string, known vocabulary) {
	err := command.RegisterFlagCompletionFunc(flag, func(command *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return begin(known, command, begun)
	})
	if err != nil {
		panic(err) // a flag of ours is misspelt here
	}
}

// begin keeps the words that go on as somebody began.
func begin(known vocabulary, command *cobra.Command, begun string) ([]string, cobra.ShellCompDirective) {
	all, directive := known(command, begun)
	var fitting []string
	for _, word := range all {
		if strings.HasPrefix(word, begun) {
			fitting = append(fitting, word)
		}
	}
	return fitting, directive | cobra.ShellCompDirectiveNoFileComp
}

// nothing is the vocabulary of what only the user can know.
func nothing(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// fixed is a vocabulary that is always the same.
func fixed(all ...string) vocabulary {
	return func(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveDefault
	}
}

// open is a vocabulary of beginnings: something has to follow each.
func open(all ...string) vocabulary {
	return func(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveNoSpace
	}
}

// severities completes RULE=severity in two steps, first the rule.
func severities(_ *cobra.Command, begun string) ([]string, cobra.ShellCompDirective) {
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
	suppliers = stored((*operate.Operator).Suppliers, func(s landfall.Supplier) (string, string) {
		return s.Code, s.Name + ", " + string(s.Status)
	})
	organisations = stored((*operate.Operator).Organisations, func(o landfall.Organisation) (string, string) { return o.Name, "" })
	operators     = stored((*operate.Operator).Operators, func(o landfall.Operator) (string, string) { return o.Name, string(o.Role) })
	vendors       = stored((*operate.Operator).Vendors, func(v operate.VendorFacts) (string, string) { return v.Code, v.Adapter })
	webhooks      = stored(func(o *operate.Operator, ctx context.Context) ([]landfall.Webhook, error) { return o.Webhooks(ctx, "") },
		func(w landfall.Webhook) (string, string) { return w.Name, w.Organisation + ", " + string(w.State) })
	keys = stored(func(o *operate.Operator, ctx context.Context) ([]landfall.APIKey, error) { return o.Keys(ctx, "") },
		func(k landfall.APIKey) (string, string) { return k.ID, k.Organisation + ", " + string(k.Role) })
)

// stored asks the database for a vocabulary, each word with a description. When
// it cannot be asked there is none: a Tab is no place for an error.
func stored[T any](list func(*operate.Operator, context.Context) ([]T, error), describe func(T) (word, about string)) vocabulary {
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
			all = append(all, cobra.CompletionWithDesc(clean(word), clean(about)))
		}
		return all, cobra.ShellCompDirectiveDefault
	}
}
