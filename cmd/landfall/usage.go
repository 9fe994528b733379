package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"landfall/internal/app"
	"landfall/internal/lib/spelling"
)

// checkArguments makes a check of arguments answer with the usage exit code, and with
// what would have been right.
func checkArguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if check(command, args) == nil {
			return nil
		}
		// What would have been right says more than how many were wrong.
		wanted := strings.TrimSuffix(command.UseLine(), " [flags]")
		return usageError{fmt.Errorf("want: %s (%s); see %s --help", wanted, countArguments(len(args)), command.CommandPath())}
	}
}

// countArguments says how many arguments came, as a person would.
func countArguments(args int) string {
	switch args {
	case 0:
		return "got no argument"
	case 1:
		return "got 1 argument"
	}
	return fmt.Sprintf("got %d arguments", args)
}

// onlyCommands refuses a word that is none of a group's commands.
func onlyCommands(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownCommand(command, args[0])
}

// unknownCommand guesses among the commands that are shown in the help.
func unknownCommand(command *cobra.Command, word string) error {
	var known []string
	// Hidden commands are not guessed: who does not know them did not mean them.
	for _, one := range command.Commands() {
		if one.IsAvailableCommand() {
			known = append(known, one.Name())
		}
	}
	return withSuggestion(fmt.Sprintf("unknown command %q", word), word, known, command)
}

// onlyTopics refuses to explain what is no command, instead of explaining
// everything.
func onlyTopics(help *cobra.Command, args []string) error {
	// Find gives the deepest command that it knows, and what is left over behind it.
	found, rest, _ := help.Root().Find(args) // what it found is what matters
	if len(rest) == 0 || !found.HasAvailableSubCommands() {
		return nil
	}
	return unknownCommand(found, rest[0])
}

// flagError blames the command when that is what was mistyped: its flags are
// then unknown too, but through no fault of theirs.
func flagError(command *cobra.Command, args []string, err error) error {
	// A group has hardly any flags of its own, so an unknown one most likely belongs to a command
	// that was mistyped.
	if command.HasAvailableSubCommands() {
		_, rest, _ := command.Root().Find(args) // the error is the one we are explaining
		for _, word := range rest {
			if !strings.HasPrefix(word, "-") {
				return unknownCommand(command, word)
			}
		}
	}
	// The flag package has a type for it, which only its landlord may name.
	var named interface {
		error
		GetSpecifiedName() string
	}
	if !errors.As(err, &named) {
		return usageError{plainFlagError(err)}
	}
	known := app.FlagNames(command.Flags())
	for i, name := range known {
		known[i] = "--" + name
	}
	return withSuggestion(err.Error(), "--"+named.GetSpecifiedName(), known, command)
}

// plainFlagError says of a flag's value what would have been one, in words that are not
// those of a library.
func plainFlagError(err error) error {
	number, is := errors.AsType[*strconv.NumError](err)
	if !is {
		return err
	}
	// Out of range is what is left: the number could be read and does not fit.
	wanted := "a whole number that is not as large"
	switch {
	case number.Func == "ParseBool":
		wanted = "true or false"
	case errors.Is(err, strconv.ErrSyntax):
		wanted = "a whole number"
	}
	// Behind this the library repeats itself in a parser's words; the first half is enough.
	complaint, _, _ := strings.Cut(err.Error(), " flag: ")
	return fmt.Errorf("%s: want %s", complaint, wanted)
}

// withSuggestion adds to a complaint what may have been meant, and where to look.
func withSuggestion(complaint, word string, known []string, command *cobra.Command) error {
	if hint := spelling.Hint(word, known); hint != "" {
		return usageError{fmt.Errorf("%s. %s See %s --help", complaint, hint, command.CommandPath())}
	}
	return usageError{fmt.Errorf("%s; see %s --help", complaint, command.CommandPath())}
}
