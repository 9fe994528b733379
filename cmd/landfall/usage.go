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

// checkArguments turns a failed check into a usage error that shows the right usage.
func checkArguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if check(command, args) == nil {
			return nil
		}
		wanted := strings.TrimSuffix(command.UseLine(), " [flags]")
		return usageError{fmt.Errorf("want: %s (%s); see %s --help", wanted, countArguments(len(args)), command.CommandPath())}
	}
}

// countArguments says how many arguments were given.
func countArguments(args int) string {
	switch args {
	case 0:
		return "got no argument"
	case 1:
		return "got 1 argument"
	}
	return fmt.Sprintf("got %d arguments", args)
}

// onlyCommands refuses an argument that is not a subcommand.
func onlyCommands(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownCommand(command, args[0])
}

// unknownCommand suggests a similar command.
func unknownCommand(command *cobra.Command, word string) error {
	var known []string
	// Hidden commands are not suggested.
	for _, one := range command.Commands() {
		if one.IsAvailableCommand() {
			known = append(known, one.Name())
		}
	}
	return withSuggestion(fmt.Sprintf("unknown command %q", word), word, known, command)
}

// onlyTopics refuses help for an unknown command.
func onlyTopics(help *cobra.Command, args []string) error {
	// Find returns the deepest known command and the remaining arguments.
	found, rest, _ := help.Root().Find(args) // the command found is what matters
	if len(rest) == 0 || !found.HasAvailableSubCommands() {
		return nil
	}
	return unknownCommand(found, rest[0])
}

// flagError blames the command if that was mistyped: its flags are then unknown too.
func flagError(command *cobra.Command, args []string, err error) error {
	// A group has hardly any flags, so an unknown flag most likely belongs to a mistyped command.
	if command.HasAvailableSubCommands() {
		_, rest, _ := command.Root().Find(args) // err is the error being explained
		for _, word := range rest {
			if !strings.HasPrefix(word, "-") {
				return unknownCommand(command, word)
			}
		}
	}
	// The flag package has a type for it, but only internal/app may import that package.
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

// plainFlagError rewrites the parser error of a flag's value.
func plainFlagError(err error) error {
	number, is := errors.AsType[*strconv.NumError](err)
	if !is {
		return err
	}
	// The number is valid but out of range.
	wanted := "a smaller whole number"
	switch {
	case number.Func == "ParseBool":
		wanted = "true or false"
	case errors.Is(err, strconv.ErrSyntax):
		wanted = "a whole number"
	}
	// The rest repeats the error in the parser's words.
	complaint, _, _ := strings.Cut(err.Error(), " flag: ")
	return fmt.Errorf("%s: want %s", complaint, wanted)
}

// withSuggestion adds a suggestion to an error message, and where to get help.
func withSuggestion(complaint, word string, known []string, command *cobra.Command) error {
	if hint := spelling.Hint(word, known); hint != "" {
		return usageError{fmt.Errorf("%s. %s See %s --help", complaint, hint, command.CommandPath())}
	}
	return usageError{fmt.Errorf("%s; see %s --help", complaint, command.CommandPath())}
}
