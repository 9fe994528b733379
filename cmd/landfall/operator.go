package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/console"
	"landfall/internal/service/auth"
	"landfall/internal/service/operate"
)

// operatorCommand groups the commands for people who sign in to the console. They choose their own
// passwords.
func operatorCommand() *cobra.Command {
	return commandGroup("operator", "Manage people who sign in to the console",
		operatorCreate(), operatorList(), operatorReset(), operatorRole(),
		operatorSet("disable", "Disable an operator and end all their sessions", "Disabled operator %q and ended all their sessions.",
			(*operate.Operator).DisableOperator),
		operatorSet("enable", "Allow a disabled operator to sign in again", "Operator %q can sign in again.", (*operate.Operator).EnableOperator))
}

// operatorCreate prints the link alone on standard output, so that a script can send it.
func operatorCreate() *cobra.Command {
	var role string
	command := onDatabase(&cobra.Command{
		Use: "create NAME", Short: "Create an operator, and print the link for choosing a password", Args: checkArguments(cobra.ExactArgs(1)),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		link, err := operator.CreateOperator(command.Context(), args[0], landfall.OperatorRole(role))
		if err != nil {
			return err
		}
		return printInvitation(command, args[0], link)
	}, "base-url")
	command.Flags().StringVar(&role, "role", string(landfall.ConsoleAdministrator), "what the operator can do: administrator, operator, support, auditor or none")
	completeFlag(command, "role", oneOf(roleNames()...))
	return command
}

func roleNames() []string {
	names := []string{string(landfall.NoRole)}
	for _, role := range landfall.OperatorRoles {
		names = append(names, string(role))
	}
	return names
}

// operatorRole changes a role, everywhere or at one supplier.
func operatorRole() *cobra.Command {
	var supplier string
	command := changeCommand("operator.role", &cobra.Command{
		Use: "role NAME ROLE", Short: "Change what an operator can do: administrator, operator, support, auditor or none",
		Long: "Change what an operator can do, everywhere or with --supplier at one supplier. The role \"none\" with --supplier takes away the " +
			"access to that supplier, and \"default\" removes its own role.",
		ValidArgsFunction: completeArguments(operatorNames, oneOf(append(roleNames(), "default")...)),
	}, "name role", func(operator *operate.Operator, ctx context.Context, args []string) error {
		role := landfall.OperatorRole(args[1])
		if args[1] == "default" && supplier != "" {
			role = ""
		}
		return operator.SetRoles(ctx, args[0], map[string]landfall.OperatorRole{supplier: role})
	}, "Operator %q now has the role %s.")
	command.Flags().StringVar(&supplier, "supplier", "", "change the role at this supplier only")
	completeFlag(command, "supplier", supplierCodes)
	return command
}

// operatorReset is for a lost password or second factor.
func operatorReset() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "reset NAME", Short: "Remove an operator's password and second factor, and print a new link", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(operatorNames),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		link, err := operator.ResetOperator(command.Context(), args[0])
		if err != nil {
			return err
		}
		return printInvitation(command, args[0], link)
	}, "base-url")
}

// printInvitation prints a link. Without a base-url only its path is known.
func printInvitation(command *cobra.Command, name string, link auth.Secret) error {
	// The settings were valid when the database was opened, so the new link cannot get lost here.
	settings, err := loadSettings(command)
	if err != nil {
		return err
	}
	address := settings.BaseURL + console.Root + "welcome/" + link.Reveal() + "/"
	// The explanation goes to standard error, so that standard output is only the link.
	if !jsonWanted(command) {
		fmt.Fprintf(command.ErrOrStderr(), "Operator %q can choose a password with this link, once and within 3 days:\n", name)
		if settings.BaseURL == "" {
			fmt.Fprintln(command.ErrOrStderr(), "(prepend the address of the service, or set --base-url)")
		}
	}
	return printDone(command, map[string]string{"name": name, "link": address}, "%s", address)
}

// operatorEntry is an operator in lists and JSON. The second factor itself is never shown.
type operatorEntry struct {
	Name         string  `json:"name" table:"NAME"`
	Role         string  `json:"role" table:"ROLE"`
	Suppliers    string  `json:"supplier_roles" table:"AT SUPPLIERS"`
	Disabled     bool    `json:"disabled" table:"DISABLED"`
	Invited      bool    `json:"invited" table:"INVITED"`
	SecondFactor bool    `json:"second_factor" table:"SECOND FACTOR"`
	CreatedAt    string  `json:"created_at" table:"CREATED"`
	SignedInAt   *string `json:"last_signed_in_at" table:"LAST SIGNED IN"`
}

// operatorList lists all operators, including disabled ones.
func operatorList() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "list", Short: "List all operators", Args: checkArguments(cobra.NoArgs),
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		found, err := operator.Operators(command.Context())
		if err != nil {
			return err
		}
		return printList(command, rowsOf(found, func(o landfall.Operator) operatorEntry {
			return operatorEntry{o.Name, string(o.Role), landfall.FormatSupplierRoles(o.SupplierRoles), o.Disabled, o.Invited(), o.TOTPSecret != "", formatTime(o.CreatedAt), timeOrNull(o.SignedInAt)}
		}))
	})
}

func operatorSet(verb, short, done string, change func(*operate.Operator, context.Context, string) error) *cobra.Command {
	return changeCommand("operator."+verb, &cobra.Command{
		Use: verb + " NAME", Short: short, ValidArgsFunction: completeArguments(operatorNames),
	}, "name", func(operator *operate.Operator, ctx context.Context, args []string) error {
		return change(operator, ctx, args[0])
	}, done)
}
