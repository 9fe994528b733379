package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/console"
	"landfall/internal/service/auth"
	"landfall/internal/service/operate"
)

// operatorCommand holds who may sign in to the console. Passwords are none of
// its business: their owners choose them.
func operatorCommand() *cobra.Command {
	return commandGroup("operator", "People who sign in to the console",
		operatorCreate(), operatorList(), operatorReset(),
		operatorSet("disable", "Shut somebody out of the console at once", "Operator %q is shut out, and every session of his has ended.",
			(*operate.Operator).DisableOperator),
		operatorSet("enable", "Let somebody in again who was shut out", "Operator %q may sign in again.", (*operate.Operator).EnableOperator))
}

// operatorCreate prints the link alone on standard output, so that it can be
// sent on by a script.
func operatorCreate() *cobra.Command {
	var role string
	command := onDatabase(&cobra.Command{
		Use: "create NAME", Short: "Let somebody sign in, and print the link by which he chooses his password", Args: checkArguments(cobra.ExactArgs(1)),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		link, err := operator.CreateOperator(command.Context(), args[0], landfall.OperatorRole(role))
		if err != nil {
			return err
		}
		return printInvitation(command, args[0], link)
	}, "base-url")
	command.Flags().StringVar(&role, "role", string(landfall.ConsoleOperator), "what he may do: operator (reads and acts) or support (reads)")
	completeFlag(command, "role", oneOf(string(landfall.ConsoleOperator), string(landfall.ConsoleSupport)))
	return command
}

// operatorReset is for a lost password, and for a lost second factor.
func operatorReset() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "reset NAME", Short: "Forget the password and second factor of somebody, and print a new link", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(operatorNames),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		link, err := operator.ResetOperator(command.Context(), args[0])
		if err != nil {
			return err
		}
		return printInvitation(command, args[0], link)
	}, "base-url")
}

// printInvitation prints a link. Without a base-url only the path of it is known.
func printInvitation(command *cobra.Command, name string, link auth.Secret) error {
	// Read a second time only for the address: they were good when the database was opened, so a
	// link that is made already is not lost by them.
	settings, err := loadSettings(command)
	if err != nil {
		return err
	}
	address := settings.BaseURL + console.Root + "welcome/" + link.Reveal() + "/"
	// What to do with the link goes to standard error, so that standard output is the link and
	// nothing else.
	if !jsonWanted(command) {
		fmt.Fprintf(command.ErrOrStderr(), "Operator %q chooses a password with this link, once and within 3 days:\n", name)
		if settings.BaseURL == "" {
			fmt.Fprintln(command.ErrOrStderr(), "(put the address of the service before it, or set --base-url)")
		}
	}
	return printDone(command, map[string]string{"name": name, "link": address}, "%s", address)
}

// operatorList shows everybody, those shut out too.
func operatorList() *cobra.Command {
	type entry struct {
		Name         string  `json:"name"`
		Role         string  `json:"role"`
		Disabled     bool    `json:"disabled"`
		Invited      bool    `json:"invited"`
		SecondFactor bool    `json:"second_factor"`
		CreatedAt    string  `json:"created_at"`
		SignedInAt   *string `json:"last_signed_in_at"`
	}
	return onDatabase(&cobra.Command{
		Use: "list", Short: "List everybody who may sign in", Args: checkArguments(cobra.NoArgs),
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		found, err := operator.Operators(command.Context())
		if err != nil {
			return err
		}
		entries, rows := []entry{}, [][]string{}
		for _, one := range found {
			// Whether there is a second factor is told, and never what it is.
			entries = append(entries, entry{one.Name, string(one.Role), one.Disabled, one.Invited(), one.TOTPSecret != "", formatTime(one.CreatedAt), timeOrNull(one.SignedInAt)})
			rows = append(rows, []string{one.Name, string(one.Role), yesNo(one.Disabled), yesNo(one.Invited()), yesNo(one.TOTPSecret != ""),
				formatTime(one.CreatedAt), formatTime(one.SignedInAt)})
		}
		return printData(command, entries, func(out io.Writer) {
			printTable(out, []string{"NAME", "ROLE", "DISABLED", "INVITED", "SECOND FACTOR", "CREATED", "LAST SIGNED IN"}, rows)
		})
	})
}

// operatorSet is one of the two that need a name and nothing else.
func operatorSet(verb, short, sentence string, do func(*operate.Operator, context.Context, string) error) *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: verb + " NAME", Short: short, Args: checkArguments(cobra.ExactArgs(1)), ValidArgsFunction: completeArguments(operatorNames),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		if err := do(operator, command.Context(), args[0]); err != nil {
			return err
		}
		return printDone(command, map[string]string{"action": "operator." + verb, "name": args[0]}, sentence, args[0])
	})
}
